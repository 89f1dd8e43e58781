"""Writes to a console of any code page: what it cannot show becomes an ASCII word, never a crash."""

import sys
from typing import TextIO

_ASCII = {"×": "x", "“": '"', "”": '"', "…": "...", "–": "-", "—": "-", "’": "'", "→": "->", "±": "+/-"}


def fit(text: str, encoding: str) -> str:
    """The text with only characters that the encoding has."""
    try:
        text.encode(encoding)
        return text
    except (UnicodeEncodeError, LookupError):
        for character, plain in _ASCII.items():
            text = text.replace(character, plain)
        return text.encode(encoding, "backslashreplace").decode(encoding) if _known(encoding) else ascii(text)


def _known(encoding: str) -> bool:
    try:
        "".encode(encoding)
    except LookupError:
        return False
    return True


def write_line(text: str, stream: TextIO | None = None) -> None:
    """Writes one line and flushes; a closed pipe at the other end is not our failure."""
    stream = stream or sys.stdout
    if stream is None:  # pythonw has no console
        return
    try:
        stream.write(fit(text, stream.encoding or "ascii") + "\n")
        stream.flush()
    except BrokenPipeError:
        pass
