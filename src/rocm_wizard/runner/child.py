"""One real child process."""

import subprocess
import time
from pathlib import Path
from typing import Protocol

from rocm_wizard.qualification import events as ev
from rocm_wizard.qualification.stage import CancelToken
from rocm_wizard.runner import tree
from rocm_wizard.runner.exit_status import explain_exit
from rocm_wizard.runner.spec import ChildSpec, ChildTimeout, ExitReport, Line, StartFailed
from rocm_wizard.runner.streams import StderrDrain, StdinWriter, StdoutReader

_SLICE = 0.1
_AFTER_TERMINATE = 3.0
_AFTER_KILL = 3.0
_STREAMS_END = 1.0


class Owner(Protocol):
    """What a child needs of the runner that started it."""

    log_folder: Path

    def emit(self, event: ev.Event, /) -> object:
        """Puts an event into the journal."""
        ...

    def ended(self, child: "RealChild", stage: str, report: ExitReport) -> None:
        """Hears of the child's end."""
        ...


class RealChild:
    """A process with drained pipes and a bounded end."""

    def __init__(self, spec: ChildSpec, stage: str, cancel: CancelToken, owner: Owner) -> None:
        self.spec = spec
        self._stage = stage
        self._cancel = cancel
        self._owner = owner
        self._started = time.monotonic()
        self._report: ExitReport | None = None
        try:
            self._process: subprocess.Popen[bytes] = subprocess.Popen(
                list(spec.argv),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=spec.cwd,
                env=spec.full_environment(),
                bufsize=0,
                creationflags=tree.CREATION_FLAGS,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise StartFailed(str(spec.argv[0]), reason) from error
        process = self._process
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        log_file = owner.log_folder / f"{spec.purpose.replace(' ', '-')}.log"
        self._out = StdoutReader(process.stdout, spec.line_limit)
        self._err = StderrDrain(process.stderr, log_file, self._log)
        self._in = StdinWriter(process.stdin)
        for thread in (self._out, self._err, self._in):
            thread.start()

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def _log(self, lines: list[str], dropped: int) -> None:
        self._owner.emit(ev.LogLines(self._stage, self.spec.purpose, lines, dropped))

    def send(self, data: bytes, timeout: float) -> None:
        """See `Child.send`."""
        self._in.write(data, timeout)

    def close_stdin(self) -> None:
        """See `Child.close_stdin`."""
        self._in.close()

    def read(self, timeout: float) -> Line | None:
        """See `Child.read`."""
        deadline = time.monotonic() + timeout
        while True:
            self._cancel.raise_if_cancelled()
            left = deadline - time.monotonic()
            gone = self._process.poll() is not None
            try:
                return self._out.get(min(_SLICE, max(0.0, left)) if not gone else _STREAMS_END)
            except ChildTimeout:
                if gone:  # something the child left behind holds its stdout open: nothing more is the child's
                    return None
                if left <= _SLICE:
                    raise

    def poll(self) -> int | None:
        """See `Child.poll`."""
        return self._process.poll()

    def stderr_tail(self) -> list[str]:
        """See `Child.stderr_tail`. Waits a moment for a dying child's last words."""
        if self._process.poll() is not None:
            self._err.join(_STREAMS_END)
        return self._err.tail()

    def stderr_bytes(self) -> int:
        """See `Child.stderr_bytes`."""
        return self._err.received

    def stderr_lines(self) -> int:
        """See `Child.stderr_lines`."""
        return self._err.lines

    def stop(self, grace: float = 5.0) -> ExitReport:
        """See `Child.stop`."""
        if self._report is not None:
            return self._report
        process = self._process
        below = tree.descendants(process.pid)
        self._in.close()
        forced = "none"
        code = tree.wait_bounded(process, grace)
        if code is None:
            forced = "terminate"
            tree.terminate(process)
            code = tree.wait_bounded(process, _AFTER_TERMINATE)
        if code is None:
            forced = "kill"
        tree.kill_tree(process, below)  # also after a polite end: whatever the child left behind goes with it
        if code is None:
            code = tree.wait_bounded(process, _AFTER_KILL)
            forced = forced if code is not None else "survived"
        for thread in (self._out, self._err):
            thread.join(_STREAMS_END)
        seconds = time.monotonic() - self._started
        self._report = ExitReport(code, explain_exit(code), forced, seconds)
        self._owner.ended(self, self._stage, self._report)
        return self._report
