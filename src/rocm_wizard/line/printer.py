"""Line mode: one line a finding, no escape code, nothing redrawn. Made for screen readers, logs and dumb terminals."""

from collections.abc import Callable
from typing import Any

from rocm_wizard.qualification import events as ev
from rocm_wizard.qualification.journal import Record
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.report.catalogue import Catalogue
from rocm_wizard.report.explain import issue_lines, issue_record
from rocm_wizard.report.known_issues import best_issue, learn
from rocm_wizard.report.next_command import next_command
from rocm_wizard.report.told import last_words
from rocm_wizard.report.widths import pad

_WORD_WIDTH = 16


class LinePrinter:
    """A journal subscriber that tells the run as it happens."""

    def __init__(self, catalogue: Catalogue, write: Callable[[str], None], *, mark: str = "") -> None:
        self._catalogue = catalogue
        self._write = write
        self._mark = mark
        self._stages: list[str] = []
        self._machine: dict[str, Any] = {}
        self._target: dict[str, Any] = {}

    def __call__(self, record: Record) -> None:
        """Takes one record."""
        event: Any = record.event
        if isinstance(event, ev.RunStarted):
            self._stages, self._machine, self._target = event.stages, dict(event.machine), event.target
            self._say(f"rocm-wizard {event.tool_version}")
        elif isinstance(event, ev.StageStarted):
            self._stage_head(event)
        elif isinstance(event, ev.FindingReported):
            self._finding(event)
        elif isinstance(event, ev.StageFinished):
            self._stage_end(event)
        elif isinstance(event, ev.PlanShown):
            self._plan(event)

    def _say(self, text: str) -> None:
        self._write(f"{self._mark}{text}")

    def _stage_head(self, event: ev.StageStarted) -> None:
        number = self._stages.index(event.stage) + 1 if event.stage in self._stages else 0
        self._say("")
        self._say(f"[{number}/{len(self._stages)}] {self._catalogue.stage_title(event.stage)}")

    def _finding(self, event: ev.FindingReported) -> None:
        catalogue, finding = self._catalogue, event.finding
        learn(self._machine, finding)
        word = catalogue.outcome(finding.outcome)
        shown = word if finding.outcome is Outcome.PASSED else word.upper()
        time = "" if event.seconds is None else f" ({event.seconds:.2f} s)"
        self._say(
            f"  {pad(shown, _WORD_WIDTH)} {catalogue.check_title(event.check)}: {catalogue.sentence(finding)}{time}"
        )
        if finding.outcome is Outcome.PASSED:
            return
        indent = " " * (_WORD_WIDTH + 3)
        if hint := catalogue.hint(finding):
            self._say(f"{indent}{hint}")
        if action := next_command(catalogue.action(finding), self._target):
            self._say(f"{indent}{catalogue.format('report', 'next')}: {action}")
        if words := last_words(finding.outcome, finding.facts):
            self._say(f"{indent}{catalogue.format('report', 'last_words')}:")
            for line in words:
                self._say(f"{indent}  {line}")
        if issue := best_issue(finding, self._machine):
            for line in issue_lines(issue_record(issue), catalogue):
                self._say(f"{indent}{line}")

    def _stage_end(self, event: ev.StageFinished) -> None:
        catalogue = self._catalogue
        if event.blocked_by:
            by = catalogue.format("report", "blocked_by", stage=catalogue.stage_title(event.blocked_by))
            self._say("")
            self._say(f"{catalogue.stage_title(event.stage)}: {by}")
            return
        self._say(f"  = {catalogue.outcome(event.outcome)}, {event.seconds:.2f} s")

    def _plan(self, event: ev.PlanShown) -> None:
        for before, after, kind in event.rows:
            if kind == "same":
                continue
            if before:
                self._say(f"      - {before}")
            if after:
                self._say(f"      + {after}")
