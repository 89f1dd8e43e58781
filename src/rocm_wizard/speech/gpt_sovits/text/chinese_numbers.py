"""Chinese numbers, dates, times, money and units as characters with a reading, marks as the models know them."""

import re
import unicodedata
from collections.abc import Iterator

from rocm_wizard.speech.gpt_sovits.text.marks import mark_of, with_ellipses, without_repeats

_DIGITS = "零一二三四五六七八九"
_PLACES = ("", "十", "百", "千")
_GROUPS = ("", "万", "亿", "万亿")
_LONGEST_NUMBER = 16
UNITS = {
    "km/h": "公里每小时",
    "km": "公里",
    "cm": "厘米",
    "mm": "毫米",
    "kg": "千克",
    "mg": "毫克",
    "ml": "毫升",
    "mL": "毫升",
    "ms": "毫秒",
    "TB": "太字节",
    "GB": "吉字节",
    "MB": "兆字节",
    "KB": "千字节",
    "GHz": "吉赫兹",
    "MHz": "兆赫兹",
    "kHz": "千赫兹",
    "Hz": "赫兹",
    "m": "米",
    "g": "克",
    "L": "升",
    "W": "瓦",
    "V": "伏",
}
_CURRENCIES = {"¥": "元", "$": "美元", "€": "欧元", "£": "英镑"}
_WORDS = {"+": "加", "=": "等于", "×": "乘", "÷": "除以", "&": "和", "@": "艾特", "%": "百分号", "°": "度"}
# Behind these 2 is 两; behind an ordinal it stays 二.
_MEASURES = "个位只条张次件本把名人年天种点遍家杯块匹头台辆支首座层间篇场双套倍周岁分秒小斤瓶碗句步口所"

_NUMBER = r"\d+(?:\.\d+)?"
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_DATE = re.compile(r"(?<!\d)(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?!\d)")
_YEAR = re.compile(r"(?<!\d)(\d{4}|\d{2})(?=年(?!前|后|来|间|级))")
_TIME = re.compile(r"(?<!\d)(\d{1,2})[::](\d{2})(?:[::](\d{2}))?(?!\d)")
_PERCENT = re.compile(rf"(-?)({_NUMBER})\s?([%‰])")
_FRACTION = re.compile(r"(?<![\d/])(\d+)/(\d+)(?![\d/])")
_CELSIUS = re.compile(rf"(-?)({_NUMBER})\s?(?:℃|°C)")
_MONEY = re.compile(rf"([¥$€£])\s?({_NUMBER})([万亿]?)")
_UNIT = re.compile(rf"(?<=\d)\s?({'|'.join(map(re.escape, UNITS))})(?![A-Za-z])")
_SPAN = re.compile(rf"(?<=\d)\s?[-~～〜–—]\s?(?={_NUMBER})")
_MOBILE = re.compile(r"(?<!\d)1[3-9]\d{9}(?!\d)")
_TWO = re.compile(rf"(?<![\d第.])2(?=[{_MEASURES}])(?!年级)")
_MINUS = re.compile(r"(?<![\w)])-(?=\d)")
_ANY = re.compile(r"\d+(?:\.\d+)*")
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\u3007]")


def normalise_chinese(text: str) -> str:
    """Han characters and the six marks; everything else is read out or dropped."""
    text = with_ellipses(unicodedata.normalize("NFKC", _kept(text)))
    text = _THOUSANDS.sub("", text)
    text = _DATE.sub(lambda found: f"{digits_apart(found[1])}年{int(found[2])}月{int(found[3])}日", text)
    text = _MOBILE.sub(lambda found: digits_apart(found[0]).replace("一", "幺"), text)
    text = _TIME.sub(_clock, text)
    text = _YEAR.sub(lambda found: digits_apart(found[1]), text)
    text = _CELSIUS.sub(lambda found: f"{'零下' if found[1] else ''}{_amount(found[2])}摄氏度", text)
    text = _PERCENT.sub(_percent, text)
    text = _MONEY.sub(lambda found: _amount(found[2], counted=True) + found[3] + _CURRENCIES[found[1]], text)
    text = _UNIT.sub(lambda found: UNITS[found[1]], text)
    text = _FRACTION.sub(lambda found: f"{_amount(found[2])}分之{_amount(found[1])}", text)
    text = _TWO.sub("两", _SPAN.sub("到", text))
    text = _ANY.sub(lambda found: _amount(found[0]), _MINUS.sub("负", text))
    for symbol, word in _WORDS.items():
        text = text.replace(symbol, word)
    return without_repeats("".join(_spoken(text)))


def cardinal(number: int) -> str:
    """A number from 0 to 9,999,999,999,999,999: 10 十, 105 一百零五, 2000 两千, 10500 一万零五百."""
    if number == 0:
        return _DIGITS[0]
    groups: list[int] = []
    while number:
        number, group = divmod(number, 10_000)
        groups.append(group)
    words = ""
    for place in reversed(range(len(groups))):
        group = groups[place]
        if words and group and (group < 1000 or not groups[place + 1]):
            words += "零"
        words += _below_ten_thousand(group) + (_GROUPS[place] if group else "")
    words = re.sub("^一十", "十", words)
    return re.sub("(^|(?<=[万亿零]))二(?=[千万亿])", "两", words)


def _below_ten_thousand(number: int) -> str:
    words, gap = "", False
    for place in (3, 2, 1, 0):
        digit = number // 10**place % 10
        if digit:
            words += ("零" if gap and words else "") + _DIGITS[digit] + _PLACES[place]
        gap = not digit
    return words


def digits_apart(digits: str) -> str:
    """Digit after digit: 2024 二零二四."""
    return "".join(_DIGITS[int(digit)] for digit in digits)


def _amount(digits: str, *, counted: bool = False) -> str:
    """`3.14` 三点一四, `7.2.1` 七点二点一, `007` 零零七; `counted`: 2 of something is 两."""
    whole, *parts = digits.split(".")
    if counted and digits == "2":
        return "两"
    head = digits_apart(whole) if len(whole) > _LONGEST_NUMBER or whole[0] == "0" != whole else cardinal(int(whole))
    return "点".join([head, *map(digits_apart, parts)])


def _clock(found: re.Match[str]) -> str:
    hours, minutes, seconds = (int(part or 0) for part in found.groups())
    words = ("两" if hours == 2 else cardinal(hours)) + "点"
    if minutes or seconds:
        words += ("零" if minutes < 10 else "") + cardinal(minutes) + "分" if minutes else "零分"
    return words + (f"{cardinal(seconds)}秒" if seconds else "")


def _percent(found: re.Match[str]) -> str:
    return f"{'负' if found[1] else ''}{'百' if found[3] == '%' else '千'}分之{_amount(found[2])}"


def _kept(text: str) -> str:
    """Text without invisible characters: one inside a number would tear it apart."""
    return "".join(character for character in text if unicodedata.category(character) != "Cf")


def _spoken(text: str) -> Iterator[str]:
    for character in text:
        if _HAN.match(character):
            yield character
        elif (mark := mark_of(character)) is not None:
            yield mark
        elif character in "~～〜":
            yield "…"
