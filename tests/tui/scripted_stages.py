"""Small real stages for the wizard's tests: they report, ask, wait, fail and flood as told."""

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from rocm_wizard.qualification import events as ev
from rocm_wizard.qualification.exit_codes import ExitCode
from rocm_wizard.qualification.journal import Journal
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.pipeline import Pipeline
from rocm_wizard.qualification.stage import Question, StageContext
from rocm_wizard.report.catalogue import Catalogue
from rocm_wizard.tui.app import RunParts, WizardApp
from rocm_wizard.tui.run_screen import RunScreen


class Step:
    """A stage that runs the given function."""

    def __init__(self, id: str, work: Callable[[StageContext], None]) -> None:
        self.id = id
        self._work = work

    def run(self, context: StageContext) -> None:
        """See `Stage.run`."""
        self._work(context)


def passes(id: str) -> Step:
    """One check, passed."""

    def work(context: StageContext) -> None:
        with context.check("machine"):
            context.finding("profile.target", Outcome.PASSED, python="python.exe")

    return Step(id, work)


def fails(id: str, unless: Callable[[], bool] = lambda: False) -> Step:
    """A check that fails with sentence, hint and command from the catalogue, until `unless` is true."""

    def work(context: StageContext) -> None:
        with context.check("environment"):
            if unless():
                context.finding("profile.torch_installed", Outcome.PASSED, found="2.9.1")
            else:
                context.finding(
                    "profile.torch_missing",
                    Outcome.FAILED,
                    profile="local-rocm",
                    sync="uv sync --locked --extra local-rocm",
                )

    return Step(id, work)


def waits(id: str) -> Step:
    """Runs until it is cancelled."""

    def work(context: StageContext) -> None:
        with context.check("machine"):
            while True:
                context.cancel.raise_if_cancelled()
                time.sleep(0.005)

    return Step(id, work)


def holds(id: str, go: threading.Event) -> Step:
    """Runs until `go` is set, then passes."""

    def work(context: StageContext) -> None:
        with context.check("machine"):
            while not go.wait(0.02):
                context.cancel.raise_if_cancelled()
            context.finding("profile.target", Outcome.PASSED, python="python.exe")

    return Step(id, work)


def asks(id: str, question: Question, answers: list[Any], before: Sequence[ev.Event] = ()) -> Step:
    """Asks, and keeps the answer in `answers`."""

    def work(context: StageContext) -> None:
        for event in before:
            context.emit(event)
        answers.append(context.ask(question))
        context.finding("profile.chosen_person", Outcome.PASSED, profile=answers[-1].option, device="hip")

    return Step(id, work)


class Wizard:
    """A pipeline of real stages with the app on top; counts the calls of `finish`."""

    def __init__(
        self, folder: Path, stages: Sequence[Step], provenance: ev.Provenance = "live", **options: Any
    ) -> None:
        self.journal = Journal(folder / "run.jsonl")
        self.pipeline = Pipeline(stages, self.journal)
        names = [stage.id for stage in stages]
        self.journal.append(ev.RunStarted("0.1.0", names, {"profile": "local-rocm"}, {}, provenance=provenance))
        self.finished: list[tuple[bool, str]] = []
        self.finish: Callable[[bool], ExitCode] = self._end
        self.report = folder / "report.html"
        parts = RunParts(
            self.pipeline, Catalogue("en"), lambda interrupted: self.finish(interrupted), lambda: [self.report]
        )
        self.app = WizardApp(lambda: parts, **options)

    def _end(self, interrupted: bool) -> ExitCode:
        self.finished.append((interrupted, threading.current_thread().name))
        return self.pipeline.finish(interrupted=interrupted)

    def ready(self) -> bool:
        """Whether the run is on the screen: the first frame holds only the product's name."""
        return self.app.control is not None and self.app.control.screen._composed

    def shown(self, selector: str) -> str:
        """The plain text of a widget, rows below each other."""
        from textual.widgets import OptionList, Static

        widget = self.app.screen.query_one(selector)
        if isinstance(widget, OptionList):
            return "\n".join(str(option.prompt) for option in widget.options)
        assert isinstance(widget, Static)
        return str(widget.content)

    def screen_text(self) -> str:
        """Everything that is on the screen, as the terminal would get it."""
        lines = self.app.screen._compositor.render_strips()
        return "\n".join("".join(segment.text for segment in strip) for strip in lines)

    def result_shown(self) -> bool:
        """Whether the run is over and its result is on the screen."""
        on_top = isinstance(self.app.screen, RunScreen)
        return (
            on_top
            and self.app.control is not None
            and self.app.control.drive.ended
            and "\nReport\n" in self.shown("#page")
        )

    def selector_of_focus(self) -> str | None:
        """The id of the widget that has the keys."""
        focused = self.app.screen.focused
        return focused.id if focused is not None else None


async def until(pilot: Pilot[Any], condition: Callable[[], bool], limit: float = 10.0) -> None:
    """Lets the app run until `condition` holds."""
    deadline = time.monotonic() + limit
    while not condition():
        assert time.monotonic() < deadline, "the condition did not become true in time"
        await pilot.pause(0.01)
