"""A sidecar's client: ready, then strictly one request at a time. Times are the host's, at a line's arrival."""

import time
import uuid
from collections.abc import Generator, Mapping
from typing import Any

from rocm_wizard.runner.spec import Child
from rocm_wizard.sidecar.answers import Block, Drained, Transcript
from rocm_wizard.sidecar.channel import Channel, Received, SidecarError, Traffic, broken, settled_bytes
from rocm_wizard.sidecar.messages import (
    ProtocolError,
    Ready,
    Samples,
    encode_samples,
    parse_chunk,
    parse_ready,
    parse_text,
)

__all__ = ["Block", "SidecarClient", "SidecarError", "Transcript"]

LONGEST_UTTERANCE = 600.0
"""Seconds of sound after which an utterance counts as endless."""
MOST_BLOCKS = 50_000
SLOWEST = 10
"""An utterance may take so many times what one message may: a child that drips on in time for each never ends."""

_UNASKED = {
    "ready": "second_ready",
    "result": "second_result",
    "chunk": "chunk_after_done",
    "done": "second_done",
    "error": "unasked_error",
}
"""The broken rule when a message of this type comes though nothing is under way."""


class SidecarClient:
    """Speaks the wire with one child.

    Every method raises `SidecarError` with kind `not_ready` (deadline), `load_failed`, `silent` (deadline), `died`,
    `refused` (an `error` message), `protocol` (with the broken rule), or `stuck` (takes no input). After `refused` the
    channel is as good as before. After anything else it is lost, because late answers could be taken for those to
    later requests: every further request raises `out_of_step`, and the child has to be stopped and started anew.

    Attributes:
        message_seconds: what one message may take.
        traffic: counts of what came.
        text_before_ready: lines that were no messages before `ready`, shortened, at most 5; only when tolerated.
        drained: the rest of the last interrupted utterance; None when none was.
    """

    def __init__(
        self, child: Child, *, ready_seconds: float, message_seconds: float, text_before_ready: bool = False
    ) -> None:
        self.child = child
        self.text_before_ready: list[str] = []
        self.drained: Drained | None = None
        self._channel = Channel(child)
        self._ready_seconds = ready_seconds
        self.message_seconds = message_seconds
        self._tolerant = text_before_ready
        self._started = time.monotonic()
        self._lost: SidecarError | None = None
        self._under_way: str | None = None
        self._ended_id: str | None = None
        self._interrupted = 0.0

    @property
    def traffic(self) -> Traffic:
        """What came so far."""
        return self._channel.traffic

    @property
    def channel(self) -> Channel:
        """The line-by-line half, for those who need several utterances under way at once."""
        return self._channel

    def request_log(self) -> list[str]:
        """The cleaned lines that the sidecar logged since the last request began, at most 200."""
        return self._channel.request_log()

    @property
    def unknown_messages(self) -> int:
        """Messages of types that the wire does not have."""
        return self.traffic.unknown_types.total()

    def wait_ready(self) -> tuple[Ready, float]:
        """The `ready` message and the seconds it took."""
        try:
            received = self._first_message()
            kind = received.message["type"]
            if kind == "error":
                raise SidecarError("load_failed", str(received.message.get("msg", "")))
            if kind != "ready":
                raise SidecarError("protocol", f"type {kind[:40]!r} before ready", "not_ready_first")
            try:
                ready = parse_ready(received.message)
            except ProtocolError as error:
                raise broken(error) from error
        except SidecarError as error:
            self._lost = error
            raise
        self._channel.ready_came()
        return ready, received.arrived - self._started

    def _first_message(self) -> Received:
        deadline = self._started + self._ready_seconds
        while True:
            try:
                return self._channel.receive(deadline, "not_ready")
            except SidecarError as error:
                if error.rule not in ("text_on_stdout", "not_utf8"):
                    raise
                if not self._tolerant:
                    raise SidecarError("protocol", error.detail, "text_before_ready") from error
                if len(self.text_before_ready) < 5:
                    self.text_before_ready.append(error.detail)

    def transcribe(self, samples: Samples, sample_rate: int, language: str | None) -> Transcript:
        """Sends one utterance; the answer carries no id on this wire, so nothing else may be under way."""
        request = {"audio_b64": encode_samples(samples), "sample_rate": sample_rate, "language": language}
        self.begin()
        try:
            sent = self._channel.send(request, self.message_seconds)
            received = self._answer("result", None)
            text = parse_text(received.message)
        except (SidecarError, ProtocolError) as error:
            raise self.failed(error) from error
        self._ended()
        extra = {name: value for name, value in received.message.items() if name not in ("type", "text")}
        return Transcript(text, received.arrived - sent, extra)

    def speak(self, request: Mapping[str, Any]) -> Generator[Block | Mapping[str, Any], None, None]:
        """Streams one utterance: blocks as they arrive, and the `done` message last.

        Closing the generator interrupts the utterance. The wire has no word for that: the sidecar goes on, and the next
        request first reads what is left.
        """
        return self._utterance("infer_stream", request)

    def infer(self, request: Mapping[str, Any]) -> tuple[Block, Mapping[str, Any]]:
        """Speaks one utterance as a whole: its one block, and the `done` message."""
        blocks: list[Block] = []
        for item in self._utterance("infer", request):
            if not isinstance(item, Block):
                return blocks[0], item
            blocks.append(item)
            if len(blocks) > 1:
                raise self.failed(ProtocolError("infer_many_chunks", "2 or more"))
        raise AssertionError("an utterance ends with its done message")

    def _utterance(self, kind: str, request: Mapping[str, Any]) -> Generator[Block | Mapping[str, Any], None, None]:
        self.begin()
        request_id = uuid.uuid4().hex
        index, rate, length = 0, 0, 0.0
        try:
            message = {"type": kind, "request_id": request_id, "request": dict(request)}
            sent = self._channel.send(message, self.message_seconds)
            self._under_way, self._interrupted = request_id, sent
            while (received := self._answer("chunk", request_id, "done")).message["type"] == "chunk":
                chunk = parse_chunk(received.message)
                if rate and rate != chunk.sample_rate:
                    raise ProtocolError("sample_rate_changed", f"{rate} to {chunk.sample_rate}")
                rate = chunk.sample_rate
                length += len(chunk.samples) / rate
                took = received.arrived - sent
                if length > LONGEST_UTTERANCE or index >= MOST_BLOCKS or took > SLOWEST * self.message_seconds:
                    raise ProtocolError("endless", f"{length:.0f} s of sound in {index} blocks after {took:.0f} s")
                block = Block(index, chunk, took)
                index += 1
                try:
                    yield block
                finally:
                    self._interrupted = time.monotonic()
                if self._under_way != request_id:
                    raise SidecarError("out_of_step", "another request was made in between")
            if index == 0:
                raise ProtocolError("no_audio", "done without audio")
        except (SidecarError, ProtocolError) as error:
            if isinstance(error, SidecarError) and error.kind == "silent" and index:
                error = SidecarError("silent", f"after block {index}, {length:.1f} s of sound")
            raise self.failed(error) from error
        self._ended()
        yield received.message

    def finish(self, grace: float) -> None:
        """Says that nothing more will come, and reads to the end of the stream; nothing may be on it.

        Raises:
            SidecarError: `protocol`: something came that nobody asked for. A child that does not end is no error here.
        """
        if self._lost is not None:
            return
        self._drain()
        settled_bytes(self.child)
        self._channel.request_settled()
        self.child.close_stdin()
        deadline = time.monotonic() + grace
        try:
            while (received := self._channel.receive_or_end(deadline, "lingers")) is not None:
                self._unasked(received)
        except SidecarError as error:
            if error.kind != "lingers":
                raise self.failed(error) from error

    def begin(self) -> None:
        """Before a request: nothing may be under way and nothing may be waiting on the channel. Raises as a request."""
        if self._lost is not None:
            raise SidecarError("out_of_step", f"after: {self._lost.rule or self._lost.kind}")
        self._drain()
        try:
            while (received := self._channel.waiting()) is not None:
                self._unasked(received)
        except SidecarError as error:
            raise self.failed(error) from error
        self._channel.request_begins()

    def _drain(self) -> None:
        """Reads the rest of an interrupted utterance."""
        if (request_id := self._under_way) is None:
            return
        blocks, last, said, stopped = 0, None, None, self._interrupted
        try:
            while (received := self._answer("chunk", request_id, "done")).message["type"] == "chunk":
                blocks, last = blocks + 1, parse_chunk(received.message)
                took = received.arrived - stopped
                if blocks >= MOST_BLOCKS or took > SLOWEST * self.message_seconds:
                    raise ProtocolError("endless", f"{blocks} blocks within {took:.0f} s after an interruption")
        except (SidecarError, ProtocolError) as error:
            failed = self.failed(error)
            if failed.kind != "refused":
                raise failed from error
            ended, said = time.monotonic(), failed.detail
        else:
            ended = received.arrived
        self._ended()
        self.drained = Drained(max(0.0, ended - stopped), blocks, last, said, self.request_log())

    def _answer(self, wanted: str, request_id: str | None, last: str = "") -> Received:
        deadline = time.monotonic() + self.message_seconds
        while True:
            received = self._channel.receive(deadline, "silent")
            message = received.message
            kind = message["type"]
            if kind == "error":
                if request_id is not None and message.get("request_id") not in (request_id, "", None):
                    raise self._wrong_id(message, request_id)
                raise SidecarError("refused", str(message.get("msg", "")))
            if kind in (wanted, last):
                if request_id is not None and message.get("request_id") != request_id:
                    raise self._wrong_id(message, request_id)
                return received
            if kind in _UNASKED:
                rule = "second_ready" if kind == "ready" else "wrong_answer_type"
                raise SidecarError("protocol", f"{kind!r} in place of {wanted!r}", rule)

    def _unasked(self, received: Received) -> None:
        kind = received.message["type"]
        if kind in _UNASKED:
            raise SidecarError("protocol", f"{kind!r} without a request", _UNASKED[kind])

    def _wrong_id(self, message: Mapping[str, Any], request_id: str) -> SidecarError:
        answered, kind = message.get("request_id"), message["type"]
        if answered is not None and answered == self._ended_id:
            return SidecarError("protocol", f"{kind!r} of the request before", _UNASKED[kind])
        shown = str(answered or "")[:40]
        return SidecarError("protocol", f"{shown!r} in place of {request_id!r}", "wrong_request_id")

    def failed(self, error: SidecarError | ProtocolError, *, alone: bool = True) -> SidecarError:
        """The error to raise; anything but a refusal loses the channel, and that too if the request was not `alone`."""
        failed = broken(error) if isinstance(error, ProtocolError) else error
        self._ended()
        if failed.kind != "refused" or not alone:
            self._lost = self._lost or failed
        return failed

    def _ended(self) -> None:
        """A request is over, well or not."""
        self._ended_id, self._under_way = self._under_way, None
        self._channel.request_ended()
