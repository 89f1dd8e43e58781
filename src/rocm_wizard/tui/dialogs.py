"""What is put before the run's screen: questions, confirmations, the keys, a text to copy by hand."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.events import Key
from textual.screen import ModalScreen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from rocm_wizard.report.widths import cells
from rocm_wizard.tui.text import Paper, named_values, paragraph, stack, use_plain_scrollbars
from rocm_wizard.tui.words import Words

KEYS_HELP = (
    ("↑ ↓", "help_move"),
    ("Tab  Shift+Tab", "help_tab"),
    ("Enter", "help_enter"),
    ("f", "help_follow"),
    ("r", "help_retry"),
    ("c", "help_copy"),
    ("x", "help_log"),
    ("m", "help_numbers"),
    ("k", "help_cancel"),
    ("Esc", "help_escape"),
    ("Ctrl+L", "help_redraw"),
    ("q  Ctrl+Q", "help_quit"),
)
_STATES = (
    ("running", "waiting", "passed"),
    ("warning", "failed", "crashed"),
    ("could_not_check", "blocked", "cancelled"),
    ("skipped",),
)


class Choices(OptionList):
    """Numbered options, wrapped; the marked one is where the cursor begins."""

    def __init__(self, words: Words, options: Sequence[str], marked: int | None, mark: str = "") -> None:
        super().__init__(id="choices", markup=False)
        self._words, self._texts, self._marked, self._mark = words, options, marked, mark
        self._width = 0

    def on_resize(self) -> None:
        """Lays the options out for the width there is."""
        width = self.scrollable_content_region.width - 2
        if width < 1 or width == self._width:
            return
        at, self._width = self.highlighted if self.option_count else self._marked, width
        self.clear_options()
        self.add_options(self._option(number, text, width) for number, text in enumerate(self._texts))
        self.highlighted = at

    def _option(self, number: int, text: str, width: int) -> Option:
        title, _, explanation = text.partition("\n")
        lines = paragraph(title, width, "bold", indent=3, first=f"{number + 1}")
        if number == self._marked and self._mark:
            lines[-1] = Content.assemble(lines[-1], (f"  ({self._mark})", "$muted"))
        if explanation:
            lines += paragraph(explanation, width, "$soft", indent=3, first="   ")
        return Option(stack(lines))


LETTERS = {"y": "yes", "n": "no"}
"""Keys for choices that nearly every question has."""


class Dialog(ModalScreen[str]):
    """A box with a title, text, and numbered choices; dismissed with a choice's id, or an empty text for none."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", show=False),
        Binding("q", "app.control('leave')", show=False),
        Binding("pageup", "scroll(-1)", show=False, priority=True),
        Binding("pagedown", "scroll(1)", show=False, priority=True),
    ]

    def __init__(
        self, words: Words, title: str, options: Sequence[tuple[str, str]] = (), default: str | None = None
    ) -> None:
        super().__init__(classes="-ascii" if words.ascii_only else "")
        self.words = words
        self.title_text = title
        self.options = tuple(options)
        self.default = default

    def compose(self) -> ComposeResult:
        """See `Screen.compose`."""
        ids = [id for id, _ in self.options]
        marked = ids.index(self.default) if self.default in ids else None
        with Vertical(id="box"):
            yield Paper(id="box-title")
            with VerticalScroll(id="box-body", can_focus=not ids):
                yield Paper(id="box-text")
            if ids:
                yield Choices(self.words, [text for _, text in self.options], marked, self.mark())
            yield from self.extra()
            yield Paper(id="box-note")

    def extra(self) -> ComposeResult:
        """What stands between the choices and the small text."""
        yield from ()

    def on_mount(self) -> None:
        """Fills the box."""
        if self.words.ascii_only:
            use_plain_scrollbars(self)
        self.query_one("#box-title", Paper).show(None, lambda width: stack(paragraph(self.title_text, width, "bold")))
        self.query_one("#box-text", Paper).show(None, self.body)
        self.write_note()
        self.screen_layout_refresh_signal.subscribe(self, lambda _: self._fit())

    def _fit(self) -> None:
        """Gives the text all rows that the rest of the box leaves; the choices and the note are never pushed out."""
        box, body = self.query_one("#box"), self.query_one("#box-body")
        others = sum(
            child.outer_size.height + child.styles.margin.height for child in box.children if child is not body
        )
        room = max(3, self.size.height - box.gutter.height - body.styles.margin.height - others)
        if body.styles.max_height is None or body.styles.max_height.value != room:
            body.styles.max_height = room

    def mark(self) -> str:
        """The word beside the default option."""
        return ""

    def body(self, width: int) -> Content:
        """The text above the choices."""
        return Content("")

    def note(self) -> str:
        """The small text below them."""
        return self.words.ui("close_keys")

    def write_note(self) -> None:
        """Shows the small text as it is now."""
        text = self.note()
        for paper in self.query("#box-note").results(Paper):  # none yet while the box is being put together
            paper.show(text, lambda width: stack(paragraph(text, width, "$muted")))

    def on_key(self, event: Key) -> None:
        """Number keys choose, and y and n where yes and no are choices; Enter closes a box without choices."""
        ids = [id for id, _ in self.options]
        if event.key.isdecimal() and 1 <= int(event.key) <= len(self.options):
            event.stop()
            self.choose(self.options[int(event.key) - 1][0])
        elif (letter := LETTERS.get(event.key)) in ids:
            event.stop()
            self.choose(letter)
        elif event.key == "enter" and not self.options:
            event.stop()
            self.choose("")

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Enter or a click on a choice."""
        event.stop()
        self.choose(self.options[event.option_index][0])

    def choose(self, option: str) -> None:
        """Ends the dialog."""
        self.dismiss(option)

    def action_close(self) -> None:
        """Escape."""
        self.choose("")

    def action_scroll(self, direction: int) -> None:
        """Moves a long text by most of a page."""
        body = self.query_one("#box-body")
        body.scroll_relative(y=direction * max(1, body.size.height - 2), animate=False)


class ConfirmDialog(Dialog):
    """Asks once before something that cannot be taken back; the harmless answer is the default."""

    def __init__(self, words: Words, topic: str, **facts: str) -> None:
        options = (("no", words.ui(f"{topic}_no")), ("yes", words.ui(f"{topic}_yes")))
        super().__init__(words, words.ui(f"{topic}_title"), options, "no")
        self.topic = topic
        self._text = words.ui(f"{topic}_text", **facts)

    def body(self, width: int) -> Content:
        """See `Dialog.body`."""
        return stack(paragraph(self._text, width, "$soft"))

    def note(self) -> str:
        """See `Dialog.note`."""
        return self.words.ui("question_default", count=len(self.options))


class TextDialog(Dialog):
    """A text to read, or to copy by hand."""

    def __init__(self, words: Words, title: str, explanation: str, text: str) -> None:
        super().__init__(words, title)
        self._explanation, self._text = explanation, text

    def body(self, width: int) -> Content:
        """See `Dialog.body`. The text itself stands without any indent, to be selected whole."""
        above = paragraph(self._explanation, width, "$soft")
        return stack([*above, Content(""), *paragraph(self._text, width, "bold")])


class HelpDialog(Dialog):
    """The keys and the signs."""

    def __init__(self, words: Words) -> None:
        super().__init__(words, words.ui("help_title"))

    def body(self, width: int) -> Content:
        """See `Dialog.body`."""
        words = self.words
        first = "Up Down" if words.ascii_only else KEYS_HELP[0][0]
        rows = [(first if number == 0 else key, words.ui(name)) for number, (key, name) in enumerate(KEYS_HELP)]
        lines = [*named_values(rows, width), Content(""), Content.styled(words.ui("help_states"), "bold $accent")]
        cell = max(cells(words.word(state)) for row in _STATES for state in row) + 4
        for row in _STATES:
            parts = [
                Content.assemble((words.glyph(state), f"bold {words.style(state)}"), f" {words.word(state)}")
                for state in row
            ]
            lines.append(Content("").join([part.pad_right(cell - part.cell_length) for part in parts]))
        return stack(lines)
