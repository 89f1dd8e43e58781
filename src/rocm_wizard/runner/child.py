"""One real child process."""

import subprocess
import time
import uuid
from pathlib import Path
from typing import Protocol

from rocm_wizard.qualification import events as ev
from rocm_wizard.qualification.clean import clean_line
from rocm_wizard.qualification.stage import CancelToken
from rocm_wizard.runner import tree
from rocm_wizard.runner.exit_status import explain_exit
from rocm_wizard.runner.family import MARK, Family, names
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
    """A process with drained pipes (but see `ChildSpec.undrained`) and a bounded end."""

    def __init__(self, spec: ChildSpec, stage: str, cancel: CancelToken, owner: Owner) -> None:
        self.spec = spec
        self._stage = stage
        self._cancel = cancel
        self._owner = owner
        self._started = time.monotonic()
        self._report: ExitReport | None = None
        self._spoke = False
        word = uuid.uuid4().hex
        try:
            self._process: subprocess.Popen[bytes] = subprocess.Popen(
                list(spec.argv),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=spec.cwd,
                env=spec.full_environment() | {MARK: word},
                bufsize=0,
                creationflags=tree.CREATION_FLAGS,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise StartFailed(str(spec.argv[0]), reason) from error
        process = self._process
        self._family = Family(process, word)
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        log_file = owner.log_folder / f"{spec.purpose.replace(' ', '-')}.log"
        self._out = StdoutReader(process.stdout, spec.line_limit)
        self._hiding = spec.hiding()
        self._err = StderrDrain(process.stderr, log_file, self._log, self._hiding, undrained=spec.undrained)
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
        self._family.look_if_due()
        self._in.write(data, timeout)

    def close_stdin(self) -> None:
        """See `Child.close_stdin`."""
        self._family.watch()
        self._in.close()

    def read(self, timeout: float) -> Line | None:
        """See `Child.read`."""
        deadline = time.monotonic() + timeout
        while True:
            self._cancel.raise_if_cancelled()
            self._err.tell()
            self._family.look_if_due()
            left = deadline - time.monotonic()
            gone = self.poll() is not None
            try:
                line = self._out.get(min(_SLICE, max(0.0, left)) if not gone else _STREAMS_END)
            except ChildTimeout:
                if gone:  # something the child left behind holds its stdout open: nothing more is the child's
                    return None
                if left <= _SLICE:
                    raise
                continue
            if not self._spoke:  # what it started before `ready` is there
                self._spoke = True
                self._family.look()
            return line

    def poll(self) -> int | None:
        """See `Child.poll`."""
        code = self._process.poll()
        if code is not None:
            self._err.begin()
        return code

    def stderr_tail(self) -> list[str]:
        """See `Child.stderr_tail`. Waits a moment for a dying child's last words."""
        if self.poll() is not None:
            self._err.join(_STREAMS_END)
        return self._err.tail()

    def drain(self) -> None:
        """See `Child.drain`."""
        self._err.begin()

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
        ends = time.monotonic() + grace
        self._err.begin()
        self.close_stdin()
        code = self._wait(ends)
        left = self._family.outlasting(ends) if code is not None else []
        named = tuple(clean_line(name, self._hiding) for name in names(left))
        code, forced = self._end(code)
        for thread in (self._out, self._err):
            thread.join(_STREAMS_END)
        self._err.tell(rest=True)  # also where something else holds the pipe open
        seconds = time.monotonic() - self._started
        self._report = ExitReport(code, explain_exit(code), forced, seconds, named)
        self._owner.ended(self, self._stage, self._report)
        return self._report

    def _wait(self, ends: float) -> int | None:
        """The exit code, or None at `ends`; a child that is about to leave may still start something."""
        while (code := tree.wait_bounded(self._process, min(_SLICE, ends - time.monotonic()))) is None:
            if time.monotonic() >= ends:
                break
            self._family.look_if_due()
        return code

    def _end(self, code: int | None) -> tuple[int | None, str]:
        """Ends the child, if it has no code yet, and whatever it started; its code and what that took."""
        process, forced = self._process, "none"
        if code is None:
            forced = "terminate"
            tree.terminate(process)
            code = tree.wait_bounded(process, _AFTER_TERMINATE)
        if code is None:
            forced = "kill"
        tree.kill_tree(process, self._family.living())
        self._family.close()
        if code is None:
            code = tree.wait_bounded(process, _AFTER_KILL)
            forced = forced if code is not None else "survived"
        return code, forced
