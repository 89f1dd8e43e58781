"""The line-by-line half of the wire: one child's pipes, with deadlines, and counts of all that came through them."""

import math
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rocm_wizard.qualification.clean import clean_text
from rocm_wizard.runner.spec import Child, ChildGone, ChildTimeout, ExitReport, Line, LineTooLong
from rocm_wizard.sidecar.fields import KNOWN_FIELDS
from rocm_wizard.sidecar.messages import ProtocolError, encode
from rocm_wizard.sidecar.told import decode_told

_SETTLED = 0.03
_SETTLING = 0.3
_NAMES_KEPT = 20
_BACKLOG = 1.0
"""Seconds after the deadline in which lines that came before it are still read."""
_MOST_UNKNOWN = 10_000
"""Messages of unknown types during one request: more come from a child that will never answer."""
_NAME_CAP = 40


class SidecarError(Exception):
    """Something a sidecar did. `kind` is a stable name, `detail` what it said or when."""

    def __init__(self, kind: str, detail: str = "", rule: str = "", exit: ExitReport | None = None) -> None:
        super().__init__(detail or kind)
        self.kind = kind
        self.detail = clean_text(detail.encode("utf-8", "backslashreplace").decode("utf-8"))
        self.rule = rule
        self.exit = exit


@dataclass(frozen=True, slots=True)
class Received:
    """A message, when its last byte arrived (`time.monotonic()`), and whether its line was ASCII throughout."""

    message: Mapping[str, Any]
    arrived: float
    ascii: bool = True


@dataclass(slots=True)
class Traffic:
    """What came from a child: messages, their size in bytes, and names that we do not know, each with its count.

    `stderr_before_ready` and `stderr_worst_request` are bytes: a host that never reads them loses the child when the
    pipe is full, at 4 KiB on Windows.
    """

    messages: int = 0
    size: int = 0
    unknown_types: Counter[str] = field(default_factory=Counter[str])
    unknown_fields: Counter[str] = field(default_factory=Counter[str])
    stderr_before_ready: int = 0
    stderr_worst_request: int = 0

    def requests_until_full(self, limit: int) -> int | None:
        """After how many requests a pipe of `limit` bytes that nobody reads is full: 0 at the first at the latest.

        None: nothing is logged during requests, and what was logged before them fits.
        """
        left = limit - self.stderr_before_ready
        if left < 0:
            return 0
        return left // self.stderr_worst_request if self.stderr_worst_request else None

    def count(self, data: bytes, message: Mapping[str, Any]) -> None:
        """Takes one message and its line."""
        self.messages += 1
        self.size += len(data) + 1
        known = KNOWN_FIELDS.get(message["type"])
        if known is None:
            _add(self.unknown_types, message["type"])
            return
        for name in message.keys() - known:
            _add(self.unknown_fields, f"{message['type']}.{name}")


def _add(counter: "Counter[str]", name: str) -> None:
    """At most so many different names: a child that invents them must not fill our memory."""
    name = ascii(name)[1:-1][:_NAME_CAP]
    counter[name if name in counter or len(counter) < _NAMES_KEPT else "…"] += 1


def settled_bytes(child: Child) -> int:
    """The bytes of a child's stderr, once no more of them come (or after a moment)."""
    ends, seen = time.monotonic() + _SETTLING, -1
    while seen != (now := child.stderr_bytes()) and time.monotonic() < ends:
        seen = now
        time.sleep(_SETTLED)
    return now


