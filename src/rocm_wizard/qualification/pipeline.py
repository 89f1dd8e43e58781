"""Runs the stages in order, each behind the gate of the ones before it."""

import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rocm_wizard.qualification import events as ev
from rocm_wizard.qualification.exit_codes import ExitCode
from rocm_wizard.qualification.journal import Journal, Record
from rocm_wizard.qualification.outcome import Outcome, worst
from rocm_wizard.qualification.reducer import Reducer
from rocm_wizard.qualification.stage import Asker, Cancelled, CancelToken, Stage, StageContext, answer_by_default
from rocm_wizard.qualification.state import RunState


class Pipeline:
    """Owns the order of the stages, the gates, retries and the run's end.

    Not thread-safe by itself: one thread at a time calls `start`, `run`, `retry` and `finish`; `cancel` and `state`
    may be called from any. A `cancel` holds until the next `retry`.
    """

    def __init__(
        self,
        stages: Sequence[Stage],
        journal: Journal,
        *,
        ask: Asker = answer_by_default,
        clean_up: Callable[[], object] = lambda: None,
    ) -> None:
        self.stages = tuple(stages)
        self.journal = journal
        self.ask = ask
        self._clean_up = clean_up
        self._reducer = Reducer(stage.id for stage in self.stages)
        self._attempts: dict[str, int] = {}
        self._cancel = CancelToken()
        self._began = time.monotonic()
        journal.subscribe(self._reducer.apply)

    @property
    def state(self) -> RunState:
        """The run as it is now."""
        return self._reducer.state()

    def start(
        self,
        tool_version: str,
        target: Mapping[str, Any],
        machine: Mapping[str, Any],
        language: str,
        *,
        level: str = "standard",
        provenance: ev.Provenance = "live",
        partial: bool = False,
        optional: Sequence[str] = (),
    ) -> Record:
        """Writes the journal's first line."""
        names = [stage.id for stage in self.stages]
        event = ev.RunStarted(
            tool_version, names, dict(target), dict(machine), level, language, provenance, partial, list(optional)
        )
        return self.journal.append(event)

    def cancel(self) -> None:
        """Asks the running stage to stop."""
        self._cancel.cancel()

    def run(self) -> RunState:
        """Runs every stage that has no result yet; a closed gate marks the later ones as blocked by its stage."""
        closed_by: str | None = None
        for stage in self.stages:
            outcome = self.state.stage(stage.id).outcome
            if outcome is None:
                outcome = self._block(stage, closed_by) if closed_by else self._run_stage(stage)
            if closed_by is None and not outcome.opens_gate:
                closed_by = stage.id
        return self.state

    def retry(self, stage_id: str) -> RunState:
        """Withdraws the results of `stage_id` and of all later stages, and runs them again.

        Raises:
            ValueError: there is no such stage.
        """
        names = [stage.id for stage in self.stages]
        self._cancel = CancelToken()
        self.journal.append(ev.StagesCleared(names[names.index(stage_id) :]))
        return self.run()

    def finish(self, *, interrupted: bool = False) -> ExitCode:
        """Writes the journal's last line and returns the exit code that the findings add up to."""
        code = ExitCode.INTERRUPTED if interrupted else self.state.verdict
        self.journal.append(ev.RunFinished(int(code), time.monotonic() - self._began))
        self.journal.sync()
        return code

    def _block(self, stage: Stage, closed_by: str) -> Outcome:
        self.journal.append(ev.StageFinished(stage.id, Outcome.BLOCKED, 0.0, blocked_by=closed_by))
        return Outcome.BLOCKED

    def _run_stage(self, stage: Stage) -> Outcome:
        self._attempts[stage.id] = self._attempts.get(stage.id, 0) + 1
        self.journal.append(ev.StageStarted(stage.id, self._attempts[stage.id]))
        started = time.monotonic()
        context = StageContext(stage.id, self.journal.append, self.ask, self._cancel)
        try:
            self._cancel.raise_if_cancelled()
            stage.run(context)
        except Cancelled:
            context.finding(f"{stage.id}.cancelled", Outcome.CANCELLED)
        except Exception as error:  # noqa: BLE001  a bug of ours ends the stage, never the wizard
            self._report_bug(context, error)
        finally:
            self._clean_up()
        outcome = worst(context.outcomes)
        self.journal.append(ev.StageFinished(stage.id, outcome, time.monotonic() - started))
        self.journal.sync()
        return outcome

    def _report_bug(self, context: StageContext, error: Exception) -> None:
        where = traceback.extract_tb(error.__traceback__)[-1]
        context.emit(ev.LogLines(context.stage, "rocm-wizard", traceback.format_exception(error)))
        said, place = f"{type(error).__name__}: {error}", f"{where.name}:{where.lineno}"
        context.finding("internal.error", Outcome.CRASHED, ["error"], error=said, place=place)
