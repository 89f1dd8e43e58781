"""Mandarin text to initials and finals with tones: jieba's words, pypinyin's readings, tone sandhi."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rocm_wizard.speech.gpt_sovits.text.marks import mark_of
from rocm_wizard.speech.gpt_sovits.text.symbols import PUNCTUATION, UNKNOWN
from rocm_wizard.speech.gpt_sovits.text.tone_sandhi import Word, sandhi

if TYPE_CHECKING:
    from jieba.posseg import POSTokenizer

_UNREAD = "?"
# Readings that depend on the part of speech, where pypinyin knows a single character only.
_BY_PART = {
    ("地", "uv"): "de5",
    ("得", "ud"): "de5",
    ("得", "v"): "dei3",
    ("为", "v"): "wei2",
    ("只", "q"): "zhi1",
    ("只", "m"): "zhi1",
    ("种", "v"): "zhong4",
    ("长", "a"): "chang2",
    ("重", "d"): "chong2",
    ("行", "n"): "hang2",
    ("行", "q"): "hang2",
    ("着", "v"): "zhao2",
    ("好", "v"): "hao4",
    ("当", "v"): "dang1",
    ("嗯", ""): "en1",
    ("呣", ""): "mu3",
}
# 儿 that means child and is a syllable of its own.
_CHILD = frozenset("女男婴幼孤患少胎孙侄妻小宠健弃产胖混托")


def chinese_phones(text: str) -> tuple[list[str], list[int]]:
    """Phonemes of text that `normalise_chinese` returned, and how many of them each of its characters has."""
    phones: list[str] = []
    counts: list[int] = []
    for syllable in _syllables(text):
        made = [syllable] if syllable in PUNCTUATION else _initial_and_final(syllable)
        phones.extend(made)
        counts.append(len(made))
    return phones, counts


def _syllables(text: str) -> Iterator[str]:
    """A syllable with tone digit, or a mark, for each character."""
    clause = ""
    for character in [*text, ""]:
        if character and mark_of(character) is None:
            clause += character
            continue
        if clause:
            yield from sandhi(_words(clause), _known)
            clause = ""
        if character:
            yield character


def _words(clause: str) -> Iterator[Word]:
    for pair in _tagger().cut(clause):
        syllables = _read(pair.word, pair.flag)
        yield Word(pair.word, pair.flag, _with_erhua(pair.word, syllables))


def _read(word: str, part: str) -> tuple[str, ...]:
    from pypinyin import Style, lazy_pinyin

    chosen = _BY_PART.get((word, part)) or _BY_PART.get((word, ""))
    if chosen:
        return (chosen,)
    # pypinyin takes a list from `errors` as one reading for each character; its annotation knows of a string only.
    unread: Any = lambda text: [_UNREAD] * len(text)  # noqa: E731
    return tuple(lazy_pinyin(word, style=Style.TONE3, neutral_tone_with_five=True, errors=unread))


def _with_erhua(word: str, syllables: tuple[str, ...]) -> tuple[str, ...]:
    """A 儿 that colours the syllable before it takes over that syllable's tone."""
    if len(word) < 2 or word[-1] != "儿" or word[-2] in _CHILD or syllables[-2][-1:] not in tuple("12345"):
        return syllables
    return (*syllables[:-1], "er" + syllables[-2][-1])


def _initial_and_final(syllable: str) -> list[str]:
    parts = _parts().get(syllable[:-1])
    return [parts[0], parts[1] + syllable[-1]] if parts is not None else [UNKNOWN]


@cache
def _parts() -> dict[str, tuple[str, str]]:
    """Pinyin without tone to the initial and final of the v2 symbols (`AA`, `EE`, `OO` where there is no initial)."""
    rows = Path(__file__).with_name("pinyin.txt").read_text(encoding="utf-8").splitlines()
    return {pinyin: (initial, final) for pinyin, initial, final in (row.split() for row in rows)}


@cache
def _tagger() -> "POSTokenizer":
    import jieba
    import jieba.posseg

    # Its own start-up would trust a cache file in the folder for temporary files, and write one.
    words = jieba.Tokenizer()
    words.FREQ, words.total = words.gen_pfdict(words.get_dict_file())
    words.initialized = True
    return jieba.posseg.POSTokenizer(words)


def _known(text: str) -> bool:
    return bool(_tagger().tokenizer.FREQ.get(text))
