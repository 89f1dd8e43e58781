"""Runs a stand-alone probe script and hands its messages on, whatever happens to the child."""

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import StageContext
from rocm_wizard.runner.spec import Child, ChildSpec, ChildTimeout, ExitReport, LineTooLong, StartFailed
from rocm_wizard.sidecar.messages import ProtocolError
from rocm_wizard.sidecar.told import decode_told
from rocm_wizard.stages.probe_crash import last_words
from rocm_wizard.stages.session import Session

_EXIT_GRACE = 10.0
_TAIL_LINES = 20
_CLEARED: dict[str, str | None] = {"PYTORCH_NO_CUDA_MEMORY_CACHING": None, "PYTORCH_NO_HIP_MEMORY_CACHING": None}
"""With these set the memory counters stand still, and they are evidence."""


class Probe:
    """One run of a probe. Iterating gives its messages; the end is reported as findings when something is wrong.

    Finding ids are `<stage>.child_crashed`, `.child_failed`, `.child_hung`, `.child_rubbish`, `.child_would_not_exit`,
    `.child_not_started`; each names the step that the child had announced last, and holds `facts`.

    Attributes:
        step: what the child announced last.
        ending: `child_crashed` and so on, when something went wrong.
        complete: it said `done`, and nothing went wrong before that.
        ended_by_itself: it is complete and its process ended with code 0, unforced.
        usable: another child may be started after this one.
        facts: put into every finding about the child's end (`gfx`, `device_name`).
    """

    def __init__(
        self,
        context: StageContext,
        session: Session,
        stage: str,
        script: Path,
        request: Mapping[str, Any],
        *,
        seconds: Mapping[str, float] | None = None,
        facts: Mapping[str, Any] | None = None,
    ) -> None:
        self._context = context
        self._session = session
        self._stage = stage
        self._limit = session.limit(stage)
        self._seconds = dict(seconds or {})
        self._allowed = self._limit
        argv = [str(session.target.python), "-I", str(script), json.dumps(request)]
        self._spec = ChildSpec(f"{stage} probe", argv, session.working_folder, _CLEARED)
        self.facts: dict[str, Any] = dict(facts or {})
        self.step = "start"
        self.ending: str | None = None
        self.complete = False
        self.ended_by_itself = False
        self.usable = False

    def messages(self) -> Iterator[dict[str, Any]]:
        """The child's messages except `before` and `done`.

        Each announced step has its own deadline: the stage's limit, or less where `seconds` says so. All steps
        together have the sum of both, so that a child that only announces does not run for ever.
        """
        try:
            child = self._session.runner.start(self._spec, self._stage, self._context.cancel)
        except StartFailed as error:
            self._finding("child_not_started", Outcome.COULD_NOT_CHECK, reason=error.reason)
            return
        trouble: tuple[str, dict[str, Any]] | None = None
        report: ExitReport | None = None
        try:
            yield from self._read(child)
        except ChildTimeout:
            trouble = ("child_hung", {"seconds": self._allowed})
        except (ProtocolError, LineTooLong) as error:
            trouble = ("child_rubbish", {"shown": getattr(error, "shown", "")})
        finally:
            report = child.stop(grace=0.0 if trouble else _EXIT_GRACE)
        self._report_end(trouble, report, child.stderr_tail())

    def _read(self, child: Child) -> Iterator[dict[str, Any]]:
        now = time.monotonic()
        end = now + self._limit + sum(min(seconds, self._limit) for seconds in self._seconds.values())
        deadline, hiding = now + self._limit, child.spec.hiding()
        while (line := child.read(max(0.0, min(deadline, end) - time.monotonic()))) is not None:
            message = decode_told(line.data, hiding)
            if message["type"] == "before":
                step, part = str(message.get("step")), message.get("part")
                self.step = f"{step} ({part})" if part else step
                self._allowed = min(self._limit, self._seconds.get(step, self._limit))
                deadline = time.monotonic() + self._allowed
            elif message["type"] == "done":
                self.complete = True
                deadline = time.monotonic() + _EXIT_GRACE
            else:
                yield message

    def _report_end(self, trouble: tuple[str, dict[str, Any]] | None, report: ExitReport, tail: list[str]) -> None:
        if trouble is not None and not (trouble[0] == "child_hung" and self.complete):
            self.complete = False
            self._end(trouble[0], Outcome.FAILED, tail, **trouble[1])
        elif self.complete and report.forced != "none":
            self.usable = report.forced != "survived"
            self._finding("child_would_not_exit", Outcome.WARNING, forced=report.forced)
        elif report.meaning.crashed or report.code != 0:
            self.complete = False
            ending = "child_crashed" if report.meaning.crashed else "child_failed"
            outcome = Outcome.CRASHED if report.meaning.crashed else Outcome.COULD_NOT_CHECK
            self._end(ending, outcome, tail, exit_code=report.code, exit_name=str(report.meaning))
        else:
            self.usable = self.ended_by_itself = self.complete

    def _end(self, ending: str, outcome: Outcome, tail: list[str], /, **facts: Any) -> None:
        self._finding(ending, outcome, stderr_tail=tail[-_TAIL_LINES:], **asdict(last_words(tail)), **facts)

    def _finding(self, ending: str, outcome: Outcome, /, **facts: Any) -> None:
        self.ending = ending
        facts = self.facts | {"step": self.step} | facts
        self._context.finding(f"{self._stage}.{ending}", outcome, ["stderr_tail"], **facts)
