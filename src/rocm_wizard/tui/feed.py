"""What the screen reads: the run's state, and the last log lines in a bounded ring."""

import threading
from collections import deque

from rocm_wizard.qualification.events import ChildEnded, ChildStarted, LogLines, StageStarted
from rocm_wizard.qualification.journal import Record
from rocm_wizard.qualification.pipeline import Pipeline
from rocm_wizard.qualification.state import RunState

LOG_LINES_KEPT = 2000


class LogRing:
    """The latest log lines; writers never wait for a reader, a slow reader misses lines and is told how many."""

    def __init__(self, limit: int = LOG_LINES_KEPT) -> None:
        self._lines: deque[str] = deque(maxlen=limit)
        self._total = 0
        self._lock = threading.Lock()

    def extend(self, lines: list[str]) -> None:
        """Adds lines."""
        with self._lock:
            self._lines.extend(lines)
            self._total += len(lines)

    def since(self, seen: int) -> tuple[list[str], int]:
        """The lines after the first `seen` ones that are still kept, and the number of lines ever added."""
        with self._lock:
            new = min(self._total - seen, len(self._lines))
            return (list(self._lines)[-new:] if new > 0 else []), self._total


class Feed:
    """Collects log lines from the journal in the writing thread; hands out the state to the drawing thread."""

    def __init__(self, pipeline: Pipeline) -> None:
        self.log = LogRing()
        self._pipeline = pipeline
        pipeline.journal.subscribe(self._collect)

    def state(self) -> RunState:
        """The run as it is now."""
        return self._pipeline.state

    def _collect(self, record: Record) -> None:
        event = record.event
        if isinstance(event, LogLines):
            lines = [f"{event.source} | {line}" for text in event.lines for line in text.splitlines() or [""]]
            if event.dropped:
                lines.append(f"{event.source} | … {event.dropped}")
            self.log.extend(lines)
        elif isinstance(event, ChildStarted):
            self.log.extend([f"{event.purpose} > {' '.join(event.argv)}"])
        elif isinstance(event, ChildEnded):
            self.log.extend([f"{event.purpose} < {event.meaning}"])
        elif isinstance(event, StageStarted):
            self.log.extend([f"== {event.stage}"])
