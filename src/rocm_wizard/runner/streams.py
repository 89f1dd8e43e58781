"""Threads that keep a child's pipes moving: stdout into lines, stderr into a ring and a file, stdin from a queue."""

import queue
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import IO

from rocm_wizard.qualification.clean import Hiding, clean_line
from rocm_wizard.runner import pipe
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
            self._put(Line(bytes(pending), time.monotonic(), torn=True))

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
    """Reads stderr from the first byte: the last 200 lines for findings, all for the file, a few for the journal.

    An `undrained` one is read from `begin` on, and its pipe is as small as on Windows.

    The journal gets lines in their order, 40 a tenth of a second, so in a flood it falls behind; over 200 that wait the
    oldest are dropped and counted in their place. When the child has ended all that wait follow: its last 200 lines are
    always there. Nothing in `hiding` is in any of them.
    """

    def __init__(
        self,
        stream: IO[bytes],
        log_file: Path,
        emit: Callable[[list[str], int], None],
        hiding: Hiding,
        *,
        undrained: bool = False,
    ) -> None:
        super().__init__(name="stderr", daemon=True)
        self._begun = threading.Event()
        if undrained:
            pipe.narrow(stream.fileno())
        else:
            self._begun.set()
        self._stream = stream
        self._path = log_file
        self._emit = emit
        self._ring: deque[str] = deque(maxlen=STDERR_LINES_KEPT)
        self._hiding = hiding
        self._waiting: deque[str] = deque(maxlen=STDERR_LINES_KEPT)
        self._dropped = 0
        self._last_emit = 0.0
        self._lock = threading.Lock()
        self._telling = threading.Lock()
        self._read = self._waited = 0
        self.lines = 0
        """Lines read so far."""

    @property
    def received(self) -> int:
        """Bytes read so far, and those that wait in the pipe while nobody reads it."""
        if not self._begun.is_set():
            self._waited = pipe.waiting(self._stream.fileno())
        return max(self._read, self._waited)

    def begin(self) -> None:
        """Reads from now on what was left unread (`undrained`)."""
        self._begun.set()

    def run(self) -> None:
        self._begun.wait()
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            file = self._path.open("a", encoding="utf-8", errors="backslashreplace")
        except OSError:
            file = None
        pending = b""
        try:
            while chunk := self._stream.read(_CHUNK):
                self._read += len(chunk)
                *lines, pending = (pending + chunk).split(b"\n")
                if len(pending) > _STDERR_LINE_CAP:
                    pending, cut = self._cut(pending)
                    lines = [*lines, cut]
                file = self._take(lines, file)
        except (OSError, ValueError):
            pass
        if pending:
            file = self._take([pending], file)
        self.tell(rest=True)
        if file is not None:
            file.close()

    def _cut(self, pending: bytes) -> tuple[bytes, bytes]:
        """What to keep of a line that has no end, and its beginning: cut where no secret can be in two halves."""
        pending = self._hiding.data(pending)
        kept = min(max(0, self._hiding.longest - 1), _STDERR_LINE_CAP // 2)
        return pending[len(pending) - kept :], pending[: len(pending) - kept]

    def _take(self, lines: list[bytes], file: "IO[str] | None") -> "IO[str] | None":
        texts = [clean_line(line.decode("utf-8", "replace"), self._hiding) for line in lines]
        with self._lock:
            self._ring.extend(texts)
            self.lines += len(texts)
            self._dropped += max(0, len(self._waiting) + len(texts) - STDERR_LINES_KEPT)
            self._waiting.extend(texts)
        self.tell()
        if file is not None:
            try:
                file.write("".join(text + "\n" for text in texts))
                file.flush()
            except OSError:  # a full disk must not stop the draining
                return None
        return file

    def tell(self, *, rest: bool = False) -> None:
        """Puts lines that wait into the journal, where it is time; `rest`: all of them now, the child has ended."""
        with self._telling:
            now = time.monotonic()
            if not rest and now - self._last_emit < _LOG_PERIOD:
                return
            with self._lock:
                count = len(self._waiting) if rest else min(_LOG_LINES_A_BATCH, len(self._waiting))
                lines = [self._waiting.popleft() for _ in range(count)]
                dropped, self._dropped = self._dropped, 0
            if dropped:
                self._emit([], dropped)
            if lines:
                self._emit(lines, 0)
                self._last_emit = now

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
