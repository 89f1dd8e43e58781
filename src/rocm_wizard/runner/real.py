"""Real child processes, from start to end."""

import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from rocm_wizard.qualification import events as ev
from rocm_wizard.qualification.stage import CancelToken
from rocm_wizard.runner.spec import ChildSpec, ExitReport

if TYPE_CHECKING:
    from rocm_wizard.runner.child import RealChild


class RealRunner:
    """Starts processes, puts their starts, ends and stderr into the journal, and ends what is left."""

    def __init__(self, emit: Callable[[ev.Event], object], log_folder: Path) -> None:
        self._emit = emit
        self.log_folder = log_folder
        self._alive: list[RealChild] = []
        if sys.platform == "win32":
            _no_error_boxes()

    def emit(self, event: ev.Event, /) -> object:
        """Puts an event into the journal."""
        return self._emit(event)

    def start(self, spec: ChildSpec, stage: str, cancel: CancelToken) -> "RealChild":
        """See `Runner.start`."""
        from rocm_wizard.runner.child import RealChild  # with psutil: not while the wizard opens

        child = RealChild(spec, stage, cancel, self)
        self._alive.append(child)
        argv, environment = spec.shown_command(), spec.shown_environment()
        self.emit(ev.ChildStarted(stage, spec.purpose, argv, str(spec.cwd), environment, child.pid))
        return child

    def ended(self, child: "RealChild", stage: str, report: ExitReport) -> None:
        """Takes a child off the list of the living and reports its end."""
        if child in self._alive:
            self._alive.remove(child)
        meaning = str(report.meaning)
        self.emit(ev.ChildEnded(stage, child.spec.purpose, report.code, meaning, report.forced, report.seconds))

    def stop_all(self) -> None:
        """See `Runner.stop_all`."""
        with ExitStack() as stack:  # what goes wrong with one child keeps none of the others alive
            for child in list(self._alive):
                stack.callback(child.stop, grace=0.5)


if sys.platform == "win32":

    def _no_error_boxes() -> None:
        """Children inherit the error mode: a missing DLL must not open a window that nobody can close."""
        import ctypes

        sem_failcriticalerrors, sem_nogpfaulterrorbox = 0x0001, 0x0002
        ctypes.windll.kernel32.SetErrorMode(sem_failcriticalerrors | sem_nogpfaulterrorbox)
