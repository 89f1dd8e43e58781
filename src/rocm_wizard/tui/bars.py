"""Bars and waveforms from characters of one cell; pure functions."""

from collections.abc import Sequence

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


def columns(blocks: Sequence[AudioBlockReceived], width: int) -> list[float]:
    """The loudest peak (0..1) in each of `width` equal stretches of the utterance's sound."""
    total = sum(block.seconds for block in blocks)
    levels = [0.0] * width
    if total <= 0:
        return levels
    start = 0.0
    for block in blocks:
        points = len(block.envelope)
        for number, peak in enumerate(block.envelope):
            begin = start + block.seconds * number / points
            end = start + block.seconds * (number + 1) / points
            first = min(width - 1, int(begin / total * width))
            last = min(width, max(first + 1, int(end / total * width)))
            for column in range(first, last):
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


def joins(blocks: Sequence[AudioBlockReceived], width: int, *, ascii_only: bool = False) -> str:
    """A row of marks below the waveform: where the first sound is, where blocks meet, where one came late (`!`)."""
    total = sum(block.seconds for block in blocks)
    marks = [" "] * width
    late = set(late_blocks(blocks))
    start = 0.0
    for position, block in enumerate(blocks):
        column = min(width - 1, int(start / total * width)) if total > 0 else 0
        mark = "!" if position in late else ("|" if ascii_only else "╵")
        if position == 0:
            mark = "^" if ascii_only else "▲"
        if marks[column] in (" ", "|", "╵"):
            marks[column] = mark
        start += block.seconds
    return "".join(marks)
