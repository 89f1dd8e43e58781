"""The right-hand pane: timings as bars, measurements with cold and warm apart, speech as it arrived."""

from collections.abc import Sequence

from textual.content import Content

from rocm_wizard.qualification.events import AudioBlockReceived, MeasurementTaken, TextRecognised
from rocm_wizard.qualification.state import RunState, StageState
from rocm_wizard.report.widths import cells, pad
from rocm_wizard.tui import bars
from rocm_wizard.tui.text import Line, Paper, fit, named_values, paragraph, spread, stack
from rocm_wizard.tui.words import Words

_WAVE_HEIGHT = 3
_TEXTS_SHOWN = 2


def timing_lines(words: Words, run: RunState, width: int) -> list[Line]:
    """One bar a step that has run."""
    done = [(stage, stage.seconds) for stage in run.stages if stage.seconds and stage.blocked_by is None]
    if not done:
        return [Content.styled(fit(words.ui("no_measurements"), width), "$muted")]
    longest = max(seconds for _, seconds in done)
    lines: list[Line] = []
    for stage, seconds in done:
        title = fit(words.catalogue.stage_title(stage.id), width - 10)
        lines.append(spread(Content(title), Content.styled(words.duration(seconds), "$soft"), width))
        lines.append(
            Content.styled(bars.bar(seconds, longest, width, ascii_only=words.ascii_only), "$accent on $panel")
        )
    return lines


type _Row = tuple[str, float, str]


def measurement_lines(words: Words, stage: StageState, width: int) -> list[Line]:
    """Quantities in the order they came; times as bars, the cold one and the warm ones' median apart."""
    lines: list[Line] = []
    for id in dict.fromkeys(taken.id for taken in stage.measurements):
        taken = [one for one in stage.measurements if one.id == id]
        rows = _phases(words, taken)
        name = words.catalogue.measurement(id)
        if len(rows) == 1 or taken[0].unit != "s":
            for label, value, unit in rows:
                text = f"{name}, {label}" if label else name
                lines.append(_number(words, text, value, unit, width))
            continue
        lines.append(Content(fit(name, width)))
        full = max(value for _, value, _ in rows)
        column = max(cells(label) for label, _, _ in rows)
        for label, value, unit in rows:
            drawn = bars.bar(value, full, max(4, width - column - 13), ascii_only=words.ascii_only)
            left = Content.assemble((f"  {pad(label, column)} ", "$muted"), (drawn, "$accent on $panel"))
            lines.append(spread(left, Content(words.quantity(value, unit)), width))
    return lines


def _phases(words: Words, taken: Sequence[MeasurementTaken]) -> list[_Row]:
    rows: list[_Row] = []
    for phase in ("cold", "warm", None):
        values = sorted(one.value for one in taken if one.phase == phase)
        if values:
            label = words.ui(f"word_{phase}") if phase else ""
            rows.append((label, values[len(values) // 2], taken[0].unit))
    return rows


def _number(words: Words, name: str, value: float, unit: str, width: int) -> Line:
    number = words.quantity(value, unit)
    return spread(Content(fit(name, width - len(number) - 1)), Content.styled(number, "$soft"), width)


def sound_lines(words: Words, blocks: Sequence[AudioBlockReceived], width: int) -> list[Line]:
    """The newest utterance: outline, joins, first sound, late blocks, speed."""
    spoken = bars.last_utterance(blocks)
    rows = bars.waveform(bars.columns(spoken, width), _WAVE_HEIGHT, ascii_only=words.ascii_only)
    lines: list[Line] = [Content.styled(row, "$accent") for row in rows]
    lines.append(Content.styled(bars.joins(spoken, width, ascii_only=words.ascii_only), "$muted"))
    seconds, arrived = sum(block.seconds for block in spoken), spoken[-1].arrived
    texts = [
        words.ui("sound_first", time=words.duration(spoken[0].arrived)),
        words.ui("sound_summary", seconds=words.duration(seconds), blocks=len(spoken)),
        words.ui("sound_factor", time=words.duration(arrived), factor=f"{arrived / seconds:.2f}" if seconds else "?"),
    ]
    for number, text in enumerate(texts):
        mark = ("^ " if words.ascii_only else "▲ ") if number == 0 else "  "
        lines += paragraph(text, width, "$soft", indent=2, first=mark)
    if late := bars.late_blocks(spoken):
        lines += paragraph(words.ui("sound_gaps", count=len(late)), width, "$warning", indent=2, first="! ")
    return lines


def text_lines(words: Words, texts: Sequence[TextRecognised], width: int) -> list[Line]:
    """What was recognised beside what was said."""
    lines: list[Line] = []
    for heard in texts[-_TEXTS_SHOWN:]:
        rows = [(words.ui("word_heard"), heard.text)]
        if heard.reference is not None:
            rows.append((words.ui("word_reference"), heard.reference))
        lines += [*([Content("")] if lines else []), *named_values(rows, width)]
    return lines


class Side(Paper):
    """The pane's text."""

    def update_run(self, words: Words, run: RunState, stage: StageState | None) -> None:
        """Shows the numbers of `stage`, and the times of all steps."""
        times = tuple((one.id, one.seconds) for one in run.stages)
        shown = (stage.id, stage.measurements, stage.blocks, stage.texts) if stage is not None else None
        self.show((times, shown), lambda width: self._page(words, run, stage, width))

    @staticmethod
    def _page(words: Words, run: RunState, stage: StageState | None, width: int) -> Content:
        sections: list[tuple[str, list[Line]]] = []
        if stage is not None and stage.blocks:
            sections.append(("word_sound", sound_lines(words, stage.blocks, width)))
        if stage is not None and stage.texts:
            sections.append(("word_text", text_lines(words, stage.texts, width)))
        if stage is not None and stage.measurements:
            sections.append(("word_measurements", measurement_lines(words, stage, width)))
        sections.append(("word_timings", timing_lines(words, run, width)))
        lines: list[Line] = []
        for key, body in sections:
            lines += [*([Content("")] if lines else []), Content.styled(words.ui(key), "bold $accent"), *body]
        return stack(lines)
