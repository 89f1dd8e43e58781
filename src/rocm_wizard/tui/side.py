"""The right-hand pane: timings as bars, measurements with cold and warm apart, speech as it arrived."""

from collections.abc import Sequence

from textual.content import Content

from rocm_wizard.qualification.events import MeasurementTaken, TextRecognised
from rocm_wizard.qualification.state import RunState, StageState
from rocm_wizard.report.widths import cells, pad
from rocm_wizard.tui import bars
from rocm_wizard.tui.sound import sound_lines
from rocm_wizard.tui.text import Line, Paper, fit, named_values, spread, stack
from rocm_wizard.tui.words import Words

_TEXTS_SHOWN = 2
_SERIES = ("tts.centroid", "tts.mfcc_distance", "tts.mfcc_distance_reference", "tts.block_arrival")
"""Quantities that are told once a block, so a line of their own shape says more than a number."""
_SERIES_FROM = 4
"""Any other quantity that was taken so often in one go is drawn as a series too."""
_DRAWN_ELSEWHERE = ("playback.gap_at", "playback.heard")


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
    """Quantities in the order they came; times as bars, the cold one and the warm ones' median apart; series drawn."""
    lines: list[Line] = []
    by_id: dict[str, list[MeasurementTaken]] = {}
    for one in stage.measurements:
        by_id.setdefault(one.id, []).append(one)
    for id, taken in by_id.items():
        if id in _DRAWN_ELSEWHERE:
            continue
        series = newest_run(taken)
        if (id in _SERIES and len(series) > 1) or (len(series) >= _SERIES_FROM and series[0].phase is None):
            lines += _series(words, series, width)
            continue
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
            label = words.catalogue.phase(phase)
            rows.append((label, values[len(values) // 2], taken[0].unit))
    return rows


def newest_run(taken: Sequence[MeasurementTaken]) -> Sequence[MeasurementTaken]:
    """The last ones whose sample numbers grow: of one utterance, one soak."""
    for position in range(len(taken) - 1, 0, -1):
        if taken[position].sample <= taken[position - 1].sample or taken[position].phase != taken[position - 1].phase:
            return taken[position:]
    return taken


def _series(words: Words, series: Sequence[MeasurementTaken], width: int) -> list[Line]:
    """Name with least and greatest value, and the course between them."""
    values = [one.value for one in series]
    unit = series[0].unit
    least, greatest = words.quantity(min(values), unit), words.quantity(max(values), unit)
    between = Content.styled(f"{least} - {greatest}" if words.ascii_only else f"{least} – {greatest}", "$soft")
    name = Content(fit(words.catalogue.measurement(series[0].id), max(8, width - between.cell_length - 1)))
    line = bars.sparkline(values, width, ascii_only=words.ascii_only)
    return [spread(name, between, width), Content.styled(line, "$accent")]


def _number(words: Words, name: str, value: float, unit: str, width: int) -> Line:
    number = words.quantity(value, unit)
    return spread(Content(fit(name, width - len(number) - 1)), Content.styled(number, "$soft"), width)


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
        shown = (stage.id, stage.measurements, stage.blocks, stage.texts, stage.progress) if stage is not None else None
        self.show((times, shown), lambda width: self._page(words, run, stage, width))

    @staticmethod
    def _page(words: Words, run: RunState, stage: StageState | None, width: int) -> Content:
        sections: list[tuple[str, list[Line]]] = []
        if stage is not None and stage.blocks:
            sections.append(("word_sound", sound_lines(words, stage, width)))
        if stage is not None and stage.texts:
            sections.append(("word_text", text_lines(words, stage.texts, width)))
        if stage is not None and stage.measurements:
            sections.append(("word_measurements", measurement_lines(words, stage, width)))
        sections.append(("word_timings", timing_lines(words, run, width)))
        lines: list[Line] = []
        for key, body in sections:
            lines += [*([Content("")] if lines else []), Content.styled(words.ui(key), "bold $accent"), *body]
        return stack(lines)
