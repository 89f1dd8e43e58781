"""What the wizard does once there is a run: draws it ten times a second, asks, retries, stops, leaves."""

import os
import time
from collections.abc import Awaitable
from typing import TYPE_CHECKING

from textual.message import Message

from rocm_wizard.qualification.exit_codes import ExitCode
from rocm_wizard.qualification.state import RunState
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

if TYPE_CHECKING:
    from rocm_wizard.tui.app import RunParts, WizardApp

TICK = 0.1


class QuestionPosted(Message):
    """A stage's thread asked."""

    def __init__(self, pending: PendingQuestion) -> None:
        super().__init__()
        self.pending = pending


class Control:
    """Stands between the app's keys, the run's thread and the one screen."""

    def __init__(self, app: "WizardApp", parts: "RunParts", *, ascii_only: bool) -> None:
        self._app = app
        self._parts = parts
        self.words = Words(parts.catalogue, ascii_only=ascii_only)
        self._feed = Feed(parts.pipeline)
        self.drive = Drive(parts.pipeline, parts.finish, parts.begin)
        self._run: RunState = self._feed.state()
        self._seen_at = time.monotonic()
        self._stopping = False
        self._leaving = False
        self._ending = Ending()
        self._ending_known = False
        self.screen = RunScreen(self.words, self._feed.log, self._run)
        parts.pipeline.ask = ScreenAsker(lambda pending: app.post_message(QuestionPosted(pending)))

    def show(self) -> Awaitable[None]:
        """Puts the run's screen up; to be awaited before `start`."""
        return self._app.push_screen(self.screen)

    def start(self) -> None:
        """Starts the clock that draws the run, and the run."""
        self._app.set_interval(TICK, self.tick)
        self.drive.start()

    def stop(self) -> None:
        """However the screen went away: nothing goes on running behind it."""
        if not self.drive.ended:
            self.drive.interrupt()
            self.drive.wait()

    def tick(self) -> None:
        run = self._feed.state()
        if run is not self._run:
            self._run, self._seen_at = run, time.monotonic()
            self._stopping = self._stopping and run.current is not None
        code = self.drive.code if self.drive.ended else None
        if code is not None and not self._ending_known:
            self._learn_ending()
        seconds = run.seconds + (time.monotonic() - self._seen_at)
        moment = Moment(seconds, code, self._stopping or self._leaving, self.drive.run_error is not None)
        self.screen.update_run(run, moment, self._ending)
        top = self._app.screen
        if isinstance(top, QuestionDialog):
            if top.pending.settled:
                top.dismiss("")
            else:
                top.write_note()
        elif isinstance(top, ConfirmDialog) and top.topic == "cancel" and run.current is None:
            top.dismiss("")

    def _learn_ending(self) -> None:
        words, drive = self.words, self.drive
        troubles: list[str] = []
        if drive.run_error is not None:
            troubles.append(words.ui("run_broke", error=f"{type(drive.run_error).__name__}: {drive.run_error}"))
        if drive.finish_error is not None:
            troubles.append(words.ui("finish_failed", error=str(drive.finish_error)))
        if (error := self._parts.pipeline.journal.write_error) is not None:
            troubles.append(words.ui("journal_error", error=error))
        self._ending = Ending(tuple(self._parts.report_paths()), tuple(troubles))
        self._ending_known = True

    def show_question(self, pending: PendingQuestion) -> None:
        """Shows a stage's question."""
        if not pending.settled:
            self.tick()
            self._app.push_screen(QuestionDialog(self.words, pending, self._run))

    def retry(self) -> None:
        """Runs the selected step and the later ones again."""
        target = self.screen.retry_target
        if not self.drive.ended:
            self._say("retry_running")
        elif target is None:
            self._say("retry_nothing")
        else:
            self._ending, self._ending_known = Ending(), False
            self.drive.start(retry=target)
            self.screen.action_follow()
            self.tick()

    def copy(self) -> None:
        """Copies the command of the selected finding and says where it went."""
        finding = self.screen.finding
        text = self.words.command(self._run, finding) if finding is not None else None
        if text is None:
            self._say("copy_nothing")
            return
        place = clipboard.copy(text, self._app.send_to_terminal, os.environ)
        if place == "nowhere":
            self._app.push_screen(TextDialog(self.words, self.words.ui("copy_title"), self.words.ui("copy_text"), text))
        else:
            self._say(f"copied_{place}")

    def cancel(self) -> None:
        """Stops the running step."""
        self.tick()
        if self._run.current is None:
            self._say("cancel_nothing")
            return
        self._stopping = True
        self.drive.cancel()
        self.tick()

    def ask_cancel(self) -> None:
        """Asks, then stops the running step."""
        self.tick()
        stage = self._run.current
        if stage is None:
            return
        title = self.words.catalogue.stage_title(stage.id)
        self._app.push_screen(ConfirmDialog(self.words, "cancel", stage=title), self._cancel_confirmed)

    def _cancel_confirmed(self, answer: str | None) -> None:
        if answer == "yes" and self._run.current is not None:
            self.cancel()

    def leave(self) -> None:
        """Leaves: at once when the run has ended, else after asking."""
        if self.drive.ended:
            self._leave_now()
        elif not self._leaving and not isinstance(self._app.screen, ConfirmDialog):
            self._app.push_screen(ConfirmDialog(self.words, "quit"), self._leave_confirmed)

    def _leave_confirmed(self, answer: str | None) -> None:
        if answer != "yes":
            return
        if self.drive.ended:
            self._leave_now()
            return
        self._leaving = True
        self.drive.interrupt()
        self._app.run_worker(self._stop_children, thread=True, exit_on_error=False)

    def _stop_children(self) -> None:
        if not self.drive.wait():
            self.drive.abandon()
        self._app.call_later(self._leave_now)

    def _leave_now(self) -> None:
        code = self.drive.code
        self._app.exit(int(ExitCode.INTERRUPTED if code is None else code))

    def help(self) -> None:
        """Shows the keys."""
        if not isinstance(self._app.screen, HelpDialog):
            self._app.push_screen(HelpDialog(self.words))

    def _say(self, key: str) -> None:
        self._app.notify(self.words.ui(key), markup=False, timeout=4)
