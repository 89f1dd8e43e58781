"""The newest utterance as it comes and as it is played: outline, joins, gaps, playhead, the text that is being said."""

from collections.abc import Sequence
from dataclasses import dataclass

from textual.content import Content

from rocm_wizard.qualification.events import AudioBlockReceived, MeasurementTaken
from rocm_wizard.qualification.state import StageState
from rocm_wizard.report.widths import wrap
from rocm_wizard.tui import bars
from rocm_wizard.tui.text import Line, paragraph
from rocm_wizard.tui.words import Words

_WAVE_HEIGHT = 3
_TEXT_HEIGHT = 3
_PLAYING = "seconds playing"
"""Unit of the progress that a playback reports (`stages.playback`)."""
_SAME_LENGTH = 0.01


@dataclass(frozen=True, slots=True)
class Playhead:
    """How far the newest utterance was heard, in seconds; `gaps` are where silence came inside it, and how long."""

    at: float
    over: bool
    gaps: tuple[tuple[float, float], ...] = ()


def playhead(stage: StageState, seconds: float) -> Playhead | None:
    """The playhead in the newest utterance, `seconds` long; None when it is not (or was not) played.

    Where a playback ended and tore is known from its measurements, whatever the stage has turned to since.
    """
    measured = _newest_playback(stage.measurements)
    gaps = _gaps(measured)
    end = next((taken.value for taken in measured if taken.id == "playback.heard"), None)
    if end is not None:
        of_this = end <= seconds + _SAME_LENGTH
        return Playhead(min(end, seconds), True, gaps) if of_this else None
    progress = stage.progress
    if progress is None or progress.unit != _PLAYING:
        return None
    return Playhead(min(progress.done, seconds), False, gaps)


def _newest_playback(measurements: Sequence[MeasurementTaken]) -> Sequence[MeasurementTaken]:
    """What was measured from the newest playback on: it begins with the latency of its first device."""
    for position in range(len(measurements) - 1, -1, -1):
        if measurements[position].id == "playback.latency" and measurements[position].sample == 1:
            return measurements[position:]
    return measurements


def _gaps(measured: Sequence[MeasurementTaken]) -> tuple[tuple[float, float], ...]:
    places = [taken.value for taken in measured if taken.id == "playback.gap_at"]
    lengths = [taken.value for taken in measured if taken.id == "playback.gap"]
    return tuple(zip(places, lengths, strict=False))


def sound_lines(words: Words, stage: StageState, width: int) -> list[Line]:
    """The newest utterance. The drawing grows from the left and keeps its scale while the sound grows."""
    spoken = bars.last_utterance(stage.blocks)
    seconds = sum(block.seconds for block in spoken)
    head = playhead(stage, seconds)
    covered = bars.span(seconds)
    lines = _outline(words, spoken, head, covered, width)
    if head is not None:
        key = "sound_played" if head.over else "sound_playing"
        text = words.ui(key, done=words.duration(head.at), total=words.duration(seconds))
        lines += paragraph(text, width, "$accent", indent=2, first="> " if words.ascii_only else "► ")
    lines += _said(words, spoken, head, width)
    return lines + _legend(words, spoken, head, seconds, width)


def _outline(
    words: Words, spoken: Sequence[AudioBlockReceived], head: Playhead | None, covered: float, width: int
) -> list[Line]:
    levels = bars.columns(spoken, width, covered)
    heard = round(head.at / covered * width) if head is not None else len(levels)
    lines = [
        Content.assemble((row[:heard], "$accent"), (row[heard:], "$muted"))
        for row in bars.waveform(levels, _WAVE_HEIGHT, ascii_only=words.ascii_only)
    ]
    gaps = [at for at, _ in head.gaps] if head is not None else []
    marks = bars.joins(spoken, width, covered, gaps, ascii_only=words.ascii_only)
    lines.append(Content.styled(marks, "$warning" if gaps else "$muted"))
    if head is not None:
        drawn = bars.bar(head.at / covered * width, len(levels), len(levels), ascii_only=words.ascii_only)
        lines.append(Content.styled(drawn, "$accent on $panel"))
    return lines


def _legend(
    words: Words, spoken: Sequence[AudioBlockReceived], head: Playhead | None, seconds: float, width: int
) -> list[Line]:
    """Always the same rows, or the pane would jump while the sound comes."""
    arrived, late = spoken[-1].arrived, bars.late_blocks(spoken)
    factor = f"{arrived / seconds:.2f}" if seconds else "?"
    rows = [
        ("^ " if words.ascii_only else "▲ ", words.ui("sound_first", time=words.duration(spoken[0].arrived)), "$soft"),
        ("", words.ui("sound_summary", seconds=words.duration(seconds), blocks=len(spoken)), "$soft"),
        ("", words.ui("sound_factor", time=words.duration(arrived), factor=factor), "$soft"),
        ("! " if late else "", words.ui("sound_late", count=len(late)), "$warning" if late else "$soft"),
    ]
    if head is not None:
        longest = max((length for _, length in head.gaps), default=0.0)
        text = words.ui("sound_no_gaps")
        if head.gaps:
            text = words.ui("sound_gaps", count=len(head.gaps), longest=words.duration(longest))
        mark = "x " if words.ascii_only else "× "
        rows.append((mark if head.gaps else "", text, "$warning" if head.gaps else "$soft"))
    return [line for mark, text, style in rows for line in paragraph(text, width, style, indent=2, first=mark)]


def _said(words: Words, spoken: Sequence[AudioBlockReceived], head: Playhead | None, width: int) -> list[Line]:
    """The part of the text that is being said, with a mark where the voice is; before playback, the newest part."""
    starts: list[tuple[float, str]] = []
    at = 0.0
    for block in spoken:
        if text := block.text:
            starts.append((at, text))
        at += block.seconds
    if not starts:
        return []
    place = head.at if head is not None else at
    number = max((index for index, (start, _) in enumerate(starts) if start <= place), default=0)
    start, text = starts[number]
    end = starts[number + 1][0] if number + 1 < len(starts) else at
    mark = ">" if words.ascii_only else "▸"
    cut = said_until(text, (place - start) / (end - start) if end > start else 1.0)
    rows = wrap(f"{text[:cut]}{mark}{text[cut:]}", max(8, width - 2))
    marked = next((index for index, row in enumerate(rows) if mark in row), 0)
    first = max(0, min(marked - 1, len(rows) - _TEXT_HEIGHT))
    shown = rows[first : first + _TEXT_HEIGHT]
    shown += [""] * (_TEXT_HEIGHT - len(shown))  # the next part may be longer: the pane must not jump
    return [Content.styled(f"  {row}", "$soft") for row in shown]


def said_until(text: str, share: float) -> int:
    """The index in `text` that a voice has reached after that share of its time: the start of the word it is in."""
    index = round(min(1.0, max(0.0, share)) * len(text))
    if index == len(text) or " " not in text:
        return index
    return text.rfind(" ", 0, index) + 1
