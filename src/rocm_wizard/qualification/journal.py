"""The event journal on disk: JSON Lines, append-only, readable after a kill at any byte."""

import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rocm_wizard.qualification.events import Event, RunStarted, event_from_record, event_to_record

JOURNAL_VERSION = 1


@dataclass(frozen=True, slots=True)
class Record:
    """One journal line. `t` is monotonic seconds from the run's start, `wall` the UTC time."""

    seq: int
    t: float
    wall: str
    event: Event

    def to_line(self) -> bytes:
        """The line's bytes, newline included."""
        head = {"v": JOURNAL_VERSION, "seq": self.seq, "t": self.t, "wall": self.wall}
        text = json.dumps(head | event_to_record(self.event), ensure_ascii=False, separators=(",", ":"))
        return text.encode("utf-8", "backslashreplace") + b"\n"


type Subscriber = Callable[[Record], None]


class Journal:
    """Writes events; hands each one to the subscribers after it is on disk.

    Flushed per event, fsynced by `sync`. A disk that refuses (full, gone) must not end a run: the first error is
    kept in `write_error`, later events reach the subscribers only.
    """

    def __init__(self, path: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self.path = path
        self.write_error: str | None = None
        self._clock = clock
        self._start = clock()
        self._seq = 0
        self._lock = threading.RLock()
        self._subscribers: list[Subscriber] = []
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("xb", buffering=0)

    def subscribe(self, subscriber: Subscriber) -> None:
        """Calls `subscriber` with every later record, in the writing thread: it must be quick."""
        with self._lock:
            self._subscribers.append(subscriber)

    def append(self, event: Event) -> Record:
        """Writes one event."""
        with self._lock:
            self._seq += 1
            record = Record(self._seq, round(self._clock() - self._start, 6), datetime.now(UTC).isoformat(), event)
            self._write(record.to_line())
            for subscriber in self._subscribers:
                subscriber(record)
        return record

    def _write(self, line: bytes) -> None:
        if self.write_error is not None or self._file.closed:
            return
        try:
            view = memoryview(line)
            while view:
                view = view[self._file.write(view) :]
        except OSError as error:
            self.write_error = error.strerror or str(error)

    def sync(self) -> None:
        """Asks the operating system to put what was written on the disk."""
        with self._lock:
            if self.write_error is None and not self._file.closed:
                try:
                    os.fsync(self._file.fileno())
                except OSError as error:
                    self.write_error = error.strerror or str(error)

    def close(self) -> None:
        """Ends the writing; a second call does nothing."""
        with self._lock:
            self.sync()
            self._file.close()


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with a journal file: `torn_line`, `bad_line`, `gap`, `no_header` or `unreadable`, and where."""

    kind: str
    line: int
    detail: str


@dataclass(slots=True)
class JournalReading:
    """The records of a journal file and what is wrong with it. Problems are complete once iteration has ended."""

    path: Path
    problems: list[Problem] = field(default_factory=list[Problem])

    def __iter__(self) -> Iterator[Record]:
        """Yields the readable records in order, one line in memory at a time."""
        self.problems.clear()
        number, last_seq = 0, 0
        with self.path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                record = self._parse(number, line)
                if record is None:
                    continue
                if last_seq == 0 and not isinstance(record.event, RunStarted):
                    self.problems.append(Problem("no_header", number, "the run's first line is missing"))
                elif record.seq != last_seq + 1:
                    self.problems.append(Problem("gap", number, f"event {record.seq} follows event {last_seq}"))
                last_seq = record.seq
                yield record
        if last_seq == 0 and not any(problem.kind == "no_header" for problem in self.problems):
            self.problems.append(Problem("no_header", number, "the run's first line is missing"))

    def _parse(self, number: int, line: bytes) -> Record | None:
        if not line.endswith(b"\n"):
            detail = f"{len(line)} bytes of an unfinished line dropped"
            self.problems.append(Problem("torn_line", number, detail))
            return None
        try:
            values: Any = json.loads(line)
            return Record(int(values["seq"]), float(values["t"]), str(values["wall"]), event_from_record(values))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            self.problems.append(Problem("bad_line", number, f"{type(error).__name__}: {error}"))
            return None
