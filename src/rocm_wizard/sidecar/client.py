"""A sidecar's client: ready, then strictly one request at a time. Times are the host's, at a line's arrival."""

import time
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rocm_wizard.qualification.clean import clean_text
from rocm_wizard.runner.spec import Child, ChildGone, ChildTimeout, ExitReport, LineTooLong
from rocm_wizard.sidecar.messages import (
    Chunk,
    ProtocolError,
    Ready,
    Samples,
    decode_line,
    encode,
    encode_samples,
    parse_chunk,
    parse_ready,
)


class SidecarError(Exception):
    """Something a sidecar did. `kind` is a stable name, `detail` what it said or when."""

    def __init__(self, kind: str, detail: str = "", rule: str = "", exit: ExitReport | None = None) -> None:
        super().__init__(detail or kind)
        self.kind = kind
        self.detail = clean_text(detail)
        self.rule = rule
        self.exit = exit


@dataclass(frozen=True, slots=True)
class Received:
    """A message and when its last byte arrived (`time.monotonic()`)."""

    message: Mapping[str, Any]
    arrived: float


@dataclass(frozen=True, slots=True)
class Transcript:
    """A recogniser's answer; `seconds` is request written to answer read."""

    text: str
    seconds: float
    extra: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Block:
    """One block of speech as it arrived, `seconds` after the request was written."""

    index: int
    chunk: Chunk
    seconds: float


class SidecarClient:
    """Speaks the wire with one child.

    Every method raises `SidecarError` with kind `not_ready` (deadline), `load_failed`, `silent` (deadline), `died`,
    `refused` (an `error` message), `protocol` (with the broken rule), or `stuck` (takes no input).
    """

    def __init__(self, child: Child, *, ready_seconds: float, message_seconds: float) -> None:
        self.child = child
        self.unknown_messages = 0
        self._ready_seconds = ready_seconds
        self._message_seconds = message_seconds
        self._started = time.monotonic()

    def wait_ready(self) -> tuple[Ready, float]:
        """The `ready` message and the seconds it took."""
        deadline = self._started + self._ready_seconds
        received = self._receive(deadline, "not_ready")
        kind = received.message["type"]
        if kind == "error":
            raise SidecarError("load_failed", str(received.message.get("msg", "")))
        if kind != "ready":
            raise SidecarError("protocol", f"type {kind[:40]!r} before ready", "not_ready_first")
        try:
            return parse_ready(received.message), received.arrived - self._started
        except ProtocolError as error:
            raise SidecarError("protocol", error.shown, error.rule) from error

    def transcribe(self, samples: Samples, sample_rate: int, language: str | None) -> Transcript:
        """Sends one utterance; the answer carries no id on this wire, so nothing else may be under way."""
        request = {"audio_b64": encode_samples(samples), "sample_rate": sample_rate, "language": language}
        sent = self._send(request)
        message, arrived = self._answer(("result",), None)
        text = message.get("text")
        if not isinstance(text, str):
            raise SidecarError("protocol", "result without text", "bad_result")
        extra = {name: value for name, value in message.items() if name not in ("type", "text")}
        return Transcript(text, arrived - sent, extra)

    def speak(self, request: Mapping[str, Any]) -> Iterator[Block | Mapping[str, Any]]:
        """Streams one utterance: blocks as they arrive, and the `done` message last."""
        request_id = uuid.uuid4().hex
        sent = self._send({"type": "infer_stream", "request_id": request_id, "request": dict(request)})
        index, rate = 0, None
        while True:
            message, arrived = self._answer(("chunk", "done"), request_id)
            if message["type"] == "done":
                if index == 0:
                    raise SidecarError("protocol", "done without audio", "no_audio")
                yield message
                return
            try:
                chunk = parse_chunk(message)
                if rate not in (None, chunk.sample_rate):
                    raise ProtocolError("sample_rate_changed", f"{rate} to {chunk.sample_rate}")
            except ProtocolError as error:
                raise SidecarError("protocol", error.shown, error.rule) from error
            rate = chunk.sample_rate
            yield Block(index, chunk, arrived - sent)
            index += 1

    def _answer(self, wanted: tuple[str, ...], request_id: str | None) -> tuple[Mapping[str, Any], float]:
        deadline = time.monotonic() + self._message_seconds
        while True:
            received = self._receive(deadline, "silent")
            message = received.message
            kind = message["type"]
            if kind == "error":
                raise SidecarError("refused", str(message.get("msg", "")))
            if kind not in wanted:
                self.unknown_messages += 1
                continue
            answered = message.get("request_id", request_id if request_id is None else "")
            if request_id is not None and answered != request_id:
                raise SidecarError("protocol", f"{str(answered)[:40]!r} in place of {request_id!r}", "wrong_request_id")
            return message, received.arrived

    def _send(self, message: Mapping[str, Any]) -> float:
        try:
            self.child.send(encode(message), self._message_seconds)
        except ChildTimeout:
            raise SidecarError("stuck", f"{self._message_seconds:g} s") from None
        except ChildGone:
            raise self._died() from None
        return time.monotonic()

    def _receive(self, deadline: float, late: str) -> Received:
        try:
            line = self.child.read(max(0.0, deadline - time.monotonic()))
        except ChildTimeout:
            raise SidecarError(late) from None
        except LineTooLong:
            raise SidecarError("protocol", f"over {self.child.spec.line_limit} bytes", "line_too_long") from None
        if line is None:
            raise self._died()
        try:
            return Received(decode_line(line.data), line.arrived)
        except ProtocolError as error:
            raise SidecarError("protocol", error.shown, error.rule) from error

    def _died(self) -> SidecarError:
        report = self.child.stop(grace=2.0)
        return SidecarError("died", str(report.meaning), exit=report)
