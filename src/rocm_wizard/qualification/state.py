"""The frozen picture of a run, computed from events and from nothing else."""

from collections import deque
from dataclasses import dataclass, field
from typing import Any

from rocm_wizard.qualification.events import (
    AudioBlockReceived,
    ChildEnded,
    ChildStarted,
    MeasurementTaken,
    PlanShown,
    Progressed,
    QuestionAnswered,
    QuestionAsked,
    RunStarted,
    TextRecognised,
)
from rocm_wizard.qualification.exit_codes import ExitCode, exit_code
from rocm_wizard.qualification.finding import Finding
from rocm_wizard.qualification.outcome import Outcome

MEASUREMENTS_KEPT = 2000
BLOCKS_KEPT = 2000


@dataclass(frozen=True, slots=True)
class CheckState:
    """One check of a stage: running while `finding` is None."""

    id: str
    started: float
    finding: Finding | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class StageState:
    """One stage. `outcome` is None until it has finished; `running` is true in between."""

    id: str
    running: bool = False
    outcome: Outcome | None = None
    attempt: int = 0
    started: float | None = None
    seconds: float | None = None
    blocked_by: str | None = None
    checks: tuple[CheckState, ...] = ()
    measurements: tuple[MeasurementTaken, ...] = ()
    progress: Progressed | None = None
    blocks: tuple[AudioBlockReceived, ...] = ()
    texts: tuple[TextRecognised, ...] = ()
    plan: PlanShown | None = None
    children: tuple[ChildStarted | ChildEnded, ...] = ()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings of the checks that have ended, in order."""
        return tuple(check.finding for check in self.checks if check.finding is not None)


@dataclass(frozen=True, slots=True)
class RunState:
    """The whole run. `seconds` is the time of the latest event; `question` the one waiting for an answer."""

    header: RunStarted | None = None
    started_wall: str = ""
    stages: tuple[StageState, ...] = ()
    question: QuestionAsked | None = None
    answers: tuple[QuestionAnswered, ...] = ()
    seconds: float = 0.0
    events: int = 0
    unknown_events: int = 0
    log_lines: int = 0
    finished_exit_code: int | None = None

    def stage(self, stage_id: str) -> StageState:
        """The named stage.

        Raises:
            KeyError: the run has no such stage.
        """
        for stage in self.stages:
            if stage.id == stage_id:
                return stage
        raise KeyError(stage_id)

    @property
    def current(self) -> StageState | None:
        """The running stage, if any."""
        return next((stage for stage in self.stages if stage.running), None)

    @property
    def judged(self) -> tuple[StageState, ...]:
        """The stages that the verdict rests on: all but the optional ones."""
        optional = self.header.optional if self.header is not None else ()
        return tuple(stage for stage in self.stages if stage.id not in optional)

    @property
    def verdict(self) -> ExitCode:
        """The exit code that the findings so far add up to; nobody sets it by hand."""
        internal = any(finding.id == "internal.error" for stage in self.stages for finding in stage.findings)
        return exit_code((stage.outcome for stage in self.judged), internal_error=internal)


@dataclass(slots=True)
class StageBuilder:
    """The mutable twin of `StageState` inside the reducer."""

    id: str
    running: bool = False
    outcome: Outcome | None = None
    attempt: int = 0
    started: float | None = None
    seconds: float | None = None
    blocked_by: str | None = None
    checks: list[CheckState] = field(default_factory=list[CheckState])
    measurements: deque[MeasurementTaken] = field(default_factory=lambda: deque(maxlen=MEASUREMENTS_KEPT))
    progress: Progressed | None = None
    blocks: deque[AudioBlockReceived] = field(default_factory=lambda: deque(maxlen=BLOCKS_KEPT))
    texts: list[TextRecognised] = field(default_factory=list[TextRecognised])
    plan: PlanShown | None = None
    children: list[ChildStarted | ChildEnded] = field(default_factory=list[ChildStarted | ChildEnded])

    def freeze(self) -> StageState:
        """The stage as it is now."""
        values: dict[str, Any] = {name: getattr(self, name) for name in StageState.__dataclass_fields__}
        for name in ("checks", "measurements", "blocks", "texts", "children"):
            values[name] = tuple(values[name])
        return StageState(**values)
