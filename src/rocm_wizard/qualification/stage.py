"""What a stage is, and what it is given: a way to report, to ask, and to notice that it should stop."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

from rocm_wizard.qualification import events as ev
from rocm_wizard.qualification.finding import Fact, Finding, as_fact
from rocm_wizard.qualification.outcome import Outcome


class Cancelled(Exception):
    """The person asked the running stage to stop."""


class CancelToken:
    """Set once from any thread; a stage looks at it wherever it waits."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def cancel(self) -> None:
        """Asks for the stop."""
        self._event.set()

    @property
    def cancelled(self) -> bool:
        """Whether the stop was asked for."""
        return self._event.is_set()

    def raise_if_cancelled(self) -> None:
        """Raises `Cancelled` after `cancel`."""
        if self._event.is_set():
            raise Cancelled


@dataclass(frozen=True, slots=True)
class Question:
    """One question to the person: an id (catalogue key), the option ids, and what silence means.

    `typed` names an option that loses something: it is taken only when the person types its name in full, and no face
    gives it a number or a key. `free` lets the person type a text of their own, which then is the answer: `text`, or
    `path`, counted from the folder in the fact `root`.
    """

    id: str
    options: tuple[str, ...]
    default: str
    facts: dict[str, Fact] = field(default_factory=dict[str, Fact])
    timeout: float | None = None
    typed: str | None = None
    free: Literal["text", "path"] | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """The chosen option and who chose: `person`, `option` (a switch) or `default` (nobody could be asked)."""

    option: str
    answered_by: str


class Asker(Protocol):
    """A face that can put a question to the person. Called in the stage's thread; may block until answered."""

    def __call__(self, question: Question, cancel: CancelToken) -> Answer: ...


def answer_by_default(question: Question, cancel: CancelToken) -> Answer:
    """The asker of unattended runs: silence."""
    del cancel
    return Answer(question.default, "default")


class _Running(NamedTuple):
    """A check's name, and what says how many seconds it has taken."""

    name: str
    seconds: Callable[[], float | None]


class StageContext:
    """A stage's only way to the outside of the core."""

    def __init__(self, stage: str, emit: Callable[[ev.Event], object], ask: Asker, cancel: CancelToken) -> None:
        self.stage = stage
        self.cancel = cancel
        self.outcomes: list[Outcome] = []
        self._emit = emit
        self._ask = ask
        self._check: _Running | None = None
        self._broken: _Running | None = None

    def emit(self, event: ev.Event) -> None:
        """Puts an event into the journal."""
        self._emit(event)

    @contextmanager
    def check(self, name: str, *, took: float | None = None) -> Iterator[None]:
        """Times one check; findings reported inside belong to it.

        So does the first finding after an error that left it, since that tells of the error.

        `took`: seconds that a child measured itself, where its work was over before it was reported.
        """
        outer, started, before = self._check, time.monotonic(), len(self.outcomes)
        self._check = _Running(name, lambda: time.monotonic() - started if took is None else took)
        self._broken = None
        self._emit(ev.CheckStarted(self.stage, name))
        try:
            yield
        except BaseException:
            if len(self.outcomes) == before and self._broken is None:
                self._broken = self._check
            raise
        finally:
            self._check = outer

    def finding(self, id: str, outcome: Outcome, private: Sequence[str] = (), /, **facts: Any) -> Finding:
        """Reports a finding of the running check (or one without a check, under its own id)."""
        finding = Finding(id, outcome, {name: as_fact(value) for name, value in facts.items()}, frozenset(private))
        name, seconds = self._check or self._broken or (id, lambda: None)
        self._broken = None
        self.outcomes.append(outcome)
        self._emit(ev.FindingReported(self.stage, name, finding, seconds()))
        return finding

    def measure(self, id: str, value: float, unit: str, sample: int = 1, phase: ev.Phase = None) -> None:
        """Reports one number."""
        self._emit(ev.MeasurementTaken(self.stage, id, value, unit, sample, phase))

    def progress(self, done: float, total: float | None, unit: str) -> None:
        """Says how far the stage is."""
        self._emit(ev.Progressed(self.stage, done, total, unit))

    def ask(self, question: Question) -> Answer:
        """Puts a question; both question and answer go into the journal."""
        self._emit(
            ev.QuestionAsked(self.stage, question.id, list(question.options), question.default, dict(question.facts))
        )
        answer = self._ask(question, self.cancel)
        self._emit(ev.QuestionAnswered(self.stage, question.id, answer.option, answer.answered_by))
        self.cancel.raise_if_cancelled()
        return answer


class Stage(Protocol):
    """One step of the qualification. It reports findings; its outcome is computed from them."""

    @property
    def id(self) -> str: ...

    def run(self, context: StageContext) -> None:
        """Runs the step's checks.

        Raises:
            Cancelled: the person stopped it.
        """
        ...
