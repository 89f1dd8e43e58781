"""The wizard's application: paints at once, prepares the run behind the first frame, hands keys to the control."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.theme import Theme
from textual.widgets import Static

if TYPE_CHECKING:  # all of it is loaded behind the first frame
    from rocm_wizard.qualification.exit_codes import ExitCode
    from rocm_wizard.qualification.pipeline import Pipeline
    from rocm_wizard.report.catalogue import Catalogue
    from rocm_wizard.tui.control import Control, QuestionPosted

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

    pipeline: "Pipeline"
    catalogue: "Catalogue"
    finish: "Callable[[bool], ExitCode]"
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
        Binding("r", "control('retry')"),
        Binding("c", "control('copy')"),
        Binding("k", "control('cancel')"),
        Binding("escape", "control('ask_cancel')"),
        Binding("q", "control('leave')"),
        Binding("question_mark", "control('help')"),
        Binding("ctrl+l", "redraw", priority=True),
    ]

    def __init__(self, open_run: Callable[[], RunParts], *, ascii_only: bool = False) -> None:
        super().__init__()
        self.animation_level = "none"
        self.register_theme(THEME)
        self.theme = THEME.name
        self.title = "rocm-wizard"
        self.open_error: Exception | None = None
        self.control: Control | None = None
        self._open_run = open_run
        self._ascii_only = ascii_only

    def get_default_screen(self) -> Screen[None]:
        """See `App.get_default_screen`."""
        return Opening()

    def on_ready(self) -> None:
        """Prepares the run once the first frame is on the screen."""
        self.call_after_refresh(self._open)

    async def _open(self) -> None:
        try:
            parts = self._open_run()
        except Exception as error:  # noqa: BLE001  told by the caller, when the terminal is whole again
            self.open_error = error
            self.exit()
            return
        from rocm_wizard.tui.control import Control

        control = Control(self, parts, ascii_only=self._ascii_only)
        await control.show()
        self.control = control
        control.start()

    async def on_unmount(self) -> None:
        """Nothing goes on running behind a screen that went away."""
        if self.control is not None:
            self.control.stop()

    def on_question_posted(self, message: "QuestionPosted") -> None:
        """A stage asks."""
        if self.control is not None:
            self.control.show_question(message.pending)

    def action_control(self, name: str) -> None:
        """A key that the control understands. Before there is a run, keys have nothing to act on."""
        if self.control is not None:
            getattr(self.control, name)()

    async def action_quit(self) -> None:
        """Ctrl+Q."""
        self.action_control("leave")

    def action_help_quit(self) -> None:
        """Ctrl+C, when no text is selected."""
        self.action_control("leave")

    def action_redraw(self) -> None:
        """Draws everything anew, for terminals that lost track."""
        self.refresh(layout=True)

    def send_to_terminal(self, text: str) -> None:
        """Hands a text to the terminal's clipboard (OSC 52)."""
        super().copy_to_clipboard(text)

    def copy_to_clipboard(self, text: str) -> None:
        """Text selected with the mouse (Ctrl+C) takes the same way as a command."""
        import os

        from rocm_wizard.tui import clipboard

        clipboard.copy(text, self.send_to_terminal, os.environ)
