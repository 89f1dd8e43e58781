"""Text from children made safe for a terminal, a log and a report."""

import re

LINE_CAP = 1000

_ESCAPES = re.compile(
    r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?"  # OSC: titles, links, clipboard
    r"|\x1b[PX^_][^\x1b]*(?:\x1b\\)?"  # DCS, SOS, PM, APC
    r"|[\x1b\x9b]\[?[0-?]*[ -/]*[@-~]"  # CSI and two-byte escapes
)
_CONTROLS = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]")


def clean_text(text: str) -> str:
    """Several lines as one clean line: what a child says in a message, made fit for a finding."""
    return clean_line(" ".join(text.split()))


def clean_line(text: str) -> str:
    """One line without control sequences, control characters and direction overrides, at most 1,000 characters.

    A progress bar that redraws itself with carriage returns keeps its last state.
    """
    text = text.rstrip("\r\n")
    if "\r" in text:
        text = text.rsplit("\r", 1)[-1]
    text = _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", _ESCAPES.sub("", text))
    return text if len(text) <= LINE_CAP else text[: LINE_CAP - 1] + "…"
