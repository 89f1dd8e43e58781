"""How the host program asks for its sentences, and what of a text's length can be told beforehand."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rocm_wizard.stages.session import Session
from rocm_wizard.stages.speech_children import tts_language
from rocm_wizard.stages.utterance import default_text, speech_texts, stream_request

_INITIALISM = re.compile(r"(?<![A-Za-z])[A-Z]{2,5}(?=s?(?![A-Za-z]))")


@dataclass(frozen=True, slots=True)
class Plan:
    """One sentence and how it is asked for. `series` names its measurements, `known` is false for a person's text."""

    series: str
    text: str
    speed: float
    chunk_seconds: float
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    known: bool = True

    def request(self, session: Session) -> dict[str, Any]:
        """The `request` object of the wire."""
        return stream_request(session, self.text, self.chunk_seconds, self.speed, **self.options)


def main_plan(session: Session, chunk_seconds: float | None = None, series: str = "") -> Plan:
    """The person's text, else ours, asked for as the host does for a later sentence of its length."""
    own = (session.options.text or "").strip()
    text = own or default_text(tts_language(session))
    return later_plan(session, text, chunk_seconds, series, known=not own)


def later_plan(
    session: Session, text: str, chunk_seconds: float | None = None, series: str = "", *, known: bool = True
) -> Plan:
    """A text as the host asks for what comes after the first sentence; how, depends on its length."""
    long = len(text) >= speech_texts()["preset"]["long"]["characters"]
    chosen = session.options.chunk_seconds if chunk_seconds is None else chunk_seconds
    return _plan(session, "long" if long else "short", text, chosen, series, known=known)


def preset_plan(session: Session, name: str) -> Plan:
    """A text of ours as the host asks for a `first`, `short` or `long` sentence."""
    text = default_text(tts_language(session), "sentence" if name == "long" else name)
    return _plan(session, name, text, session.options.chunk_seconds, f"_{name}")


def _plan(session: Session, name: str, text: str, chunk_seconds: float, series: str, *, known: bool = True) -> Plan:
    data = speech_texts()
    preset = data["preset"][name]
    options = dict(preset["options"])
    if session.chosen.device_kind == "hip":
        options["sample_steps"] = min(options["sample_steps"], data["rocm"]["most_steps"])
    if "longest" in preset:
        limit = preset["longest"]
        seconds = limit["per_character"] * len(text)
        options["max_sec_override"] = min(max(seconds, limit["least"]), limit["most"])
    speed = preset["speed"]
    if preset["blocks"] == "by_length":
        chunk_seconds = host_block_seconds(len(text), speed)
    return Plan(series, text, speed, chunk_seconds, options, known)


def host_block_seconds(characters: int, speed: float) -> float:
    """How long the host makes the blocks of a first sentence on ROCm, in seconds."""
    table = speech_texts()["block_length"]
    if characters <= table["tiny"]["characters"]:
        return table["tiny"]["seconds"]
    estimate = table["estimate"]
    seconds = (estimate["per_character"] * characters + estimate["plus"]) / speed
    seconds = min(max(seconds, estimate["least"]), estimate["most"])
    parts = table["small"]["parts"] if characters <= table["small"]["characters"] else table["parts"]
    return min(max(seconds / parts, table["least"]), table["most"])


def plausible_seconds(text: str, language: str, speed: float) -> tuple[float, float]:
    """The shortest and the longest speech that could be this text; a short one may have a breath around it."""
    limits = speech_texts()["duration"][language]
    ways = zip(limits["digit"], limits["initial"], strict=True)
    least, most = (spoken_units(text, language, digit, initial) for digit, initial in ways)
    return max(0.05, limits["least"] * least / speed - 0.3), limits["most"] * most / speed + 1.5


def spoken_units(text: str, language: str, digit: float, initial: float) -> float:
    """About how much there is to say: characters in English, else morae (Japanese) or syllables (Chinese).

    A digit is read as a word of `digit` units, and so is each letter of an initialism (USB), of `initial` units. Other
    Latin letters inside Japanese or Chinese count half each.
    """
    letters = sum(map(len, _INITIALISM.findall(text)))
    return letters * initial + _plain_units(_INITIALISM.sub("", text), language, digit)


def _plain_units(text: str, language: str, digit: float) -> float:
    if language == "en":
        return sum(digit if letter.isdigit() else float(not letter.isspace()) for letter in text)
    han = 2.0 if language == "ja" else 1.0
    return sum(_unit(letter, han, digit) for letter in text)


def _unit(letter: str, han: float, digit: float) -> float:
    if letter in "ゃゅょャュョ" or (not letter.isalnum() and letter != "ー"):
        return 0.0
    if "\u3400" <= letter <= "\u9fff":
        return han
    if letter.isdigit():
        return digit
    return 1.0 if "\u3040" <= letter <= "\u30ff" else 0.5
