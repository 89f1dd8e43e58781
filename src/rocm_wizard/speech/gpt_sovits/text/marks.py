"""Punctuation as the models know it: six marks, and never two in a row."""

import re

_MARKS = {
    **dict.fromkeys("，、：；,:;·・‧", ","),
    **dict.fromkeys("。．.\n", "."),
    **dict.fromkeys("！!", "!"),
    **dict.fromkeys("？?", "?"),
    **dict.fromkeys("…⋯", "…"),
    **dict.fromkeys("—–―-", "-"),
}
_CLOSING = frozenset("，。？！,.?!~:：—…、；;～〜")
_TRAILING = "」』）)】》〉”’\"' \t\n\r\u3000"
_ELLIPSIS = re.compile(r"\.{3,}|。{3,}|・{3,}")
_REPEATED = re.compile(r"([!?…,.\-])\s*[!?…,.\-\s]*(?=[!?…,.\-])[!?…,.\-]")


def mark_of(character: str) -> str | None:
    """The phoneme of a punctuation mark of any of the languages; None for any other character."""
    return _MARKS.get(character)


def with_ellipses(text: str) -> str:
    """Three dots and more as one `…`."""
    return _ELLIPSIS.sub("…", text)


def without_repeats(text: str) -> str:
    """Runs of the six marks, spaces between them included, shortened to their first.

    The models answer repeated marks with pieces of the reference recording.
    """
    return _REPEATED.sub(r"\1", text)


def closed(text: str, language: str) -> str:
    """The text with a closing mark, `.` in English and `。` else, unless it has one before closing quotes."""
    bare = text.rstrip(_TRAILING)
    if bare and bare[-1] in _CLOSING:
        return text
    return text + ("." if language == "en" else "。")
