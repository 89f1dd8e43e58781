"""How tones change in running Mandarin: neutral tones, 不, 一, and third tones next to each other.

The rules are those of any textbook (Duanmu, The Phonology of Standard Chinese, ch. 11). Word borders come from jieba,
with parts of speech in ICTCLAS letters (v verb, n noun, u particle ...).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

_PARTICLES = "吧呢哈啊呐噻嘛吖嗨哦哒额滴哩哟喽啰耶喔诶吗呀啦"
_STRUCTURAL = "的地得"
_ASPECTS = {"了": "ul", "着": "uz", "过": "ug"}
_PLACES = "上下里"
_WAYS, _DIRECTIONS = "上下进出回过起开", "来去"
# Behind these 不 belongs to what follows: 真不错.
_ADVERBS = frozenset("真很都也从并决毫可太最更就才还再又若如")
_COUNTERS = "几有两半多各整每做是这那哪"
_NUMERALS = frozenset("零一二三四五六七八九十百千万亿两几半点")
_DIGITS = frozenset("零一二三四五六七八九")
# Numbers, ordinals and dates, in which 一 keeps its tone: 十一个, 第一次, 一月, 一号, 一二.
_BEFORE_ONE = frozenset("第十百千万亿零点二三四五六七八九")
_AFTER_ONE = frozenset("月号零一二三四五六七八九十")
# Characters before a 子 that is no suffix but child, master or particle (男子, 孔子, 电子), and doubled words that keep
# both tones.
_BEFORE_FULL_ZI = frozenset("男女分原量莲石瓜电质中离因孔孟老庄墨荀君才父母王弟学游太天孝浪赤幼独核光粒孢精卵")
_FULL_DOUBLES = frozenset(("人人", "天天", "年年", "月月", "处处", "样样"))


@dataclass(frozen=True)
class Word:
    """A word, its part of speech, a syllable with tone digit for each character, and where it is made of two words."""

    text: str
    part: str
    syllables: tuple[str, ...]
    border: int = 0


def sandhi(words: Iterable[Word], known: Callable[[str], bool]) -> list[str]:
    """The syllables of a clause as they are spoken.

    Args:
        words: in order; characters without a tone carry a syllable that does not end in a digit.
        known: whether a text is a word of the dictionary.
    """
    spoken: list[str] = []
    before = ""
    for word in _grouped([_neutral(word) for word in _with_neighbours(list(words))]):
        spoken.extend(_third(_yi(_bu(word), before), known))
        before = word.text[-1]
    return spoken


@cache
def neutral_words() -> frozenset[str]:
    """Words whose last syllable has no tone of its own, beside those that the suffix rules find."""
    return frozenset(Path(__file__).with_name("neutral_tone.txt").read_text(encoding="utf-8").split())


def _toned(word: Word, tones: dict[int, str]) -> Word:
    changed = list(word.syllables)
    for at, tone in tones.items():
        if _tone(changed[at]):
            changed[at] = changed[at][:-1] + tone
    return replace(word, syllables=tuple(changed))


def _tone(syllable: str) -> str:
    return syllable[-1] if syllable[-1:] in tuple("12345") else ""


def _joined(first: Word, second: Word, part: str) -> Word:
    return Word(first.text + second.text, part, first.syllables + second.syllables, len(first.text))


def _with_neighbours(words: list[Word]) -> list[Word]:
    """不 and 一 joined with what follows, doubled words and V一V with each other, 儿 with what it ends."""
    found: list[Word] = []
    for at, word in enumerate(words):
        last = found[-1] if found else None
        following = words[at + 1].text if at + 1 < len(words) else ""
        if last is None or not _tone(word.syllables[0]):
            found.append(word)
        elif last.text in ("不", "一"):
            found[-1] = _joined(last, word, word.part)
        elif _belongs(last.text, word.text, following):
            found[-1] = _joined(last, word, last.part)
        else:
            found.append(word)
    return found


def _belongs(last: str, text: str, following: str) -> bool:
    """Whether a text is the middle or end of 看一看 or 好不好, the double of its neighbour, or its 儿."""
    if len(last) == 1 and text in ("一", "不"):
        return following == last
    if len(last) == 2 and last[1] in "一不":
        return text == last[0]
    return len(text) == 1 and text in ("儿", last)


def _neutral(word: Word) -> Word:
    text, part = word.text, word.part
    doubled: dict[int, str] = {}
    for at in range(1, len(text)) if len(text) <= 3 else ():
        if text[at] == text[at - 1] and part[:1] in ("n", "v", "a") and text not in _FULL_DOUBLES:
            doubled[at] = "5"
            # A doubled verb keeps the third-tone change of its full form (xiang2 xiang5), a noun does not (jie3 jie5).
            if part[:1] == "v" and _tone(word.syllables[at]) == "3":
                doubled[at - 1] = "2"
    counted = text.find("个")
    if text[-1] == "子" and text[-2:-1] in _BEFORE_FULL_ZI:
        doubled[len(text) - 1] = "3"
    elif text in neutral_words() or text[-2:] in neutral_words() or _suffixed(text, part):
        doubled[len(text) - 1] = "5"
    elif text == "个" or (counted > 0 and (text[counted - 1] in _NUMERALS or text[counted - 1] in _COUNTERS)):
        doubled[counted] = "5"
    return _toned(word, doubled)


def _suffixed(text: str, part: str) -> bool:
    last = text[-1]
    if last in _PARTICLES or (last in _STRUCTURAL and (len(text) == 1 or last == "的")):
        return True
    if len(text) == 1:
        return _ASPECTS.get(last) == part
    return (
        (last == "们" and part[:1] in ("r", "n"))
        or (last == "子" and part[:1] in ("n", "q", "m"))
        or (last in _PLACES and part[:1] in ("s", "l", "f"))
        or (last in _DIRECTIONS and text[-2] in _WAYS)
        or (last in "头" and part[:1] in ("f", "s"))
    )


def _bu(word: Word) -> Word:
    """不 is bu2 before a fourth tone, and toneless between the two halves of a question or before a complement."""
    text = word.text
    word = _toned(word, {at: "4" for at, character in enumerate(text) if character == "不"})
    if len(text) == 3 and text[1] == "不" and text[0] not in _ADVERBS:
        return _toned(word, {1: "5"})
    before_fourth = {
        at: "2" for at in range(len(text) - 1) if text[at] == "不" and _tone(word.syllables[at + 1]) == "4"
    }
    return _toned(word, before_fourth)


def _yi(word: Word, before: str) -> Word:
    """一 is yi2 before a fourth tone and yi4 before the others; yi1 in numbers, ordinals, dates and at the end.

    `before`: the character in front of the word.
    """
    text = word.text
    # The dictionary's readings have some of these changes made, and not always rightly.
    word = _toned(word, {at: "1" for at, character in enumerate(text) if character == "一"})
    if "一" not in text or all(c in _DIGITS for c in text):
        return word
    if len(text) == 3 and text[1] == "一" and text[0] == text[2]:
        return _toned(word, {1: "5"})
    tones: dict[int, str] = {}
    for at in range(len(text) - 1):
        previous, following = text[at - 1] if at else before, text[at + 1]
        if text[at] != "一" or previous in _BEFORE_ONE or following in _AFTER_ONE:
            continue
        if following == "日" and previous == "月":
            continue
        if tone := _tone(word.syllables[at + 1]):
            tones[at] = "2" if tone == "4" or following == "个" else "4"
    return _toned(word, tones)


def _grouped(words: list[Word]) -> list[Word]:
    """Neighbours whose third tones meet, as one word while that has at most three syllables."""
    groups: list[Word] = []
    joined = False
    for word in words:
        last = groups[-1] if groups else None
        meets = last is not None and _tone(last.syllables[-1]) == "3" == _tone(word.syllables[0])
        if last is not None and meets and not joined and len(last.text) + len(word.text) <= 3:
            groups[-1] = _joined(last, word, word.part)
            joined = True
        else:
            groups.append(word)
            joined = False
    return groups


def _third(word: Word, known: Callable[[str], bool]) -> tuple[str, ...]:
    """Of two third tones in a row inside a word, the first is spoken as a second."""
    count = len(word.syllables)
    if count == 4:
        halves = (replace(word, text=word.text[at : at + 2], syllables=word.syllables[at : at + 2]) for at in (0, 2))
        return tuple(syllable for half in halves for syllable in _third(half, known))
    tones = [_tone(syllable) for syllable in word.syllables]
    changed = {at: "2" for at in range(count - 1) if tones[at] == "3" == tones[at + 1]}
    if count == 3 and len(changed) == 2:
        border = word.border or (1 if known(word.text[1:]) and not known(word.text[:2]) else 2)
        if border == 1:
            del changed[0]
    return _toned(word, changed).syllables
