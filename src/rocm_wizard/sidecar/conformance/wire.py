"""One child under examination: raw lines in both directions, and the rules that hold for every line."""

import json
import time
from collections.abc import Mapping
from typing import Any, NoReturn

from rocm_wizard.runner.spec import Child, ChildGone, ChildTimeout, Line, LineTooLong
from rocm_wizard.sidecar.channel import Traffic, settled_bytes
from rocm_wizard.sidecar.host_limits import HOST_ANSWER_SECONDS, HOST_READY_SECONDS, STDERR_LIMIT
from rocm_wizard.sidecar.messages import ProtocolError, decode_line, excerpt, parse_chunk
from rocm_wizard.sidecar.told import decode_told

MOST_BYTES = 160 * 2**20
"""No answer is that long: ten minutes of sound at 48 kHz are 154 MB."""
_CHUNK_RULES = {
    "empty_chunk": "no_empty_chunk",
    "not_finite": "finite_samples",
    "bad_base64": "chunk_payload",
    "odd_byte_count": "chunk_payload",
    "bad_sample_rate": "constant_rate",
}


_BACKLOG = 1.0
"""Seconds after the deadline in which lines that came before it are still read."""


class Lost(Exception):
    """The child cannot be examined any further: it died, fell silent, or its channel broke."""


class Wire:
    """Sends and receives; `broken` collects the rules that any line broke, with the first example.

    `host_ready` and `host_answer` are the host's own limits in seconds, judged and not enforced.
    """

    def __init__(
        self,
        child: Child,
        seconds: float,
        host_ready: float = HOST_READY_SECONDS,
        host_answer: float = HOST_ANSWER_SECONDS,
    ) -> None:
        self.child = child
        self._hiding = child.spec.hiding()
        self.broken: dict[str, str] = {}
        self.seen: set[str] = set()
        self._seconds = seconds
        self._host_answer = host_answer
        self._host_limit = host_ready
        self._stderr, self._ready = 0, False
        self._traffic = Traffic()
        self._bytes = 0
        self._began = time.monotonic()

    def send(self, line: bytes) -> None:
        """Writes one line as it is, newline added."""
        self._bytes, self._began, self._host_limit = 0, time.monotonic(), self._host_answer
        try:
            self.child.send(line + b"\n", self._seconds)
        except ChildTimeout:
            raise Lost(f"took no input for {self._seconds:g} s") from None
        except ChildGone:
            self._died()

    def ask(self, message: Mapping[str, Any]) -> None:
        """Writes one request."""
        self.send(json.dumps(message, allow_nan=False).encode("ascii"))

    def receive(self, seconds: float | None = None) -> dict[str, Any]:
        """The next message. Lines that are none are noted and skipped; a flood of them is a loss."""
        seconds = self._seconds if seconds is None else seconds
        deadline = time.monotonic() + seconds
        while True:
            try:
                line = self.child.read(max(0.0, deadline - time.monotonic()))
            except ChildTimeout:
                raise Lost(f"said nothing for {seconds:g} s") from None
            except LineTooLong:
                raise Lost(f"wrote a line of more than {self.child.spec.line_limit} bytes") from None
            if line is None:
                self._died()
            self._bytes += len(line.data)
            if self._bytes > MOST_BYTES:
                raise Lost(f"sent more than {MOST_BYTES // 2**20} MiB without an end")
            # A child that never stops talking is late too, though there is always a line.
            if seconds and max(line.arrived, time.monotonic() - _BACKLOG) > deadline:
                raise Lost(f"sent no message within {seconds:g} s")
            if line.torn and not is_message(line.data):
                self._died()
            message = self.judge_line(line)
            if message is not None:
                self._judge_time(line.arrived)
                return message

    def _judge_time(self, arrived: float) -> None:
        self.seen.add("host_limits")
        took = arrived - self._began
        if took > self._host_limit:
            self.note("host_limits", f"took {took:.1f} s, the host waits {self._host_limit:g} s")

    def waiting(self, seconds: float) -> dict[str, Any] | None:
        """A message that is there already, or comes within seconds."""
        try:
            return self.receive(seconds)
        except Lost:
            return None

    def judge_line(self, line: Line) -> dict[str, Any] | None:
        """Notes what the line breaks; gives its message, None when it is none."""
        self.seen |= {"pure_stdout", "ascii_only", "strict_json"}
        if not line.data.isascii():
            self.note("ascii_only", excerpt(self._hiding.data(line.data)))
        try:
            message = decode_told(line.data, self._hiding)
        except ProtocolError as error:
            self.note("pure_stdout", f"{error.rule}: {error.shown}")
            return None
        if b"NaN" in line.data or b"Infinity" in line.data:  # base64 may hold the letters too
            try:
                json.loads(line.data, parse_constant=_refuse)
            except ValueError as error:
                self.note("strict_json", str(error))
        if message["type"] == "chunk":
            self._judge_chunk(message)
        return message

    def _judge_chunk(self, message: Mapping[str, Any]) -> None:
        try:
            parse_chunk(message)
        except ProtocolError as error:
            self.note(_CHUNK_RULES[error.rule], error.shown or error.rule)
        else:  # a chunk that cannot be read shows nothing of the other rules
            self.seen |= {*_CHUNK_RULES.values()}

    def count_stderr(self, *, proper: bool) -> None:
        """Notes when a pipe that nobody reads is full of what was logged before `ready` and with proper requests.

        `proper`: the request since the last call was one. A child may explain what was wrong with the others.
        """
        settled = settled_bytes(self.child)
        said, self._stderr = settled - self._stderr, settled
        if not self._ready:
            self._ready, self._traffic.stderr_before_ready = True, said
        elif proper:
            self._traffic.stderr_worst_request = max(self._traffic.stderr_worst_request, said)
        self.seen.add("stderr_volume")
        full = self._traffic.requests_until_full(STDERR_LIMIT)
        if full is not None:
            before, worst = self._traffic.stderr_before_ready, self._traffic.stderr_worst_request
            self.note(
                "stderr_volume",
                f"{before} bytes before ready and up to {worst} with a request: full after {full} requests",
            )

    def note(self, rule: str, detail: str) -> None:
        """A rule was broken; the first example stays."""
        self.broken.setdefault(rule, detail)

    def _died(self) -> NoReturn:
        report = self.child.stop(grace=2.0)
        tail = self.child.stderr_tail()
        last = f"; last words: {tail[-1]}" if tail else ""
        raise Lost(f"ended with {report.meaning}{last}")


def is_message(data: bytes) -> bool:
    """Whether a line is one."""
    try:
        decode_line(data)
    except ProtocolError:
        return False
    return True


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
