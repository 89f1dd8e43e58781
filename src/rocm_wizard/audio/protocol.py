"""The player's wire: strict JSON Lines in, ASCII-escaped JSON Lines out. The messages are listed in `player`."""

import base64
import binascii
import json
import os
import select
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, NoReturn

import numpy as np
from numpy.typing import NDArray

LINE_LIMIT = 32 * 1024 * 1024
RATES = range(4_000, 384_001)
_READ_BYTES = 1 << 16


class ProtocolError(Exception):
    """The host broke the protocol; `reason` is a stable word, the text says what was wrong."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(text)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Open:
    sample_rate: int
    device: str | None = None
    host_api: str | None = None
    or_default: bool = False
    resumed: bool = False


@dataclass(frozen=True, slots=True)
class Audio:
    frames: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class End:
    pass


@dataclass(frozen=True, slots=True)
class Stop:
    pass


Message = Open | Audio | End | Stop


class LineReader:
    """Lines from a descriptor, read with `os.read`: a thread stuck in it holds no lock that the exit would need."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._buffer = bytearray()
        self._seen = 0

    def read(self) -> bytes | None:
        """The next line without its end; None at end of file (a torn last line is dropped). May raise ProtocolError."""
        while (end := self._buffer.find(b"\n", self._seen)) < 0:
            self._seen = len(self._buffer)
            if self._seen > LINE_LIMIT:
                raise ProtocolError("line_too_long", f"a line exceeds {LINE_LIMIT} bytes")
            data = os.read(self._descriptor, _READ_BYTES)
            if not data:
                return None
            self._buffer += data
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        self._seen = 0
        return line

    def host_is_gone(self) -> bool:
        """Whether the other end is closed even though unread lines remain. Always False on Windows: pipes there tell
        it only once they are empty."""
        if not hasattr(select, "poll"):
            return False
        poll = select.poll()
        poll.register(self._descriptor, 0)
        return any(flags & (select.POLLHUP | select.POLLERR) for _, flags in poll.poll(0))


class Writer:
    """One JSON object a line on a private copy of standard output."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def send(self, kind: str, **fields: Any) -> None:
        """Raises BrokenPipeError (another OSError on Windows) when the host is gone."""
        line = json.dumps({"type": kind, **fields}, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
        self._stream.write(line.encode("ascii") + b"\n")
        self._stream.flush()


def claim_stdout() -> Writer:
    """Keeps descriptor 1 for the protocol: PortAudio and ALSA print without asking Python, so 1 then leads to 2."""
    wire = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return Writer(os.fdopen(wire, "wb"))


def decode(line: bytes) -> Message | None:
    """One line as a message; None for a blank one. Raises ProtocolError for anything else."""
    if not line.strip():
        return None
    try:
        fields = json.loads(line.decode("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise ProtocolError("not_json", "a line is not JSON") from error
    if not isinstance(fields, dict):
        raise ProtocolError("not_an_object", "a message is a JSON object")
    match fields.get("type"):
        case "open":
            return Open(
                _rate(fields),
                _name(fields, "device"),
                _name(fields, "host_api"),
                fields.get("or_default") is True,
                fields.get("resumed") is True,
            )
        case "audio":
            return Audio(_frames(fields))
        case "end":
            return End()
        case "stop":
            return Stop()
        case other:
            raise ProtocolError("unknown_type", f"unknown message type {str(other)[:40]!r}")


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _rate(fields: Mapping[str, Any]) -> int:
    rate = fields.get("sample_rate")
    if type(rate) is not int or rate not in RATES:
        raise ProtocolError("bad_rate", f"sample_rate is an integer from {RATES.start} to {RATES.stop - 1}")
    return rate


def _name(fields: Mapping[str, Any], field: str) -> str | None:
    name = fields.get(field)
    if name is not None and not isinstance(name, str):
        raise ProtocolError("bad_device", f"{field} is a name or null")
    return name


def _frames(fields: Mapping[str, Any]) -> NDArray[np.float32]:
    text = fields.get("audio_b64")
    if not isinstance(text, str):
        raise ProtocolError("bad_audio", "audio_b64 is a string")
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ProtocolError("bad_audio", "audio_b64 is not base64") from error
    if not data or len(data) % 4:
        raise ProtocolError("bad_audio", f"{len(data)} bytes are not whole float32 frames")
    frames = np.frombuffer(data, "<f4").astype(np.float32, copy=False)
    if not np.isfinite(frames).all():
        raise ProtocolError("bad_audio", "a sample is NaN or infinite")
    return frames
