"""Japanese text to phonemes with pitch marks, by Open JTalk's dictionary and accent rules (pyopenjtalk-plus).

`[` is a rise and `]` a fall of the pitch, `_` a pause inside a phrase, `#` the border of an accent phrase. The v2
symbol set has no `#`: the models learnt UNK in its place. How marks follow from full-context labels: Kurihara et al.
2021, "Prosodic features control by symbols as input of sequence-to-sequence acoustic modeling for neural TTS".
"""

import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise

from rocm_wizard.speech.gpt_sovits.text.marks import mark_of, with_ellipses, without_repeats

_COMPATIBLE = re.compile("[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\uff65-\uff9f]+")
_UNITS = {
    "km/h": "キロメートル毎時",
    "km": "キロメートル",
    "cm": "センチメートル",
    "mm": "ミリメートル",
    "kg": "キログラム",
    "mg": "ミリグラム",
    "ml": "ミリリットル",
    "mL": "ミリリットル",
    "ms": "ミリ秒",
    "TB": "テラバイト",
    "GB": "ギガバイト",
    "MB": "メガバイト",
    "KB": "キロバイト",
    "GHz": "ギガヘルツ",
    "MHz": "メガヘルツ",
    "kHz": "キロヘルツ",
    "Hz": "ヘルツ",
    "m": "メートル",
    "g": "グラム",
    "L": "リットル",
    "W": "ワット",
    "V": "ボルト",
    "%": "パーセント",
    "％": "パーセント",
    "℃": "度",
    "°C": "度",
    "°": "度",
}
_CURRENCIES = {"¥": "円", "￥": "円", "$": "ドル", "＄": "ドル", "€": "ユーロ", "£": "ポンド"}
_WORDS = {
    "+": "プラス",
    "＋": "プラス",
    "=": "イコール",
    "＝": "イコール",
    "&": "アンド",
    "＆": "アンド",
    "×": "かける",
}
_UNIT = re.compile(rf"(?<=\d)\s?({'|'.join(map(re.escape, _UNITS))})(?![A-Za-z])")
_MONEY = re.compile(r"([¥￥$＄€£])\s?(\d+(?:\.\d+)?)")
_THOUSANDS = re.compile(r"(?<=\d)[,，](?=\d{3}(?!\d))")
_DATE = re.compile(r"(?<!\d)(\d{4})[/-](\d{1,2})[/-](\d{1,2})(?!\d)")
_TIME = re.compile(r"(?<!\d)(\d{1,2})[:：](\d{2})(?!\d)")
_SPAN = re.compile(r"(?<=\d)\s?[~～〜]\s?(?=\d)")
_WAVE = re.compile(r"(?<=[\u3041-\u30ff])[~～〜]+")
_WORDED = re.compile("[A-Za-z\\d\u3005-\u3007\u3040-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")
# The public set has no phonemes for these consonants of loanwords: two that it has are heard almost the same.
_SPLIT = {"kw": ("k", "w"), "gw": ("g", "w"), "ty": ("t", "y"), "fy": ("f", "y")}


def normalise_japanese(text: str) -> str:
    """Numbers, dates, times, units, money and symbols in a form that Open JTalk reads right; marks as the models'."""
    text = unicodedata.normalize("NFC", text)
    text = _COMPATIBLE.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text)
    text = _THOUSANDS.sub("", text)
    text = _DATE.sub(lambda found: f"{found[1]}年{int(found[2])}月{int(found[3])}日", text)
    text = _TIME.sub(_clock, text)
    text = _MONEY.sub(lambda found: found[2] + _CURRENCIES[found[1]], text)
    text = _UNIT.sub(lambda found: _UNITS[found[1]], text)
    text = _WAVE.sub("ー", _SPAN.sub("から", text))
    for symbol, word in _WORDS.items():
        text = text.replace(symbol, word)
    return without_repeats("".join(_spoken(with_ellipses(text))))


def _clock(found: re.Match[str]) -> str:
    minutes = int(found[2])
    return f"{int(found[1])}時" + (f"{minutes}分" if minutes else "")


def _spoken(text: str) -> Iterator[str]:
    """Characters with a reading and the six marks; a space, where words must not join, for everything else."""
    for at, character in enumerate(text):
        if character == "." and text[at - 1 : at].isdecimal() and text[at + 1 : at + 2].isdecimal():
            yield "点"
        elif _WORDED.match(character):
            yield character
        elif (mark := mark_of(character)) is not None:
            yield mark
        elif unicodedata.category(character) != "Cf":
            yield " "


def japanese_phones(text: str) -> list[str]:
    """Phonemes of normalised text."""
    phones: list[str] = []
    for piece in re.split(r"([!?…,.\- ])", text):
        if mark_of(piece) is not None:
            phones.append(piece)
        elif piece.strip():
            phones.extend(_phrase(piece))
    return phones


def _phrase(text: str) -> Iterator[str]:
    """Phonemes and pitch marks of text without punctuation."""
    import pyopenjtalk

    # Plain Open JTalk: the extra readings load a 70 MB dictionary and a network for rare words.
    labels = pyopenjtalk.extract_fullcontext(text, use_sudachi_kanji_yomi=False, predict_nani=False)
    for label, following in pairwise(labels[1:]):
        phone = _field(label, r"-(.*?)\+")
        if phone == "pau":
            yield "_"
            continue
        # Devoiced vowels are written as voiced ones, as in the public models' training.
        phone = phone.lower() if phone in ("A", "I", "U", "E", "O") else phone
        yield from _SPLIT.get(phone, (phone,))
        yield from _pitch(label, following, phone)


def _pitch(label: str, following: str, phone: str) -> Iterator[str]:
    """The mark behind a phoneme.

    In a label, A1 is the distance of the mora from the accent's fall, A2 the mora's place in its accent phrase from the
    front and A3 from the back, F1 the phrase's moras.
    """
    from_fall, place, from_end = (_number(label, mark) for mark in (r"/A:([0-9\-]+)\+", r"\+(\d+)\+", r"\+(\d+)/"))
    next_place = _number(following, r"\+(\d+)\+")
    if from_end == 1 and next_place == 1 and phone in ("a", "i", "u", "e", "o", "N", "cl"):
        yield "#"
    elif from_fall == 0 and next_place == (place or 0) + 1 and place != _number(label, r"/F:(\d+)_"):
        yield "]"
    elif place == 1 and next_place == 2:
        yield "["


def _field(label: str, pattern: str) -> str:
    found = re.search(pattern, label)
    return found[1] if found else ""


def _number(label: str, pattern: str) -> int | None:
    found = re.search(pattern, label)
    return int(found[1]) if found else None
