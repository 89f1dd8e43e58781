"""Runs a pipeline without a screen: a working thread, a main thread that hears Ctrl-C."""

import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType

from rocm_wizard.qualification.exit_codes import ExitCode
from rocm_wizard.qualification.journal import Record
from rocm_wizard.qualification.pipeline import Pipeline

_SLICE = 0.2
_PATIENCE = 15.0


def write_json_line(record: Record) -> None:
    """JSON mode: the journal's own bytes on stdout, and nothing else ever."""
    try:
        sys.stdout.buffer.write(record.to_line())
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        pass


def run_to_end(pipeline: Pipeline, finish: Callable[[bool], ExitCode]) -> ExitCode:
    """Runs all stages; Ctrl-C and a polite kill cancel the running one and end the run as interrupted."""
    _hear_terminate()
    ended = threading.Event()

    def work() -> None:
        try:
            pipeline.run()
        finally:
            ended.set()

    threading.Thread(target=work, name="pipeline", daemon=True).start()
    # An event, not a join: in CPython 3.12 an interrupted join takes the thread for ended (python/cpython#89437).
    try:
        while not ended.wait(_SLICE):
            pass
    except KeyboardInterrupt:
        pipeline.cancel()
        ended.wait(_PATIENCE)
        return finish(True)
    return finish(False)


def _hear_terminate() -> None:
    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, interrupt)
