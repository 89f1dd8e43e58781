"""Cuts a text into items, each spoken on its own: the host's `how_to_cut` choices.

Nothing is lost that can be spoken: a piece without a word joins its neighbour, and a line's end inside an item stays. A
mark between two digits (3.14, 10:30, 1,000) ends nothing.
"""

import re
from collections.abc import Callable, Iterable

FEWEST_CHARACTERS = 5
"""A shorter item joins the next one: too few phonemes for the decoder to find its way."""
MOST_CHARACTERS = 510
"""What the Chinese BERT reads at once."""

_SENTENCE_MARKS = "，。？！,.?!~:：—…"
_ALL_MARKS = ",.;?!、，。？！；：…"
_CLOSERS = "」』）)】》〉”’\"'"
_GROUP_SENTENCES = 4
_GROUP_CHARACTERS = 50


def _ends(marks: str) -> re.Pattern[str]:
    """A run of marks with the closing quotes behind it, unless it is one mark between two digits."""
    some = f"[{re.escape(marks)}]"
    return re.compile(rf"(?!(?<=\d){some}\d){some}+[{re.escape(_CLOSERS)}]*")


_SENTENCE_END = _ends(_SENTENCE_MARKS)
_ANY_END = _ends(_ALL_MARKS)
_CHINESE_END = _ends("。")
_ENGLISH_END = _ends(".")


def _after(text: str, end: re.Pattern[str]) -> list[str]:
    pieces: list[str] = []
    begin = 0
    for found in end.finditer(text):
        pieces.append(text[begin : found.end()])
        begin = found.end()
    return [*pieces, text[begin:]] if begin < len(text) else pieces


def _by_four(text: str) -> list[str]:
    sentences = _after(text, _SENTENCE_END)
    return ["".join(sentences[at : at + _GROUP_SENTENCES]) for at in range(0, len(sentences), _GROUP_SENTENCES)]


def _by_fifty(text: str) -> list[str]:
    pieces = [""]
    for sentence in _after(text, _SENTENCE_END):
        if len(pieces[-1]) > _GROUP_CHARACTERS:
            pieces.append("")
        pieces[-1] += sentence
    if len(pieces) > 1 and len(pieces[-1]) < _GROUP_CHARACTERS:
        last = pieces.pop()
        pieces[-1] += last
    return pieces


_CUTS: dict[str, Callable[[str], list[str]]] = {
    "不切": lambda line: [line],
    "凑四句一切": _by_four,
    "凑50字一切": _by_fifty,
    "按中文句号。切": lambda line: _after(line, _CHINESE_END),
    "按英文句号.切": lambda line: _after(line, _ENGLISH_END),
    "按标点符号切": lambda line: _after(line, _ANY_END),
}


def split_text(text: str, cut: str) -> list[str]:
    """Items of the text, none blank; [] where it has no letter and no digit.

    Args:
        text: may have several lines; every line ends an item.
        cut: a `how_to_cut` value; KeyError for any other.
    """
    pieces = [piece for line in text.splitlines() for piece in _pieces(line.strip(), _CUTS[cut])]
    short = (part for piece in _joined(pieces) for part in _shortened(piece))
    return [item.strip() for item in short if _speakable(item)]


def _pieces(line: str, cut: Callable[[str], list[str]]) -> list[str]:
    """A line's pieces, its end kept: where a short line joins the next, it is what parts them."""
    pieces = [piece for piece in cut(line) if piece.strip()]
    return [*pieces[:-1], f"{pieces[-1]}\n"] if pieces else []


def _joined(pieces: Iterable[str]) -> list[str]:
    """Pieces of at least five characters and one word, as far as there is enough text."""
    items: list[str] = []
    waiting = ""
    for piece in pieces:
        waiting += piece
        if len(waiting.strip()) >= FEWEST_CHARACTERS and _speakable(waiting):
            items.append(waiting)
            waiting = ""
    if not waiting:
        return items
    if items:
        return [*items[:-1], items[-1] + waiting]
    return [waiting] if _speakable(waiting) else []


def _speakable(text: str) -> bool:
    return any(character.isalnum() for character in text)


def _shortened(item: str) -> list[str]:
    """The item in parts of at most 510 characters, cut behind its last mark or space before that, else anywhere."""
    parts: list[str] = []
    while len(item) > MOST_CHARACTERS:
        window = item[:MOST_CHARACTERS]
        ends = [found.end() for found in re.finditer(rf"[{re.escape(_ALL_MARKS)}\s]", window)]
        at = next((end for end in reversed(ends) if _speakable(item[:end]) and _speakable(item[end:])), MOST_CHARACTERS)
        parts.append(item[:at])
        item = item[at:]
    return [*parts, item]
