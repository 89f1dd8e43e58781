"""A runner whose children follow a script: the same stages, without processes."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rocm_wizard.qualification import events as ev
from rocm_wizard.qualification.stage import CancelToken
from rocm_wizard.runner.exit_status import explain_exit
from rocm_wizard.runner.spec import ChildGone, ChildSpec, ChildTimeout, ExitReport, Line, StartFailed

type Step = Mapping[str, Any]
"""One step of a script, exactly one of:

`{"line": {...}, "after": 0.2}` prints a JSON line after so many seconds (`"$request_id"` stands for the id of the
last request), `{"expect": true}` waits for a request, `{"stderr": "text"}` logs, `{"hang": true}` says nothing more,
`{"exit": -11}` ends with that code. A script that runs out ends with code 0 when its stdin closes.
"""


class ScriptedChild:
    """Plays one script. `speed` divides the script's waits."""

    pid = 0

    def __init__(
        self, spec: ChildSpec, stage: str, cancel: CancelToken, script: Sequence[Step], owner: "ScriptedRunner"
    ) -> None:
        self.spec = spec
        self._stage = stage
        self._cancel = cancel
        self._script = list(script)
        self._owner = owner
        self._requests: list[bytes] = []
        self._request_id = ""
        self._code: int | None = None
        self._stderr: list[str] = []
        self._hiding = spec.hiding()
        self._report: ExitReport | None = None
        self._started = time.monotonic()

    def send(self, data: bytes, timeout: float) -> None:
        """See `Child.send`."""
        del timeout
        if self._code is not None:
            raise ChildGone
        self._requests += data.splitlines()

    def close_stdin(self) -> None:
        """See `Child.close_stdin`."""

    def read(self, timeout: float) -> Line | None:
        """See `Child.read`. A step that would take longer than `timeout` raises at once, without waiting."""
        while self._script and self._code is None:
            self._cancel.raise_if_cancelled()
            step = self._script[0]
            if "expect" in step and not self._take_request():
                raise ChildTimeout
            if "hang" in step or step.get("after", 0.0) > timeout:
                raise ChildTimeout
            self._script.pop(0)
            time.sleep(step.get("after", 0.0) / self._owner.speed)
            if "stderr" in step:
                said = self._hiding.text(step["stderr"])
                self._stderr.append(said)
                self._owner.emit(ev.LogLines(self._stage, self.spec.purpose, [said]))
            if "exit" in step:
                self._code = int(step["exit"])
            if "line" in step:
                return Line(self._fill(step["line"]), time.monotonic())
        if self._code is None:
            self._code = 0
        return None

    def _take_request(self) -> bool:
        if not self._requests:
            return False
        request = json.loads(self._requests.pop(0))
        self._request_id = str(request.get("request_id", ""))
        return True

    def _fill(self, line: Any) -> bytes:
        return json.dumps(line).replace('"$request_id"', json.dumps(self._request_id)).encode("ascii")

    def poll(self) -> int | None:
        """See `Child.poll`."""
        return self._code

    def stderr_tail(self) -> list[str]:
        """See `Child.stderr_tail`."""
        return list(self._stderr)

    def drain(self) -> None:
        """See `Child.drain`. A script's stderr is never left unread."""

    def stderr_bytes(self) -> int:
        """See `Child.stderr_bytes`."""
        return sum(len(line.encode("utf-8")) + 1 for line in self._stderr)

    def stderr_lines(self) -> int:
        """See `Child.stderr_lines`."""
        return len(self._stderr)

    def stop(self, grace: float = 5.0) -> ExitReport:
        """See `Child.stop`."""
        del grace
        if self._report is None:
            code = 0 if self._code is None else self._code
            self._code = code
            self._report = ExitReport(code, explain_exit(code), "none", time.monotonic() - self._started)
            meaning = str(self._report.meaning)
            self._owner.emit(ev.ChildEnded(self._stage, self.spec.purpose, code, meaning, "none", self._report.seconds))
        return self._report


class ScriptedRunner:
    """Gives each purpose its scripts, one a start; a purpose without a script cannot be started."""

    def __init__(
        self, emit: Callable[[ev.Event], object], scripts: Mapping[str, Sequence[Sequence[Step]]], speed: float = 1.0
    ) -> None:
        self.emit = emit
        self.speed = speed
        self._scripts = {purpose: list(starts) for purpose, starts in scripts.items()}

    def start(self, spec: ChildSpec, stage: str, cancel: CancelToken) -> ScriptedChild:
        """See `Runner.start`."""
        starts = self._scripts.get(spec.purpose)
        if not starts:
            raise StartFailed(str(spec.argv[0]), "the script has no such child")
        argv, environment = spec.shown_command(), spec.shown_environment()
        self.emit(ev.ChildStarted(stage, spec.purpose, argv, str(spec.cwd), environment, 0))
        return ScriptedChild(spec, stage, cancel, starts.pop(0), self)

    def stop_all(self) -> None:
        """Nothing runs, so nothing has to end."""
