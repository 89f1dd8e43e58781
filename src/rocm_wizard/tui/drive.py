"""Runs the pipeline in a thread of its own, so that no screen owns the work and leaving one cancels nothing."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from rocm_wizard.qualification.exit_codes import ExitCode
from rocm_wizard.qualification.pipeline import Pipeline

_SLICE = 0.05
STOP_LIMIT = 5.0


@dataclass(slots=True)
class _Lap:
    """One pass over the stages: the first run, or a retry."""

    retry: str | None
    claimed: bool = False
    ended: threading.Event = field(default_factory=threading.Event)


class Drive:
    """Starts runs and retries one at a time, and ends each one with exactly one call of `finish`.

    `begin` is called once, before the first stage: what is slow and not needed for the first frame.
    """

    def __init__(
        self, pipeline: Pipeline, finish: Callable[[bool], ExitCode], begin: Callable[[], object] = lambda: None
    ) -> None:
        self.code: ExitCode | None = None
        self.run_error: Exception | None = None
        self.finish_error: Exception | None = None
        self._pipeline = pipeline
        self._finish = finish
        self._begin = begin
        self._interrupted = False
        self._lock = threading.Lock()
        self._lap: _Lap | None = None
        self._thread: threading.Thread | None = None

    @property
    def ended(self) -> bool:
        """Whether the last pass is over, its journal and report written."""
        return self._lap is not None and self._lap.ended.is_set()

    def start(self, retry: str | None = None) -> None:
        """Runs the stages, or the named one and the later ones again.

        Raises:
            RuntimeError: a pass is still going on.
        """
        if self._lap is not None and not self._lap.ended.is_set():
            raise RuntimeError("the run has not ended")
        self.code = self.run_error = self.finish_error = None
        self._lap = lap = _Lap(retry)
        # A daemon: a stage that ignores every request to stop must not keep the process alive after the person left.
        self._thread = threading.Thread(target=self._work, args=(lap,), name="pipeline", daemon=True)
        self._thread.start()

    def cancel(self) -> None:
        """Asks the running stage to stop."""
        self._pipeline.cancel()

    def interrupt(self) -> None:
        """Asks the running stage to stop because the person leaves: the run counts as interrupted."""
        self._interrupted = True
        self._pipeline.cancel()

    def wait(self, limit: float = STOP_LIMIT) -> bool:
        """Waits for the pass to end after `interrupt`; asks again meanwhile, as a retry renews the token."""
        deadline = time.monotonic() + limit
        lap, thread = self._lap, self._thread
        if lap is None or thread is None:
            return True
        while not lap.ended.wait(_SLICE) and time.monotonic() < deadline:
            self._pipeline.cancel()
        if lap.ended.is_set():
            thread.join(_SLICE * 10)
        return lap.ended.is_set()

    def abandon(self) -> None:
        """Ends the pass without its thread: writes what is known, unless the thread is doing that already."""
        if self._lap is not None:
            self._end(self._lap)
            self._lap.ended.wait(STOP_LIMIT)

    def _work(self, lap: _Lap) -> None:
        try:
            if lap.retry is None:
                self._begin()
                self._pipeline.run()
            else:
                self._pipeline.retry(lap.retry)
        except Exception as error:  # noqa: BLE001  shown on the result screen; the terminal must be given back whole
            self.run_error = error
        self._end(lap)

    def _end(self, lap: _Lap) -> None:
        with self._lock:
            if lap.claimed:
                return
            lap.claimed = True
        try:
            code = self._finish(self._interrupted)
        except Exception as error:  # noqa: BLE001  likewise
            self.finish_error = error
            code = ExitCode.INTERNAL_ERROR
        self.code = ExitCode.INTERNAL_ERROR if self.run_error is not None else code
        lap.ended.set()
