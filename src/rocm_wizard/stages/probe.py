"""Runs a stand-alone probe script and hands its messages on, whatever happens to the child."""

import json
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import StageContext
from rocm_wizard.runner.spec import ChildSpec, ChildTimeout, ExitReport, LineTooLong, StartFailed
from rocm_wizard.sidecar.messages import ProtocolError, decode_line
from rocm_wizard.stages.session import Session

_EXIT_GRACE = 10.0


class Probe:
    """One run of a probe. Iterating gives its messages; the end is reported as findings when something is wrong.

    Finding ids are `<stage>.child_crashed`, `.child_failed`, `.child_hung`, `.child_rubbish`, `.child_would_not_exit`,
    `.child_not_started`; each names the step that the child had announced last.
    """

    def __init__(
        self, context: StageContext, session: Session, stage: str, script: Path, request: Mapping[str, Any]
    ) -> None:
        self._context = context
        self._session = session
        self._stage = stage
        self._limit = session.limit(stage)
        argv = [str(session.target.python), "-I", str(script), json.dumps(request)]
        self._spec = ChildSpec(f"{stage} probe", argv, session.working_folder)
        self.step = "start"
        self.complete = False

    def messages(self) -> Iterator[dict[str, Any]]:
        """The child's messages except `before` and `done`."""
        try:
            child = self._session.runner.start(self._spec, self._stage, self._context.cancel)
        except StartFailed as error:
            self._finding("child_not_started", Outcome.COULD_NOT_CHECK, reason=error.reason)
            return
        deadline = time.monotonic() + self._limit
        trouble: tuple[str, dict[str, Any]] | None = None
        try:
            while (line := child.read(max(0.0, deadline - time.monotonic()))) is not None:
                message = decode_line(line.data)
                if message["type"] == "before":
                    self.step = str(message.get("step"))
                elif message["type"] == "done":
                    self.complete = True
                else:
                    yield message
        except ChildTimeout:
            trouble = ("child_hung", {"seconds": self._limit})
        except (ProtocolError, LineTooLong) as error:
            trouble = ("child_rubbish", {"shown": getattr(error, "shown", "")})
        finally:
            report = child.stop(grace=0.0 if trouble else _EXIT_GRACE)
        self._report_end(trouble, report)

    def _report_end(self, trouble: tuple[str, dict[str, Any]] | None, report: ExitReport) -> None:
        if trouble is not None and not (trouble[0] == "child_hung" and self.complete):
            self.complete = False
            self._finding(trouble[0], Outcome.FAILED, **trouble[1])
        elif self.complete and report.forced != "none":
            self._finding("child_would_not_exit", Outcome.WARNING, forced=report.forced)
        elif report.meaning.crashed:
            self.complete = False
            self._finding("child_crashed", Outcome.CRASHED, code=report.code, name=str(report.meaning))
        elif report.code != 0:
            self.complete = False
            self._finding("child_failed", Outcome.COULD_NOT_CHECK, code=report.code, name=str(report.meaning))

    def _finding(self, ending: str, outcome: Outcome, /, **facts: Any) -> None:
        self._context.finding(f"{self._stage}.{ending}", outcome, step=self.step, **facts)
