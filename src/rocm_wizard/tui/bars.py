"""Bars and waveforms from characters of one cell; pure functions."""

import math
from collections.abc import Sequence
from itertools import pairwise

from rocm_wizard.qualification.events import AudioBlockReceived

_EIGHTHS_RIGHT = " ▏▎▍▌▋▊▉█"
_EIGHTHS_UP = " ▁▂▃▄▅▆▇█"
_LATE = 0.001


def bar(value: float, full: float | None, width: int, *, ascii_only: bool = False) -> str:
    """A horizontal bar of `width` cells, filled to `value / full`; anything above nothing shows."""
    share = min(1.0, max(0.0, value / full)) if full else 0.0
    if ascii_only:
        filled = max(1, round(share * width)) if share else 0
        return "#" * filled + "-" * (width - filled)
    eighths = max(1, round(share * width * 8)) if share else 0
    whole, rest = divmod(eighths, 8)
    return ("█" * whole + (_EIGHTHS_RIGHT[rest] if rest else "")).ljust(width)


def last_utterance(blocks: Sequence[AudioBlockReceived]) -> Sequence[AudioBlockReceived]:
    """The blocks of the newest utterance: those after the last time the index did not grow."""
    for position in range(len(blocks) - 1, 0, -1):
        if blocks[position].index <= blocks[position - 1].index:
            return blocks[position:]
    return blocks


def late_blocks(blocks: Sequence[AudioBlockReceived]) -> list[int]:
    """Positions of blocks that arrived after a player without any buffer had played all earlier ones."""
    late: list[int] = []
    if not blocks:
        return late
    played_until = blocks[0].arrived
    for position, block in enumerate(blocks):
        if block.arrived > played_until + _LATE:
            late.append(position)
        played_until = max(played_until, block.arrived) + block.seconds
    return late


def span(seconds: float) -> float:
    """The time that a drawing of a growing sound covers: steps of a half and a third, so that it seldom changes."""
    covered = 2.0
    while covered < seconds:
        covered *= 1.5 if math.log2(covered).is_integer() else 4 / 3
    return covered


def columns(blocks: Sequence[AudioBlockReceived], width: int, covered: float | None = None) -> list[float]:
    """The loudest peak (0..1) in each of `width` equal stretches of `covered` seconds (None: of the whole sound).

    Stretches behind the end of the sound are left out.
    """
    total = sum(block.seconds for block in blocks)
    covered = covered or total
    if total <= 0:
        return [0.0] * width
    levels = [0.0] * min(width, math.ceil(round(total / covered * width, 6)))
    last = len(levels) - 1
    start = 0.0
    for block in blocks:
        points = len(block.envelope)
        for number, peak in enumerate(block.envelope):
            begin = start + block.seconds * number / points
            end = start + block.seconds * (number + 1) / points
            first = min(last, int(begin / covered * width))
            for column in range(first, min(last + 1, max(first + 1, int(end / covered * width)))):
                levels[column] = max(levels[column], peak)
        start += block.seconds
    return levels


def waveform(levels: Sequence[float], height: int, *, ascii_only: bool = False) -> list[str]:
    """The outline as `height` rows, loudest at the top; silence still shows as a line."""
    rows: list[str] = []
    loudest = max(max(levels, default=0.0), 1e-6)
    steps = [max(1, round(level / loudest * height * 8)) for level in levels]
    for row in range(height - 1, -1, -1):
        parts = [min(8, max(0, step - row * 8)) for step in steps]
        rows.append(
            "".join(("#" if part >= 4 or (row == 0 and part) else " ") for part in parts)
            if ascii_only
            else "".join(_EIGHTHS_UP[part] for part in parts)
        )
    return rows


def joins(
    blocks: Sequence[AudioBlockReceived],
    width: int,
    covered: float | None = None,
    gaps: Sequence[float] = (),
    *,
    ascii_only: bool = False,
) -> str:
    """A row of marks below the waveform: where the first sound is, where blocks meet, where one came late (`!`), and
    where silence was heard inside the sound (`gaps`, in seconds of it)."""
    covered = covered or sum(block.seconds for block in blocks)
    marks = [" "] * width
    late = set(late_blocks(blocks))
    meeting, first, gap = ("|", "^", "x") if ascii_only else ("╵", "▲", "×")

    def column(seconds: float) -> int:
        return min(width - 1, int(seconds / covered * width)) if covered > 0 else 0

    start = 0.0
    for position, block in enumerate(blocks):
        mark = first if position == 0 else "!" if position in late else meeting
        if marks[column(start)] in (" ", meeting):
            marks[column(start)] = mark
        start += block.seconds
    for seconds in gaps:
        marks[column(seconds)] = gap
    return "".join(marks)


def sparkline(values: Sequence[float], width: int, *, ascii_only: bool = False) -> str:
    """One row of at most `width` cells from the least value (lowest) to the greatest; digits 1 to 8 in ASCII.

    Where there are more values than cells, a cell stands for the mean of its share.
    """
    if not values:
        return ""
    count = min(width, len(values))
    cuts = [len(values) * cell // count for cell in range(count + 1)]
    means = [sum(values[a:b]) / (b - a) for a, b in pairwise(cuts)]
    least, greatest = min(means), max(means)
    room = greatest - least
    steps = [round((mean - least) / room * 7) + 1 if room else 4 for mean in means]
    return "".join(str(step) if ascii_only else _EIGHTHS_UP[step] for step in steps)
