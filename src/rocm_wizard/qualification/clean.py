"""Text from children made safe for a terminal, a log and a report."""

import json
import re
from collections.abc import Iterable
from urllib.parse import quote, quote_plus

LINE_CAP = 1000
SHORTEST_HIDDEN = 6
"""Shorter values are hidden nowhere: they are too likely to be part of something else."""
HIDDEN = "***"
_LONGEST_WORD = 20
_PERCENT = re.compile("%[0-9A-F]{2}")

_ESCAPES = re.compile(
    r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?"  # OSC: titles, links, clipboard
    r"|\x1b[PX^_][^\x1b]*(?:\x1b\\)?"  # DCS, SOS, PM, APC
    r"|[\x1b\x9b]\[?[0-?]*[ -/]*[@-~]"  # CSI and two-byte escapes
)
_CONTROLS = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]")


def clean_text(text: str) -> str:
    """Several lines as one clean line: what a child says in a message, made fit for a finding."""
    return clean_line(" ".join(text.split()))


def clean_line(text: str, hiding: "Hiding | None" = None) -> str:
    """One line without control sequences, control characters and direction overrides, at most 1,000 characters.

    A progress bar that redraws itself with carriage returns keeps its last state. `hiding` works on the whole line,
    before it is shortened: half of a secret is one too.
    """
    text = text.rstrip("\r\n")
    if "\r" in text:
        text = text.rsplit("\r", 1)[-1]
    text = _ESCAPES.sub("", text)
    text = _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", hiding.text(text) if hiding is not None else text)
    return text if len(text) <= LINE_CAP else text[: LINE_CAP - 1] + "…"


class Hiding:
    """Puts `***` in the place of values that nobody may be told, also where they stand escaped. It shows none itself.

    Attributes:
        longest: bytes of the longest thing it looks for, 0 when there is nothing to hide.
    """

    __slots__ = ("_bytes", "_speech", "_text", "longest")

    def __init__(self, values: Iterable[str]) -> None:
        spellings = {spelling for value in values for spelling in _spellings(value)}
        self._text = _pattern(spellings)
        self._speech = _pattern({spelling for spelling in spellings if not _is_word(spelling)})
        raw = [spelling.encode("utf-8", "surrogatepass") for spelling in _longest_first(spellings)]
        self._bytes = re.compile(b"|".join(map(re.escape, raw))) if raw else None
        self.longest = max(map(len, raw), default=0)

    def __bool__(self) -> bool:
        return self._text is not None

    def text(self, text: str) -> str:
        """The text with every occurrence replaced."""
        return self._text.sub(HIDDEN, text) if self._text is not None else text

    def hides(self, text: str) -> bool:
        """Whether any of it must not be told."""
        return self._text is not None and self._text.search(text) is not None

    def speech(self, text: str) -> str:
        """The same for what was spoken or heard: a value that is one plain word may be just that word, and stays."""
        return self._speech.sub(HIDDEN, text) if self._speech is not None else text

    def data(self, data: bytes) -> bytes:
        """The same for UTF-8."""
        return self._bytes.sub(HIDDEN.encode("ascii"), data) if self._bytes is not None else data


def _pattern(spellings: set[str]) -> "re.Pattern[str] | None":
    return re.compile("|".join(map(re.escape, _longest_first(spellings)))) if spellings else None


def _longest_first(spellings: set[str]) -> list[str]:
    return sorted(spellings, key=lambda spelling: (-len(spelling), spelling))


def _spellings(value: str) -> set[str]:
    """As it is, line by line (a log has lines only), and as JSON, Python and addresses spell it."""
    found: set[str] = set()
    for part in {value.strip(), *(line.strip() for line in value.splitlines())}:
        if len(part) >= SHORTEST_HIDDEN:
            escaped = json.dumps(part)[1:-1], json.dumps(part, ensure_ascii=False)[1:-1], repr(part)[1:-1]
            found |= {part, *escaped, *_quoted(part)}
    return found


def _quoted(text: str) -> set[str]:
    """As addresses spell it: with and without its slashes, blanks as plus, codes in capitals and small letters."""
    found = {quote(text, safe=safe, errors="replace") for safe in ("", "/")}
    found.add(quote_plus(text, errors="replace"))
    return found | {_PERCENT.sub(lambda code: code[0].lower(), spelling) for spelling in found}


def _is_word(text: str) -> bool:
    return text.isalpha() and len(text) < _LONGEST_WORD
