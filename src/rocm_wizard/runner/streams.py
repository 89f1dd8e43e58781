"""Threads that keep a child's pipes moving: stdout into lines, stderr into a ring and a file, stdin from a queue."""

import queue
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import IO

from rocm_wizard.qualification.clean import clean_line
from rocm_wizard.runner.spec import STDERR_LINES_KEPT, ChildGone, ChildTimeout, Line, LineTooLong

_CHUNK = 65536
_BUFFERED_BYTES = 64 * 2**20
_LINE_COST = 160
_LOG_PERIOD = 0.1
_LOG_LINES_A_BATCH = 40
_STDERR_LINE_CAP = 16 * 1024


class StdoutReader(threading.Thread):
    """Splits stdout into stamped lines; stops reading (so the child waits) while 64 MiB are unread."""

    def __init__(self, stream: IO[bytes], line_limit: int) -> None:
        super().__init__(name="stdout", daemon=True)
        self._stream = stream
        self._limit = line_limit
        self._lines: deque[Line | LineTooLong | None] = deque()
        self._bytes = 0
        self._change = threading.Condition()

    def run(self) -> None:
        try:
            self._split()
        except (OSError, ValueError):
            pass  # the pipe was closed under us while the child was being ended
        self._put(None)

    def _split(self) -> None:
        pending = bytearray()
        while chunk := self._stream.read(_CHUNK):
            arrived = time.monotonic()
            pending += chunk
            if b"\n" in chunk:  # copying what is pending for every chunk of a long line would be quadratic
                *lines, pending = pending.split(b"\n")
                for line in lines:
                    self._put(Line(bytes(line.removesuffix(b"\r")), arrived))
            if len(pending) > self._limit:
                self._put(LineTooLong())
                return
        if pending:
            self._put(Line(bytes(pending), time.monotonic()))

    def _put(self, item: Line | LineTooLong | None) -> None:
        with self._change:
            while self._bytes > _BUFFERED_BYTES and isinstance(item, Line):
                self._change.wait(1.0)
            self._bytes += _cost(item)
            self._lines.append(item)
            self._change.notify_all()

    def get(self, timeout: float) -> Line | None:
        """The next line; None, again and again, at the end.

        Raises:
            ChildTimeout: nothing within `timeout` seconds.
            LineTooLong: the stream is lost.
        """
        with self._change:
            if not self._change.wait_for(lambda: bool(self._lines), timeout):
                raise ChildTimeout
            item = self._lines[0]
            if isinstance(item, Line):
                self._lines.popleft()
                self._bytes -= _cost(item)
                self._change.notify_all()
                return item
            if isinstance(item, LineTooLong):
                raise item
            return None


def _cost(item: Line | LineTooLong | None) -> int:
    """What it holds in memory, in bytes: empty lines are not free."""
    return len(item.data) + _LINE_COST if isinstance(item, Line) else 0


class StderrDrain(threading.Thread):
    """Reads stderr from the first byte: the last 200 lines for findings, all for the file, a few for the journal."""

    def __init__(self, stream: IO[bytes], log_file: Path, emit: Callable[[list[str], int], None]) -> None:
        super().__init__(name="stderr", daemon=True)
        self._stream = stream
        self._path = log_file
        self._emit = emit
        self._ring: deque[str] = deque(maxlen=STDERR_LINES_KEPT)
        self._batch: list[str] = []
        self._dropped = 0
        self._last_emit = 0.0
        self._lock = threading.Lock()
        self.received = 0
        """Bytes read so far."""
        self.lines = 0
        """Lines read so far."""

    def run(self) -> None:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            file = self._path.open("a", encoding="utf-8", errors="backslashreplace")
        except OSError:
            file = None
        pending = b""
        try:
            while chunk := self._stream.read(_CHUNK):
                self.received += len(chunk)
                *lines, pending = (pending + chunk).split(b"\n")
                if len(pending) > _STDERR_LINE_CAP:
                    lines, pending = [*lines, pending], b""
                file = self._take(lines, file)
        except (OSError, ValueError):
            pass
        if pending:
            file = self._take([pending], file)
        self._flush()
        if file is not None:
            file.close()

    def _take(self, lines: list[bytes], file: "IO[str] | None") -> "IO[str] | None":
        texts = [clean_line(line.decode("utf-8", "replace")) for line in lines]
        with self._lock:
            self._ring.extend(texts)
            self.lines += len(texts)
        room = _LOG_LINES_A_BATCH - len(self._batch)
        self._batch += texts[:room]
        self._dropped += max(0, len(texts) - room)
        if time.monotonic() - self._last_emit >= _LOG_PERIOD:
            self._flush()
        if file is not None:
            try:
                file.write("".join(text + "\n" for text in texts))
                file.flush()
            except OSError:  # a full disk must not stop the draining
                return None
        return file

    def _flush(self) -> None:
        if self._batch or self._dropped:
            self._emit(self._batch, self._dropped)
        self._batch, self._dropped, self._last_emit = [], 0, time.monotonic()

    def tail(self) -> list[str]:
        """The last lines, oldest first."""
        with self._lock:
            return list(self._ring)


class StdinWriter(threading.Thread):
    """Writes to stdin without ever blocking the caller past its deadline."""

    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__(name="stdin", daemon=True)
        self._stream = stream
        self._queue: queue.SimpleQueue[tuple[bytes, threading.Event] | None] = queue.SimpleQueue()
        self._broken = False

    def run(self) -> None:
        while (item := self._queue.get()) is not None:
            data, done = item
            try:
                view = memoryview(data)
                while view:
                    view = view[self._stream.write(view) or 0 :]
                self._stream.flush()
            except (OSError, ValueError):
                self._broken = True
            done.set()
        try:
            self._stream.close()
        except OSError:
            pass

    def write(self, data: bytes, timeout: float) -> None:
        """Hands data over and waits until the pipe took it.

        Raises:
            ChildTimeout, ChildGone.
        """
        done = threading.Event()
        self._queue.put((data, done))
        if not done.wait(timeout):
            raise ChildTimeout
        if self._broken:
            raise ChildGone

    def close(self) -> None:
        """Closes stdin once what was handed over is written."""
        self._queue.put(None)
