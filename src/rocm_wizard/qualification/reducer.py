"""Events in, run state out: linear in the number of events, flat in memory."""

import threading
from collections.abc import Callable, Iterable
from typing import Any

from rocm_wizard.qualification import events as ev
from rocm_wizard.qualification.journal import Record
from rocm_wizard.qualification.state import CheckState, RunState, StageBuilder


class Reducer:
    """Applies records one by one; `state()` freezes the picture when somebody wants to look. Safe from any thread.

    `stages` are shown as waiting before the first record has said which there are.
    """

    def __init__(self, stages: Iterable[str] = ()) -> None:
        self._lock = threading.Lock()
        self._header: ev.RunStarted | None = None
        self._started_wall = ""
        self._stages: dict[str, StageBuilder] = {name: StageBuilder(name) for name in stages}
        self._question: ev.QuestionAsked | None = None
        self._answers: list[ev.QuestionAnswered] = []
        self._seconds = 0.0
        self._events = 0
        self._unknown = 0
        self._log_lines = 0
        self._exit_code: int | None = None
        self._frozen: RunState | None = None

    def apply(self, record: Record) -> None:
        """Takes one record into the picture."""
        with self._lock:
            self._apply(record)

    def _apply(self, record: Record) -> None:
        self._frozen = None
        self._events += 1
        self._seconds = record.t
        if isinstance(record.event, ev.RunStarted):
            self._header, self._started_wall = record.event, record.wall
            self._stages = {name: StageBuilder(name) for name in record.event.stages}
            return
        handler = _HANDLERS.get(type(record.event))
        if handler is not None:
            handler(self, record.event, record.t)

    def state(self) -> RunState:
        """The run as of the last record applied."""
        with self._lock:
            if self._frozen is None:
                self._frozen = self._freeze()
            return self._frozen

    def _freeze(self) -> RunState:
        return RunState(
            header=self._header,
            started_wall=self._started_wall,
            stages=tuple(stage.freeze() for stage in self._stages.values()),
            question=self._question,
            answers=tuple(self._answers),
            seconds=self._seconds,
            events=self._events,
            unknown_events=self._unknown,
            log_lines=self._log_lines,
            finished_exit_code=self._exit_code,
        )

    def _stage(self, name: str) -> StageBuilder:
        return self._stages.setdefault(name, StageBuilder(name))

    def _stage_started(self, event: ev.StageStarted, t: float) -> None:
        self._stages[event.stage] = StageBuilder(event.stage, running=True, attempt=event.attempt, started=t)

    def _check_started(self, event: ev.CheckStarted, t: float) -> None:
        self._stage(event.stage).checks.append(CheckState(event.check, t))

    def _finding(self, event: ev.FindingReported, t: float) -> None:
        checks = self._stage(event.stage).checks
        done = CheckState(event.check, t - (event.seconds or 0.0), event.finding, event.seconds)
        for index in range(len(checks) - 1, -1, -1):
            if checks[index].id == event.check and checks[index].finding is None:
                checks[index] = done
                return
        checks.append(done)

    def _measurement(self, event: ev.MeasurementTaken, _t: float) -> None:
        self._stage(event.stage).measurements.append(event)

    def _progress(self, event: ev.Progressed, _t: float) -> None:
        self._stage(event.stage).progress = event

    def _block(self, event: ev.AudioBlockReceived, _t: float) -> None:
        self._stage(event.stage).blocks.append(event)

    def _text(self, event: ev.TextRecognised, _t: float) -> None:
        self._stage(event.stage).texts.append(event)

    def _log(self, event: ev.LogLines, _t: float) -> None:
        self._log_lines += len(event.lines) + event.dropped

    def _child(self, event: ev.ChildStarted | ev.ChildEnded, _t: float) -> None:
        self._stage(event.stage).children.append(event)

    def _plan(self, event: ev.PlanShown, _t: float) -> None:
        self._stage(event.stage).plan = event

    def _asked(self, event: ev.QuestionAsked, _t: float) -> None:
        self._question = event

    def _answered(self, event: ev.QuestionAnswered, _t: float) -> None:
        self._question = None
        self._answers.append(event)

    def _stage_finished(self, event: ev.StageFinished, _t: float) -> None:
        stage = self._stage(event.stage)
        stage.running, stage.outcome, stage.seconds = False, event.outcome, event.seconds
        stage.blocked_by, stage.progress = event.blocked_by, None
        self._question = None

    def _cleared(self, event: ev.StagesCleared, _t: float) -> None:
        for name in event.stages:
            self._stages[name] = StageBuilder(name)
        self._exit_code = None

    def _finished(self, event: ev.RunFinished, _t: float) -> None:
        self._exit_code = event.exit_code

    def _unknown_event(self, _event: ev.UnknownEvent, _t: float) -> None:
        self._unknown += 1


_HANDLERS: dict[type[Any], Callable[[Reducer, Any, float], None]] = {
    ev.StageStarted: Reducer._stage_started,
    ev.CheckStarted: Reducer._check_started,
    ev.FindingReported: Reducer._finding,
    ev.MeasurementTaken: Reducer._measurement,
    ev.Progressed: Reducer._progress,
    ev.AudioBlockReceived: Reducer._block,
    ev.TextRecognised: Reducer._text,
    ev.LogLines: Reducer._log,
    ev.ChildStarted: Reducer._child,
    ev.ChildEnded: Reducer._child,
    ev.PlanShown: Reducer._plan,
    ev.QuestionAsked: Reducer._asked,
    ev.QuestionAnswered: Reducer._answered,
    ev.StageFinished: Reducer._stage_finished,
    ev.StagesCleared: Reducer._cleared,
    ev.RunFinished: Reducer._finished,
    ev.UnknownEvent: Reducer._unknown_event,
}


def reduce(records: Iterable[Record]) -> RunState:
    """The state after all records."""
    reducer = Reducer()
    for record in records:
        reducer.apply(record)
    return reducer.state()
