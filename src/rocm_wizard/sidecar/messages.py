"""Messages of the wire, decoded and validated. Facts: the host project's sidecars, as in `docs/wire.md`."""

import base64
import binascii
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

type Samples = NDArray[np.float32]

LANGUAGE_LABELS = {"ja": "日文", "en": "英文", "zh": "中文"}
"""How `text_language` and `prompt_language` of a request name the languages."""

_SHOWN = 120


class ProtocolError(Exception):
    """A message that breaks the wire. `rule` is a stable name, `shown` a short harmless excerpt."""

    def __init__(self, rule: str, shown: str = "") -> None:
        super().__init__(f"{rule}: {shown}" if shown else rule)
        self.rule = rule
        self.shown = shown


def excerpt(data: bytes) -> str:
    """The beginning of a line, escaped so that it can be shown anywhere."""
    shown = "".join(chr(byte) if 0x20 <= byte < 0x7F else f"\\x{byte:02x}" for byte in data[:_SHOWN])
    return shown + ("…" if len(data) > _SHOWN else "")


def decode_line(data: bytes) -> dict[str, Any]:
    """One stdout line as a message object.

    Raises:
        ProtocolError: `not_utf8`, `text_on_stdout` (no JSON), `not_an_object`, `no_type`.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise ProtocolError("not_utf8", excerpt(data)) from None
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        raise ProtocolError("text_on_stdout", excerpt(data)) from None
    if not isinstance(message, dict):
        raise ProtocolError("not_an_object", excerpt(data))
    if not isinstance(message.get("type"), str):
        raise ProtocolError("no_type", excerpt(data))
    return message


@dataclass(frozen=True, slots=True)
class Ready:
    """A sidecar's first message. Fields it did not send are None; what we do not know is in `extra`.

    `says_hip`: it has the field `hip` at all. The checkout's ASR sidecar does not send it, on ROCm neither.
    """

    device: str
    torch: str | None
    hip: str | None
    load_ms: float | None
    warmup_ms: float | None
    extra: Mapping[str, Any]
    says_hip: bool = True

    @property
    def device_kind(self) -> str:
        """cpu, cuda, hip or mps: HIP devices call themselves `cuda` too, only `hip` tells them apart."""
        kind = self.device.partition(":")[0]
        return "hip" if kind == "cuda" and self.hip else kind


def parse_ready(message: Mapping[str, Any]) -> Ready:
    """Reads a `ready` message.

    Raises:
        ProtocolError: `bad_ready`: no device.
    """
    device = message.get("device")
    if not isinstance(device, str) or not device:
        raise ProtocolError("bad_ready", "no device")
    known = ("type", "device", "torch", "hip", "load_ms", "warmup_ms")
    return Ready(
        device=device,
        torch=_text(message.get("torch")),
        hip=_text(message.get("hip")),
        load_ms=_number(message.get("load_ms")),
        warmup_ms=_number(message.get("warmup_ms")),
        extra={name: value for name, value in message.items() if name not in known},
        says_hip="hip" in message,
    )


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:  # JSON integers have no limit
        return None
    return number if math.isfinite(number) else None


@dataclass(frozen=True, slots=True)
class Chunk:
    """One block of an utterance: float32 mono samples at `sample_rate` hertz.

    `timing`: milliseconds that making it took, by stage, where the sidecar says so (`cfm_ms`, `bigvgan_ms`).
    """

    sample_rate: int
    samples: Samples
    text: str
    timing: Mapping[str, float] = field(default_factory=dict[str, float])


def parse_chunk(message: Mapping[str, Any]) -> Chunk:
    """Reads a `chunk` message.

    Raises:
        ProtocolError: `bad_sample_rate`, `bad_base64`, `odd_byte_count`, `empty_chunk`, `not_finite`.
    """
    rate = message.get("sample_rate")
    if not isinstance(rate, int) or isinstance(rate, bool) or not 1000 <= rate <= 384000:
        raise ProtocolError("bad_sample_rate", repr(rate)[:40])
    encoded = message.get("audio_b64")
    if not isinstance(encoded, str):
        raise ProtocolError("bad_base64", "no audio_b64")
    try:
        raw = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ProtocolError("bad_base64", str(error)) from None
    if len(raw) % 4:
        raise ProtocolError("odd_byte_count", str(len(raw)))
    if not raw:
        raise ProtocolError("empty_chunk")
    samples = np.frombuffer(raw, dtype="<f4")
    finite = np.isfinite(samples)
    if not finite.all():
        raise ProtocolError("not_finite", f"{int(samples.size - finite.sum())} of {samples.size} samples")
    text = message.get("text")
    return Chunk(rate, samples, text if isinstance(text, str) else "", _timing(message.get("timing")))


def _timing(value: Any) -> dict[str, float]:
    items = value.items() if isinstance(value, dict) else ()
    return {str(name): number for name, said in items if (number := _number(said)) is not None}


def parse_text(message: Mapping[str, Any]) -> str:
    """The text of a `result` message.

    Raises:
        ProtocolError: `bad_result`: no text, or no Unicode (half of a surrogate pair).
    """
    text = message.get("text")
    if not isinstance(text, str):
        raise ProtocolError("bad_result", "result without text")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ProtocolError("bad_result", "text with half a surrogate pair") from None
    return text


def encode(message: Mapping[str, Any]) -> bytes:
    """A request as one ASCII-escaped line."""
    return json.dumps(message, ensure_ascii=True, allow_nan=False).encode("ascii") + b"\n"


def encode_samples(samples: Samples) -> str:
    """float32 little-endian mono as base64."""
    return base64.b64encode(samples.astype("<f4", copy=False).tobytes()).decode("ascii")


def device_memory(message: Mapping[str, Any]) -> int | None:
    """Bytes that a sidecar of ours says it holds on its GPU, in a `result` or `done`; None where it does not say."""
    value = message.get("device_memory_bytes")
    return value if isinstance(value, int) and not isinstance(value, bool) else None
