"""A stage's question as a dialog; for the `.env` step with the comparison that the answer is about."""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Input

from rocm_wizard.qualification.events import PlanShown
from rocm_wizard.qualification.state import RunState
from rocm_wizard.report.widths import pad
from rocm_wizard.tui.asker import PendingQuestion
from rocm_wizard.tui.dialogs import LETTERS, Dialog
from rocm_wizard.tui.paths import PathSuggester
from rocm_wizard.tui.text import Line, fit, paragraph, stack
from rocm_wizard.tui.words import Words

_WITH_PLAN = "env.apply"
_NUMBERED = 9


def compare_lines(words: Words, rows: Sequence[Sequence[str]], width: int) -> list[Line]:
    """Rows of (before, after, kind) side by side: `+` added, `-` removed, `~` changed, so that no colour is needed."""
    half = (width - 5) // 2
    line_sign = "|" if words.ascii_only else "│"
    head = Content.styled(pad(words.ui("word_before"), half), "bold $muted")
    lines = [Content.assemble("  ", head, f" {line_sign} ", (words.ui("word_after"), "bold $muted"))]
    for before, after, *_ in rows:
        sign, style = _change(before, after)
        left = paragraph(before, half, style if sign in "-~" else "$muted")
        right = paragraph(after, half, style if sign in "+~" else "$muted")
        for number in range(max(len(left), len(right), 1)):
            one = left[number] if number < len(left) else Content("")
            two = right[number] if number < len(right) else Content("")
            mark = (f"{sign} ", f"bold {style}") if number == 0 else "  "
            padded = one.pad_right(max(0, half - one.cell_length))
            lines.append(Content.assemble(mark, padded, (f" {line_sign} ", "$muted"), two))
    return lines


def _change(before: str, after: str) -> tuple[str, str]:
    if before == after:
        return " ", "$muted"
    if not before:
        return "+", "$success"
    return ("~", "$warning") if after else ("-", "$error")


class QuestionDialog(Dialog):
    """Settles a pending question; goes away when it is settled otherwise. Escape offers to stop the step that asks."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "app.control('ask_cancel')", show=False)]

    def __init__(self, words: Words, pending: PendingQuestion, run: RunState) -> None:
        question, catalogue = pending.question, words.catalogue
        asked = run.question
        stage = next((one for one in run.stages if asked is not None and one.id == asked.stage), None)
        numbered = (option for option in question.options if option != question.typed)
        options = tuple((option, option_text(words, question.id, option)) for option in numbered)
        super().__init__(words, catalogue.stage_title(stage.id) if stage else "", options, question.default)
        self.pending = pending
        self._plan: PlanShown | None = stage.plan if stage is not None and question.id == _WITH_PLAN else None

    def mark(self) -> str:
        """See `Dialog.mark`."""
        return self.words.ui("question_mark")

    def body(self, width: int) -> Content:
        """The question, and below it what would change."""
        question = self.pending.question
        lines = paragraph(self.words.catalogue.question(question.id, question.facts), width)
        if self._plan is not None:
            lines += [Content(""), Content.styled(fit(self._plan.file, width), "$soft")]
            lines += compare_lines(self.words, self._plan.rows, width)
        return stack(lines)

    def note(self) -> str:
        """How to answer, and what silence means."""
        question, words = self.pending.question, self.words
        known = question.default in question.options
        count = min(_NUMBERED, len(self.options))
        parts = [words.ui("question_default" if known else "question_no_default", count=count)]
        if {*LETTERS.values()} <= {id for id, _ in self.options}:
            parts.append(words.ui("question_letters"))
        if self._plan is not None:
            parts.append(words.ui("question_scroll"))
        if question.typed is not None:
            parts.append(words.ui("question_typed", typed=question.typed))
        if question.free is not None:
            parts.append(words.ui(f"question_free_{question.free}"))
        lines = [" ".join([*parts, words.ui("question_escape")])]
        if (seconds := self.pending.seconds_left) is not None:
            default = words.catalogue.option(question.id, question.default)
            lines.insert(0, words.ui("question_timeout", seconds=seconds, default=default))
        return "\n".join(lines)

    def extra(self) -> ComposeResult:
        """See `Dialog.extra`: a line to type in, for an option that has to be typed out or an answer of one's own."""
        question = self.pending.question
        if question.free == "path":
            yield Input(id="typed", compact=True, suggester=PathSuggester(Path(str(question.facts.get("root", ".")))))
        elif question.free or question.typed:
            yield Input(id="typed", compact=True)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """A text of one's own where that is allowed; else only the whole name counts and the rest changes nothing."""
        event.stop()
        value, question = event.value.strip(), self.pending.question
        if value and (question.free is not None or value == question.typed):
            self.choose(value)
        else:
            event.input.clear()

    def choose(self, option: str) -> None:
        """The person's answer."""
        self.pending.settle(option, "person")
        self.dismiss(option)


def option_text(words: Words, question: str, option: str) -> str:
    """An option's text, and where the catalogue has one (`question.ID.explains.OPTION`), its explanation below."""
    text = words.catalogue.option(question, option)
    explanation = words.catalogue.format("question", question, "explains", option)
    return text if explanation == f"question.{question}.explains.{option}" else f"{text}\n{explanation}"
