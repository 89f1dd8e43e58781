"""The wizard's application: owns the run's thread and the dialogs, and turns keys into requests."""

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.screen import Screen
from textual.theme import Theme
from textual.widgets import Static

from rocm_wizard.qualification.exit_codes import ExitCode
from rocm_wizard.qualification.pipeline import Pipeline
from rocm_wizard.qualification.state import RunState
from rocm_wizard.report.catalogue import Catalogue
from rocm_wizard.tui import clipboard
from rocm_wizard.tui.asker import PendingQuestion, ScreenAsker
from rocm_wizard.tui.dialogs import ConfirmDialog, HelpDialog, TextDialog
from rocm_wizard.tui.drive import Drive
from rocm_wizard.tui.feed import Feed
from rocm_wizard.tui.header import Moment
from rocm_wizard.tui.pages import Ending
from rocm_wizard.tui.question import QuestionDialog
from rocm_wizard.tui.run_screen import RunScreen
from rocm_wizard.tui.words import Words

TICK = 0.1

THEME = Theme(
    name="qualification",
    primary="#5fb3d9",
    accent="#5fb3d9",
    success="#79c27c",
    warning="#e0b050",
    error="#ec7a6c",
    foreground="#dfe5ea",
    background="#11161b",
    surface="#11161b",
    panel="#1d262e",
    variables={"muted": "#8593a0", "soft": "#b3bec8", "badge": "#e0b050", "badge-ink": "#11161b"},
)


class QuestionPosted(Message):
    """A stage's thread asked."""

    def __init__(self, pending: PendingQuestion) -> None:
        super().__init__()
        self.pending = pending


@dataclass(frozen=True, slots=True)
class RunParts:
    """What the wizard shows and drives.

    Attributes:
        pipeline: the app sets its asker and runs it.
        catalogue: the language.
        finish: called once for each ended run (also after a retry) with whether it was interrupted, in the run's
            thread; writes the journal's end and the reports and gives the exit code.
        report_paths: the report files, asked for when a run has ended.
        begin: called once in the run's thread before the first step; writes the journal's first line.
    """

    pipeline: Pipeline
    catalogue: Catalogue
    finish: Callable[[bool], ExitCode]
    report_paths: Callable[[], Sequence[Path]] = tuple
    begin: Callable[[], object] = lambda: None


class Opening(Screen[None]):
    """The first frame: the product's name where it stays, while the run is being prepared."""

    def compose(self) -> ComposeResult:
        """See `Screen.compose`."""
        yield Static("rocm-wizard", id="opening")