class Channel:
    """Sends and receives messages. Raises `SidecarError`: `stuck`, `died`, `protocol`, or what `late` names."""

    def __init__(self, child: Child) -> None:
        self.child = child
        self.traffic = Traffic()
        self._hiding = child.spec.hiding()
        self._bytes_mark = 0
        self._lines_mark = 0
        self._unknown_mark = 0
        self._ended = -math.inf

    def ready_came(self) -> None:
        """What was logged so far was logged before `ready`."""
        self.traffic.stderr_before_ready = self._bytes_mark = self.child.stderr_bytes()

    def request_begins(self) -> None:
        """What is logged from now on belongs to a request."""
        self.request_settled()
        self._bytes_mark, self._lines_mark = self.child.stderr_bytes(), self.child.stderr_lines()
        self._unknown_mark = self.traffic.unknown_types.total()

    def request_ended(self) -> None:
        """Counts what was logged during a request."""
        self._ended = time.monotonic()
        self.request_settled()

    def request_settled(self) -> None:
        """Counts what came late of the last request: stderr is read by a thread of its own.

        What comes much later is no request's.
        """
        if time.monotonic() - self._ended < _SETTLING:
            said = self.child.stderr_bytes() - self._bytes_mark
            self.traffic.stderr_worst_request = max(self.traffic.stderr_worst_request, said)

    def request_log(self) -> list[str]:
        """The cleaned lines logged since the last request began, at most 200.

        stderr is a pipe of its own: what a child logged before its answer may be read a moment after it.
        """
        settled_bytes(self.child)
        tail, count = self.child.stderr_tail(), self.child.stderr_lines() - self._lines_mark
        return tail[-count:] if count > 0 else []

    def send(self, message: Mapping[str, Any], seconds: float) -> float:
        """Writes one message; gives the moment it was taken."""
        return self.send_line(encode(message), seconds)

    def send_line(self, line: bytes, seconds: float) -> float:
        """Writes any bytes; gives the moment they were taken."""
        try:
            self.child.send(line, seconds)
        except ChildTimeout:
            raise SidecarError("stuck", f"{seconds:g} s") from None
        except ChildGone:
            raise self.died() from None
        return time.monotonic()

    def receive(self, deadline: float, late: str) -> Received:
        """The next message. A child that breaks off within a line has died and did not print something else."""
        line = self._line(deadline, late)
        if line is None:
            raise self.died()
        try:
            return self._received(line)
        except ProtocolError as error:
            if line.torn:
                raise self.died(f", after half a line: {error.shown}" if error.shown else "") from error
            raise broken(error) from error

    def receive_or_end(self, deadline: float, late: str) -> Received | None:
        """The next message, None at the end of the stream. A deadline of 0 takes only what is there already."""
        line = self._line(deadline, late)
        try:
            return None if line is None else self._received(line)
        except ProtocolError as error:
            raise broken(error) from error

    def _line(self, deadline: float, late: str) -> Line | None:
        try:
            line = self.child.read(max(0.0, deadline - time.monotonic()))
        except ChildTimeout:
            raise SidecarError(late) from None
        except LineTooLong:
            raise SidecarError("protocol", f"over {self.child.spec.line_limit} bytes", "line_too_long") from None
        # A child that never stops talking is late too, though there is always a line that came in time.
        if line is not None and 0 < deadline < max(line.arrived, time.monotonic() - _BACKLOG):
            raise SidecarError(late)
        return line

    def _received(self, line: Line) -> Received:
        message = decode_told(line.data, self._hiding)
        self.traffic.count(line.data, message)
        if self.traffic.unknown_types.total() - self._unknown_mark > _MOST_UNKNOWN:
            raise SidecarError("protocol", f"over {_MOST_UNKNOWN}", "unknown_flood")
        return Received(message, line.arrived, line.data.isascii())

    def waiting(self) -> Received | None:
        """A message that is there already, None when there is none (or the stream has ended)."""
        try:
            return self.receive_or_end(0.0, "nothing")
        except SidecarError as error:
            if error.kind == "nothing":
                return None
            raise

    def died(self, more: str = "") -> SidecarError:
        """How the child ended, as an error; `more` joins its words."""
        report = self.child.stop(grace=2.0)
        return SidecarError("died", f"{report.meaning}{more}", exit=report)


def broken(error: ProtocolError) -> SidecarError:
    """A broken rule as the error of the whole channel."""
    return SidecarError("protocol", error.shown, error.rule)
