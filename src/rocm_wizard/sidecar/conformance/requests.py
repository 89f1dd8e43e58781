"""Requests to try: proper ones, and one for every way of getting them wrong."""

import base64
from dataclasses import dataclass
from typing import Any

import numpy as np

from rocm_wizard.sidecar.messages import LANGUAGE_LABELS

ASR_RATE = 16_000
TEXTS = {
    "en": ("Good evening.", "This is the first sentence of two. This is the second one, and it is a little longer."),
    "ja": ("こんばんは。", "これは一つ目の文です。これは二つ目の文で、もう少し長いです。"),
    "zh": ("晚上好。", "这是两句话中的第一句。这是第二句，稍微长一点。"),
}
"""A short and a long text in each language."""


@dataclass(frozen=True, slots=True)
class Voice:
    """What a TTS sidecar needs to speak at all; `reference` "" for one that needs no recording."""

    language: str = "en"
    reference: str = ""
    reference_text: str = ""


def audio(seconds: float, *, value: float | None = None) -> str:
    """A quiet 220 Hz tone, or one value throughout, as the wire carries it."""
    count = round(ASR_RATE * seconds)
    time = np.arange(count, dtype=np.float32) / ASR_RATE
    samples = 0.05 * np.sin(2 * np.pi * 220 * time) if value is None else np.full(count, value)
    return base64.b64encode(samples.astype("<f4").tobytes()).decode("ascii")


def asr_request(**changes: Any) -> dict[str, Any]:
    """A second of silence, which is soon recognised, as English; a change to None is sent as null."""
    return {"audio_b64": audio(1, value=0.0), "sample_rate": ASR_RATE, "language": "English", "context": ""} | changes


def tts_request(
    voice: Voice, request_id: str, /, *, kind: str = "infer_stream", text: str | None = None, **more: Any
) -> dict[str, Any]:
    """A short text in blocks of 0.4 s; `more` joins or replaces fields of the inner request."""
    label = LANGUAGE_LABELS[voice.language]
    request: dict[str, Any] = {
        "text": TEXTS[voice.language][0] if text is None else text,
        "language": voice.language,
        "speed": 1.0,
        "options": {"text_language": label, "prompt_language": label},
    }
    if kind == "infer_stream":
        request["chunk_size_seconds"] = 0.4
    if voice.reference:
        request |= {
            "reference_audio": voice.reference,
            "reference_text": voice.reference_text,
            "reference_language": voice.language,
        }
    return {"type": kind, "request_id": request_id, "request": request | more}