class WizardApp(App[int]):
    """Shows the run that `open_run` prepares; returns the exit code.

    `open_run` is called once the first frame is on the screen. What it raises ends the app, and `open_error` holds it.
    `ascii_only`: no sign beyond ASCII, no line drawing.
    """

    CSS_PATH = "wizard.tcss"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "retry"),
        Binding("c", "copy"),
        Binding("k", "cancel"),
        Binding("escape", "ask_cancel"),
        Binding("q", "leave"),
        Binding("question_mark", "help"),
        Binding("ctrl+l", "redraw", priority=True),
    ]

    def __init__(self, open_run: Callable[[], RunParts], *, ascii_only: bool = False) -> None:
        super().__init__()
        self.animation_level = "none"
        self.register_theme(THEME)
        self.theme = THEME.name
        self.title = "rocm-wizard"
        self.open_error: Exception | None = None
        self._open_run = open_run
        self._ascii_only = ascii_only
        self._opened = False
        self._seen_at = time.monotonic()
        self._stopping = False
        self._leaving = False
        self._ending = Ending()
        self._ending_known = False

    def get_default_screen(self) -> Screen[None]:
        """See `App.get_default_screen`."""
        return Opening()

    def on_ready(self) -> None:
        """Prepares the run once the first frame is on the screen."""
        self.call_after_refresh(self._open)

    async def _open(self) -> None:
        try:
            self._parts = parts = self._open_run()
        except Exception as error:  # noqa: BLE001  told by the caller, when the terminal is whole again
            self.open_error = error
            self.exit()
            return
        self.words = Words(parts.catalogue, ascii_only=self._ascii_only)
        self._feed = Feed(parts.pipeline)
        self._drive = Drive(parts.pipeline, parts.finish, parts.begin)
        self._run: RunState = self._feed.state()
        self._screen = RunScreen(self.words, self._feed.log, self._run)
        parts.pipeline.ask = ScreenAsker(lambda pending: self.post_message(QuestionPosted(pending)))
        await self.push_screen(self._screen)
        self._opened = True
        self.set_interval(TICK, self._tick)
        self._drive.start()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """See `DOMNode.check_action`. Before there is a run, keys have nothing to act on."""
        return self._opened

    async def on_unmount(self) -> None:
        """However the screen went away: nothing goes on running behind it."""
        if self._opened and not self._drive.ended:
            self._drive.interrupt()
            self._drive.wait()

    @property
    def run_state(self) -> RunState:
        """The picture that is being shown."""
        return self._run

    def _tick(self) -> None:
        run = self._feed.state()
        if run is not self._run:
            self._run, self._seen_at = run, time.monotonic()
            self._stopping = self._stopping and run.current is not None
        code = self._drive.code if self._drive.ended else None
        if code is not None and not self._ending_known:
            self._learn_ending()
        seconds = run.seconds + (time.monotonic() - self._seen_at)
        moment = Moment(seconds, code, self._stopping or self._leaving, self._drive.run_error is not None)
        self._screen.update_run(run, moment, self._ending)
        top = self.screen
        if isinstance(top, QuestionDialog):
            if top.pending.settled:
                top.dismiss("")
            else:
                top.write_note()
        elif isinstance(top, ConfirmDialog) and top.topic == "cancel" and run.current is None:
            top.dismiss("")

    def _learn_ending(self) -> None:
        words, drive = self.words, self._drive
        troubles: list[str] = []
        if drive.run_error is not None:
            troubles.append(words.ui("run_broke", error=f"{type(drive.run_error).__name__}: {drive.run_error}"))
        if drive.finish_error is not None:
            troubles.append(words.ui("finish_failed", error=str(drive.finish_error)))
        if (error := self._parts.pipeline.journal.write_error) is not None:
            troubles.append(words.ui("journal_error", error=error))
        self._ending = Ending(tuple(self._parts.report_paths()), tuple(troubles))
        self._ending_known = True

    def on_question_posted(self, message: QuestionPosted) -> None:
        """Shows a stage's question."""
        if not message.pending.settled:
            self._tick()
            self.push_screen(QuestionDialog(self.words, message.pending, self._run))

    def action_retry(self) -> None:
        """Runs the selected step and the later ones again."""
        target = self._screen.retry_target
        if not self._drive.ended:
            self._say("retry_running")
        elif target is None:
            self._say("retry_nothing")
        else:
            self._ending, self._ending_known = Ending(), False
            self._drive.start(retry=target)
            self._screen.action_follow()
            self._tick()

    def action_copy(self) -> None:
        """Copies the command of the selected finding and says where it went."""
        finding = self._screen.finding
        text = self.words.catalogue.action(finding) if finding is not None else None
        if text is None:
            self._say("copy_nothing")
            return
        place = clipboard.copy(text, super().copy_to_clipboard, os.environ)
        if place == "nowhere":
            self.push_screen(TextDialog(self.words, self.words.ui("copy_title"), self.words.ui("copy_text"), text))
        else:
            self._say(f"copied_{place}")

    def copy_to_clipboard(self, text: str) -> None:
        """Text selected with the mouse (Ctrl+C) takes the same way as a command."""
        clipboard.copy(text, super().copy_to_clipboard, os.environ)

    def action_cancel(self) -> None:
        """Stops the running step."""
        if self._run.current is None:
            self._say("cancel_nothing")
            return
        self._stopping = True
        self._drive.cancel()
        self._tick()

    def action_ask_cancel(self) -> None:
        """Asks, then stops the running step."""
        stage = self._run.current
        if stage is None:
            return
        title = self.words.catalogue.stage_title(stage.id)
        self.push_screen(ConfirmDialog(self.words, "cancel", stage=title), self._cancel_confirmed)

    def _cancel_confirmed(self, answer: str | None) -> None:
        if answer == "yes" and self._run.current is not None:
            self.action_cancel()

    def action_leave(self) -> None:
        """Leaves: at once when the run has ended, else after asking."""
        if self._drive.ended:
            self._leave_now()
        elif not self._leaving and not isinstance(self.screen, ConfirmDialog):
            self.push_screen(ConfirmDialog(self.words, "quit"), self._leave_confirmed)

    async def action_quit(self) -> None:
        """Ctrl+Q."""
        self.action_leave()

    def action_help_quit(self) -> None:
        """Ctrl+C, when no text is selected."""
        self.action_leave()

    def _leave_confirmed(self, answer: str | None) -> None:
        if answer != "yes":
            return
        if self._drive.ended:
            self._leave_now()
            return
        self._leaving = True
        self._drive.interrupt()
        self.run_worker(self._stop_children, thread=True, exit_on_error=False)

    def _stop_children(self) -> None:
        if not self._drive.wait():
            self._drive.abandon()
        self.call_later(self._leave_now)

    def _leave_now(self) -> None:
        code = self._drive.code
        self.exit(int(ExitCode.INTERRUPTED if code is None else code))

    def action_help(self) -> None:
        """Shows the keys."""
        if not isinstance(self.screen, HelpDialog):
            self.push_screen(HelpDialog(self.words))

    def action_redraw(self) -> None:
        """Draws everything anew, for terminals that lost track."""
        self.refresh(layout=True)

    def _say(self, key: str) -> None:
        self.notify(self.words.ui(key), markup=False, timeout=4)
