"""English text made speakable: dates, times, units, money, numbers and symbols as words, marks as the models know them.

Abbreviations, dates, times, units and Roman numerals are read by hibari's normaliser; what it leaves to its lexicon
(numbers, money, percent, addresses) is spelt out here, so that every word can be looked up.
"""

import re
import unicodedata

from rocm_wizard.speech.gpt_sovits.text.marks import mark_of, with_ellipses, without_repeats

_LONGEST_NUMBER = 15
_YEARS = range(1100, 2100)
_UNITS_OF_MONEY = {"$": ("dollar", "cent"), "£": ("pound", "pence"), "€": ("euro", "cent")}
_LATIN = {"e.g.": "for example", "i.e.": "that is", "etc.": "et cetera", "a.k.a.": "also known as"}
_WORDS = {"%": " percent ", "&": " and ", "@": " at ", "+": " plus ", "=": " equals ", "/": " slash ", "°": " degrees "}
_KEPT = re.compile(r"[^\x20-\x7e£€¥₩₹¢°…–—]")

_SCHEME = re.compile(r"\b(?:https?|ftp)://(?:www\.)?", re.IGNORECASE)
_DOT = re.compile(r"(?<=[A-Za-z])\.(?=[a-z]{2,}\b)")
_MONEY = re.compile(r"([$£€])\s?(\d+(?:,\d{3})*)(?:\.(\d{1,2}))?(?![\d.,]\d)")
_GROUPED = re.compile(r"(?<![\w.,])\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\w,]\d)")
_ORDINAL = re.compile(r"(?<![\w.])(\d+)(?:st|nd|rd|th)\b")
_DECADE = re.compile(r"(?<![\w.])(\d{4})'?s\b")
_YEAR = re.compile(r"(?<![\w.,-])(\d{4})(?![\w]|[.,-]\d)")
_MINUS = re.compile(r"(?<![\w)])-(?=\d)")
_NUMBER = re.compile(r"\d+(?:\.\d+)*")
_EDGE = re.compile(r"(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])")


def normalise_english(text: str) -> str:
    """Words of ASCII letters and apostrophes, single spaces, and the six marks."""
    from hibari.g2p.normalize import normalize

    text = unicodedata.normalize("NFKC", text).replace("\u2044", "/")
    text = "".join(c for c in unicodedata.normalize("NFD", text) if unicodedata.category(c) != "Mn")
    text = _KEPT.sub(_replaced, with_ellipses(text))
    text = _SCHEME.sub("", text)
    for short, full in _LATIN.items():
        text = re.sub(rf"(?<![\w.]){re.escape(short)}", full, text, flags=re.IGNORECASE)
    text = _MONEY.sub(_money, normalize(text))
    text = _numbers_as_words(text)
    text = _DOT.sub(" dot ", text)
    for symbol, word in _WORDS.items():
        text = text.replace(symbol, word)
    text = re.sub(r"[^A-Za-z'!?…,. ]", _replaced, re.sub(r"(?<=[A-Za-z])-(?=[A-Za-z])", " ", text))
    text = re.sub(r"(?<![A-Za-z])'+|'+(?![A-Za-z])", "", text)
    text = re.sub(r" +(?=[!?…,.])", "", re.sub(" +", " ", without_repeats(text)))
    return text.strip()


def _replaced(found: re.Match[str]) -> str:
    character = found[0]
    if character in "\u2018\u2019\u02bc`\u00b4":
        return "'"
    return mark_of(character) or " "


def _money(found: re.Match[str]) -> str:
    whole, part = int(found[2].replace(",", "")), int((found[3] or "0").ljust(2, "0"))
    unit, small = _UNITS_OF_MONEY[found[1]]
    words = [f"{whole} {unit}{'' if whole == 1 else 's'}"] if whole or not part else []
    if part:
        words.append(f"{part} {small}{'' if part == 1 or small == 'pence' else 's'}")
    return " and ".join(words)


def _numbers_as_words(text: str) -> str:
    from hibari.g2p import numbers

    text = _GROUPED.sub(lambda found: _number(found[0].replace(",", "")), text)
    text = _ORDINAL.sub(lambda found: _plain(numbers.ordinal(int(found[1]))) if _short(found[1]) else found[1], text)
    text = _DECADE.sub(lambda found: _plural(_plain(numbers.year(int(found[1])))), text)
    text = _YEAR.sub(lambda found: _year(found[1]), text)
    text = _EDGE.sub(" ", _MINUS.sub("minus ", text))
    return _NUMBER.sub(lambda found: f" {_number(found[0])} ", text)


def _number(digits: str) -> str:
    """`7` seven, `3.14` three point one four, `7.2.1` seven point two point one, `007` zero zero seven."""
    whole, *parts = digits.split(".")
    if len(parts) == 1:
        return f"{_cardinal(whole)} point {_each(parts[0])}"
    return " point ".join(_cardinal(part) for part in (whole, *parts))


def _cardinal(digits: str) -> str:
    from hibari.g2p import numbers

    if not _short(digits) or (digits[0] == "0" and len(digits) > 1):
        return _each(digits)
    return _plain(numbers.cardinal(int(digits)))


def _year(digits: str) -> str:
    from hibari.g2p import numbers

    return _plain(numbers.year(int(digits)) if int(digits) in _YEARS else numbers.cardinal(int(digits)))


def _each(digits: str) -> str:
    from hibari.g2p import numbers

    return " ".join(numbers.ONES[int(digit)] for digit in digits)


def _short(digits: str) -> bool:
    return len(digits) <= _LONGEST_NUMBER


def _plain(words: str) -> str:
    """American: `one thousand two hundred thirty four`."""
    return " ".join(word for word in re.split("[^a-z]+", words) if word and word != "and")


def _plural(words: str) -> str:
    return words[:-1] + "ies" if words.endswith("y") else words + ("es" if words.endswith("x") else "s")
