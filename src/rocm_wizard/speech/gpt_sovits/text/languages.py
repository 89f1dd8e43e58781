"""Which stretch of a text is spoken in which language.

The labels are the host's: `ja` and `all_ja` are Japanese with English in between, `zh` and `all_zh` Chinese with
English, `en` English throughout, `auto` all three. Han characters alone are Japanese or Chinese by the label; under
`auto` by their neighbours and by which character set has them.
"""

import re
from collections.abc import Iterator

from rocm_wizard.speech.gpt_sovits.text.chinese_numbers import UNITS
from rocm_wizard.speech.serve import RequestError

MAIN = {"ja": "ja", "all_ja": "ja", "zh": "zh", "all_zh": "zh", "en": "en", "auto": "auto"}
"""Accepted labels and the language of what is not English."""

type Span = tuple[str, str]

_LETTER = "A-Za-z\u00c0-\u024f"
_LATIN = re.compile(rf"\d*[{_LETTER}][{_LETTER}\d]*(?:['\u2019.&+/_-][{_LETTER}\d]+)*")
_UNIT = re.compile(rf"\d*(?:{'|'.join(map(re.escape, sorted(UNITS, key=len, reverse=True)))})")
_BETWEEN = re.compile(r"[\x21-\x2f\x3a-\x40\x5b-\x60\x7b-\x7e\s\u2019…–—]*(?:\s\d[\d.,]*(?=\s)[\s\x21-\x2f]*)*")
_BEHIND = re.compile(r"[!?,.;:%'\")\]\u2019…]*\s*")
_KANA = re.compile("[\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9d]")
_KANA_RUN = re.compile(f"({_KANA.pattern}+)")
_HANGUL = re.compile("[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]")
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")
_CLAUSE = re.compile(r"[^，。！？、；,.!?;…\n]*[，。！？、；,.!?;…\n]*")
_JAPANESE = "cp932"
_CHINESE_SETS = ("gb2312", "big5")
# Words that Chinese hardly does without, and that Japanese writes with kana if at all.
_CHINESE = frozenset("的了吗呢吧们你她这那很么给没是我在也都就")


def spans(text: str, language: str) -> list[Span]:
    """(language, stretch) pairs of `ja`, `zh` and `en` that make up the text. Raises RequestError for other labels."""
    main = MAIN.get(language)
    if main is None:
        raise RequestError(f"this engine speaks Japanese, English and Chinese, not {language!r}")
    if main == "en":
        return [("en", text)] if text else []
    if main == "auto" and _HANGUL.search(text):
        raise RequestError("the text has Korean in it; this engine speaks Japanese, English and Chinese")
    found: list[Span] = []
    begin = 0
    for start, end in _latin_runs(text):
        found.extend(_native(text[begin:start], main, text))
        found.append(("en", text[start:end]))
        begin = end
    found.extend(_native(text[begin:], main, text))
    return _merged(found, "zh" if main == "auto" else main)


def _latin_runs(text: str) -> list[tuple[int, int]]:
    """Stretches of Latin words with the numbers and marks between them and the marks behind them."""
    runs: list[tuple[int, int]] = []
    for found in _LATIN.finditer(text):
        if _is_unit(text, found):
            continue
        begin, end = found.start(), _end(_BEHIND.match(text, found.end()), found.end())
        if runs and _BETWEEN.fullmatch(text, runs[-1][1] - _spaces_before(text, runs[-1][1]), begin):
            begin, _ = runs.pop()
        runs.append((begin, end))
    return runs


def _spaces_before(text: str, at: int) -> int:
    return at - len(text[:at].rstrip())


def _end(found: re.Match[str] | None, otherwise: int) -> int:
    return found.end() if found else otherwise


def _is_unit(text: str, word: re.Match[str]) -> bool:
    """A unit behind a number, unless English words surround the two: `5km` is read in the language around it."""
    before = text[: word.start()].rstrip()
    if not _UNIT.fullmatch(word[0]) or not (word[0][0].isdecimal() or before[-1:].isdecimal()):
        return False
    around = before.rstrip("0123456789., ")[-1:] + text[word.end() :].lstrip()[:1]
    return not re.search(f"[{_LETTER}]", around)


def _native(stretch: str, main: str, text: str) -> Iterator[Span]:
    """A stretch without English: in the main language, or clause by clause under `auto`."""
    if main != "auto":
        yield main, stretch
        return
    kana_near = bool(_KANA.search(text))
    for clause in _CLAUSE.findall(stretch):
        if _KANA.search(clause) and not _encodes(clause, _JAPANESE):
            yield from (("ja" if _KANA.search(part) else "zh", part) for part in _KANA_RUN.split(clause) if part)
        else:
            yield _clause_language(clause, kana_near=kana_near), clause


def _clause_language(clause: str, *, kana_near: bool) -> str:
    """`ja`, `zh`, or "" for a clause of digits and marks."""
    if _KANA.search(clause):
        return "ja"
    if not _HAN.search(clause):
        return ""
    if not _encodes(clause, _JAPANESE) or _CHINESE.intersection(clause):
        return "zh"
    chinese = any(_encodes(clause, name) for name in _CHINESE_SETS)
    return "ja" if kana_near or not chinese else "zh"


def _encodes(clause: str, character_set: str) -> bool:
    try:
        "".join(_HAN.findall(clause)).encode(character_set)
    except UnicodeEncodeError:
        return False
    return True


def _merged(found: list[Span], usual: str) -> list[Span]:
    """Neighbours of one language in one span. Stretches without a word join the one before them, else the next."""
    merged: list[Span] = []
    waiting = ""
    for language, stretch in found:
        wordless = not any(character.isalnum() for character in stretch)
        if (wordless or not language) and merged:
            merged[-1] = (merged[-1][0], merged[-1][1] + stretch)
        elif wordless or not language:
            waiting += stretch
        elif merged and merged[-1][0] == language:
            merged[-1] = (language, merged[-1][1] + stretch)
        else:
            merged.append((language, waiting + stretch))
            waiting = ""
    return [*merged, (usual, waiting)] if waiting else merged
