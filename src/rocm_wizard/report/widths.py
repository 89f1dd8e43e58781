"""Widths in a terminal: Chinese characters are two cells wide and may be parted anywhere but before punctuation."""

import unicodedata

_NOT_FIRST = "，。、；：！？）》」』”’…%,.;:!?)]}"
_NOT_LAST = "（《「『“‘([{"


def is_wide(character: str) -> bool:
    """Whether a character takes two cells."""
    return unicodedata.east_asian_width(character) in "WF"


def cells(text: str) -> int:
    """The text's width in cells."""
    return sum(2 if is_wide(c) else 0 if unicodedata.combining(c) else 1 for c in text)


def pad(text: str, width: int) -> str:
    """The text with blanks behind it, up to `width` cells."""
    return text + " " * max(0, width - cells(text))


def _pieces(text: str) -> list[str]:
    """The smallest parts that stay whole: words with their blank, single wide characters with their punctuation."""
    parts: list[str] = []
    for index, character in enumerate(text):
        before = text[index - 1] if index else ""
        after_blank = before == " " and character != " "
        beside_wide = bool(before) and (is_wide(character) or is_wide(before))
        splits = beside_wide and character not in _NOT_FIRST and character != " " and before not in _NOT_LAST
        if not parts or after_blank or splits:
            parts.append(character)
        else:
            parts[-1] += character
    return parts


def wrap(text: str, width: int) -> list[str]:
    """Lines of at most `width` cells (at least 2); what is longer than a line, a path for instance, is cut."""
    width = max(2, width)
    lines = [""]
    for piece in _pieces(text):
        if lines[-1] and cells((lines[-1] + piece).rstrip()) > width:
            lines.append("")
        while cells(piece.rstrip()) > width:
            length = len(piece)
            while cells(piece[:length]) > width:
                length -= 1
            lines[-1] = piece[:length]
            piece = piece[length:]
            lines.append("")
        lines[-1] += piece
    return [line.rstrip() for line in lines]
