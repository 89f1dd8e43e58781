"""The typed events of a run. The journal holds them in order; everything a person sees is computed from them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from rocm_wizard.qualification.finding import Finding
from rocm_wizard.qualification.outcome import Outcome

type Phase = Literal["cold", "warm"] | None
type Provenance = Literal["live", "demo", "replay"]


@dataclass(frozen=True, slots=True)
class RunStarted:
    """The journal's first line: what is being qualified, by which tool, from which source.

    `partial`: the person asked for some of the steps only. `optional`: steps that say nothing about the verdict.
    """

    tool_version: str
    stages: list[str]
    target: dict[str, Any]
    machine: dict[str, Any]
    level: str = "standard"
    language: str = "en"
    provenance: Provenance = "live"
    partial: bool = False
    optional: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True)
class StageStarted:
    stage: str
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class CheckStarted:
    stage: str
    check: str


@dataclass(frozen=True, slots=True)
class FindingReported:
    """A check's result. `seconds` is the check's duration, None where it was not timed."""

    stage: str
    check: str
    finding: Finding
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class MeasurementTaken:
    """One number with its unit; `sample` counts repetitions from 1, `phase` keeps cold and warm apart."""

    stage: str
    id: str
    value: float
    unit: str
    sample: int = 1
    phase: Phase = None


@dataclass(frozen=True, slots=True)
class Progressed:
    """How far the running stage is: `done` of `total` (None: unknown) in `unit`."""

    stage: str
    done: float
    total: float | None
    unit: str


@dataclass(frozen=True, slots=True)
class AudioBlockReceived:
    """One block of an utterance as it arrived: seconds since the request, its length, its outline (peaks 0..1).

    `text`: the sentence that begins with this block, "" where none does.
    """

    stage: str
    index: int
    arrived: float
    seconds: float
    envelope: list[float]
    text: str = ""


@dataclass(frozen=True, slots=True)
class TextRecognised:
    """What a recogniser heard, beside the reference it was compared with (None: there is none)."""

    stage: str
    sample: int
    text: str
    reference: str | None


@dataclass(frozen=True, slots=True)
class LogLines:
    """Cleaned lines of a child's stderr. `dropped` lines more went to the log file only."""

    stage: str
    source: str
    lines: list[str]
    dropped: int = 0


@dataclass(frozen=True, slots=True)
class ChildStarted:
    """The exact command of a child and how its environment differs from ours (secrets masked, removed keys None)."""

    stage: str
    purpose: str
    argv: list[str]
    cwd: str
    environment: dict[str, str | None]
    pid: int


@dataclass(frozen=True, slots=True)
class ChildEnded:
    """How a child ended: its code, the code's name (`SIGSEGV`, `0xC0000005 ...`), and whether we had to force it."""

    stage: str
    purpose: str
    code: int | None
    meaning: str
    forced: str
    seconds: float


@dataclass(frozen=True, slots=True)
class PlanShown:
    """The `.env` step's preview: rows of (before, after, kind), secrets masked."""

    stage: str
    file: str
    rows: list[list[str]]


@dataclass(frozen=True, slots=True)
class QuestionAsked:
    stage: str
    question: str
    options: list[str]
    default: str
    facts: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class QuestionAnswered:
    """`answered_by` says who: `person`, `option` (a command-line switch) or `default` (nobody could be asked)."""

    stage: str
    question: str
    answer: str
    answered_by: str


@dataclass(frozen=True, slots=True)
class StageFinished:
    stage: str
    outcome: Outcome
    seconds: float
    blocked_by: str | None = None


@dataclass(frozen=True, slots=True)
class StagesCleared:
    """A retry withdraws these stages' results; they are to run again."""

    stages: list[str]


@dataclass(frozen=True, slots=True)
class RunFinished:
    exit_code: int
    seconds: float


@dataclass(frozen=True, slots=True)
class UnknownEvent:
    """An event of a type this version does not know: kept and counted, never guessed at."""

    type: str
    record: dict[str, Any]


type Event = (
    RunStarted
    | StageStarted
    | CheckStarted
    | FindingReported
    | MeasurementTaken
    | Progressed
    | AudioBlockReceived
    | TextRecognised
    | LogLines
    | ChildStarted
    | ChildEnded
    | PlanShown
    | QuestionAsked
    | QuestionAnswered
    | StageFinished
    | StagesCleared
    | RunFinished
    | UnknownEvent
)

_TYPES: dict[str, type[Any]] = {
    "run_started": RunStarted,
    "stage_started": StageStarted,
    "check_started": CheckStarted,
    "finding": FindingReported,
    "measurement": MeasurementTaken,
    "progress": Progressed,
    "audio_block": AudioBlockReceived,
    "text_recognised": TextRecognised,
    "log": LogLines,
    "child_started": ChildStarted,
    "child_ended": ChildEnded,
    "plan_shown": PlanShown,
    "question_asked": QuestionAsked,
    "question_answered": QuestionAnswered,
    "stage_finished": StageFinished,
    "stages_cleared": StagesCleared,
    "run_finished": RunFinished,
}
_NAMES = {cls: name for name, cls in _TYPES.items()}
_FIELDS = {cls: tuple(f.name for f in fields(cls)) for cls in _NAMES}


def event_to_record(event: Event) -> dict[str, Any]:
    """The event as JSON values, its name under `type`."""
    if isinstance(event, UnknownEvent):
        return dict(event.record)
    record: dict[str, Any] = {"type": _NAMES[type(event)]}
    for name in _FIELDS[type(event)]:
        value = getattr(event, name)
        record[name] = value.to_record() if isinstance(value, Finding) else value
    return record


def event_from_record(record: Mapping[str, Any]) -> Event:
    """The event of a journal line; unknown fields are ignored, an unknown type gives `UnknownEvent`.

    Raises:
        KeyError, TypeError, ValueError: a known type with missing or wrong fields.
    """
    name = record["type"]
    cls = _TYPES.get(name)
    if cls is None:
        return UnknownEvent(str(name), dict(record))
    values = {field_name: record[field_name] for field_name in _FIELDS[cls] if field_name in record}
    if cls is FindingReported:
        values["finding"] = Finding.from_record(values["finding"])
    if cls is StageFinished:
        values["outcome"] = Outcome(values["outcome"])
    return cls(**values)
