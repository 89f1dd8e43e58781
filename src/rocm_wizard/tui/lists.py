"""The step rail and the list of a step's checks: one cursor each, rows redrawn only when they changed."""

from collections.abc import Callable, Sequence

from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from rocm_wizard.qualification.state import CheckState, RunState, StageState
from rocm_wizard.tui.header import Moment
from rocm_wizard.tui.text import fit, paragraph, spread, stack
from rocm_wizard.tui.words import Words, check_state, stage_state

RESULT = "result"
"""The id of the rail's last row. No stage is called so."""

_SPARE = 2
"""Rows that the rail keeps free for long words before it puts gaps between the steps."""

type RowBuilder = Callable[[int], Content]


class Rows(OptionList):
    """Rows of plain text. Only the person's own moves are announced as `OptionHighlighted`."""

    def __init__(self, words: Words, *, id: str) -> None:
        super().__init__(id=id, markup=False)
        self.words = words
        self._ids: list[str] = []
        self._keys: list[object] = []
        self._width = 0

    def show_rows(self, ids: Sequence[str], keys: Sequence[object], rows: Sequence[RowBuilder]) -> None:
        """Makes the rows equal to what `rows` build; a row is built only if its key or the width changed.

        A row with an empty id is a gap: the cursor skips it.
        """
        width = self.scrollable_content_region.width - 2
        if width < 1:
            return
        with self.prevent(OptionList.OptionHighlighted):
            if width != self._width or self._ids != list(ids[: len(self._ids)]) or len(ids) < len(self._ids):
                self.clear_options()
                self._ids, self._keys, self._width = [], [], width
            for index, (key, build) in enumerate(zip(keys, rows, strict=True)):
                if index >= len(self._keys):
                    self.add_option(Option(build(width), disabled=not ids[index]))
                    self._ids.append(ids[index])
                    self._keys.append(key)
                elif key != self._keys[index]:
                    self.replace_option_prompt_at_index(index, build(width))
                    self._keys[index] = key

    def point_at(self, index: int | None) -> None:
        """Moves the cursor without announcing it."""
        if index is not None and index < self.option_count and self.highlighted != index:
            with self.prevent(OptionList.OptionHighlighted):
                self.highlighted = index

    def id_at(self, index: int) -> str:
        """What the row stands for."""
        return self._ids[index]


def _spaced[T](items: Sequence[T], gap: T) -> list[T]:
    """The items with a gap between any two."""
    spaced = [gap] * (2 * len(items) - 1)
    spaced[::2] = items
    return spaced


class Rail(Rows):
    """The steps with sign, word and time, and the result below them."""

    def update_run(self, run: RunState, moment: Moment, selected: str) -> None:
        """Shows the run and puts the cursor on `selected`."""
        ids = [stage.id for stage in run.stages] + [RESULT]
        live = int(moment.seconds)
        keys: list[object] = [
            (stage.id, stage_state(stage), stage.seconds, stage.blocked_by, live if stage.running else None)
            for stage in run.stages
        ]
        done = sum(stage.outcome is not None for stage in run.stages)
        keys.append((moment.code, done, self.words.verdict(run, moment.code)))
        rows: list[RowBuilder] = [self._builder(stage, moment.seconds) for stage in run.stages]
        rows.append(lambda width: self._result(run, moment, width))
        if self.size.height >= 3 * len(ids) + _SPARE:
            ids, keys, rows = _spaced(ids, ""), _spaced(keys, None), _spaced(rows, lambda _: Content(""))
        self.show_rows(ids, keys, rows)
        self.point_at(ids.index(selected))

    def _builder(self, stage: StageState, now: float) -> RowBuilder:
        return lambda width: self._step(stage, now, width)

    def _step(self, stage: StageState, now: float, width: int) -> Content:
        words, state = self.words, stage_state(stage)
        title = words.catalogue.stage_title(stage.id)
        sign = (f"{words.glyph(state)} ", f"bold {words.style(state)}")
        head = Content.assemble(sign, (fit(title, width - 2), "$muted" if state in ("waiting", "blocked") else "bold"))
        if stage.blocked_by is not None:
            blocker = words.ui("blocked_by", stage=words.catalogue.stage_title(stage.blocked_by))
            return stack([head, *paragraph(blocker, width, "$muted", indent=2)])
        time = words.duration(stage.seconds)
        if stage.running and stage.started is not None:
            time = words.clock(max(0.0, now - stage.started))
        word = Content.styled("  " + words.word(state), words.style(state))
        return stack([head, spread(word, Content.styled(time, "$muted"), width)])

    def _result(self, run: RunState, moment: Moment, width: int) -> Content:
        words = self.words
        state, _, text = words.verdict(run, moment.code)
        if moment.code is None:
            state = "waiting"
            done = sum(stage.outcome is not None for stage in run.stages)
            text = words.ui("steps_count", done=done, total=len(run.stages))
        sign = (f"{words.glyph(state)} ", f"bold {words.style(state)}")
        head = Content.assemble(sign, (words.ui("result"), "$muted" if moment.code is None else "bold"))
        return stack([head, *paragraph(text, width, words.style(state), indent=2, first="  ")])


class Checks(Rows):
    """The checks of one step as they run."""

    def update_stage(self, stage: StageState, now: float, picked: int | None) -> None:
        """Shows the step's checks and puts the cursor on row `picked`."""
        live = int(now)
        keys: list[object] = [
            (check_state(check, stage), check.seconds, check.finding, live if self._runs(check, stage) else None)
            for check in stage.checks
        ]
        ids = [f"{stage.id}.{stage.attempt}.{number}.{check.id}" for number, check in enumerate(stage.checks)]
        rows: list[RowBuilder] = [self._builder(check, stage, now) for check in stage.checks]
        self.show_rows(ids, keys, rows)
        self.display = bool(stage.checks)
        self.point_at(picked)

    @staticmethod
    def _runs(check: CheckState, stage: StageState) -> bool:
        return check.finding is None and stage.running

    def _builder(self, check: CheckState, stage: StageState, now: float) -> RowBuilder:
        return lambda width: self._row(check, stage, now, width)

    def _row(self, check: CheckState, stage: StageState, now: float, width: int) -> Content:
        words, state = self.words, check_state(check, stage)
        time = words.clock(max(0.0, now - check.started)) if self._runs(check, stage) else words.duration(check.seconds)
        left = Content.assemble(
            (f"{words.glyph(state)} ", f"bold {words.style(state)}"), words.catalogue.check_title(check.id)
        )
        right = Content.assemble((words.word(state), words.style(state)), (time.rjust(8), "$muted"))
        return spread(left, right, width)
