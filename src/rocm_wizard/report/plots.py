"""Measurements that come in a row (block by block, turn by turn) as a small picture, not as many lines of a table."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import Any

LEAST_POINTS = 4
_BARS = "▁▂▃▄▅▆▇█"
_WIDTH, _HEIGHT, _EDGE = 320, 48, 4
_MOST_BARS = 60


@dataclass(frozen=True, slots=True)
class Series:
    """One quantity in the order it was measured: (sample number, value), values finite."""

    id: str
    name: str
    unit: str
    points: Sequence[tuple[int, float]]

    @property
    def range(self) -> str:
        """Least and greatest value with the unit."""
        values = [value for _, value in self.points]
        return f"{min(values):.4g} … {max(values):.4g} {self.unit}".rstrip()


def split_series(measurements: Iterable[Mapping[str, Any]]) -> tuple[list[Series], list[Mapping[str, Any]]]:
    """The report's measurements: those with more than three samples and no phase as series, the rest as they are.

    Cold and warm samples are rows of their own: their difference is what a reader looks for.
    """
    rows = list(measurements)
    points: dict[str, list[tuple[int, float]]] = {}
    for row in rows:
        if row["phase"] is None and math.isfinite(row["value"]):
            points.setdefault(row["id"], []).append((row["sample"], row["value"]))
    plotted = {id for id, found in points.items() if len(found) >= LEAST_POINTS}
    heads = {row["id"]: row for row in reversed(rows) if row["id"] in plotted}
    series = [Series(id, heads[id]["name"], heads[id]["unit"], points[id]) for id in points if id in plotted]
    rest = [row for row in rows if row["id"] not in plotted or row["phase"] is not None]
    return series, rest


def svg(series: Series) -> str:
    """A line through the points as an inline SVG element: no script, no style, its content told to screen readers."""
    samples, values = [sample for sample, _ in series.points], [value for _, value in series.points]
    across = _scaled(samples, _WIDTH)
    up = [_HEIGHT - y for y in _scaled(values, _HEIGHT)]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(across, up, strict=True))
    dots = "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2"><title>{sample}: {value:.4g} {escape(series.unit)}</title></circle>'
        for x, y, (sample, value) in zip(across, up, series.points, strict=True)
    )
    label = escape(f"{series.name}: {series.range}", quote=True)
    return (
        f'<svg role="img" aria-label="{label}" width="{_WIDTH}" height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'fill="currentColor"><polyline points="{line}" fill="none" stroke="currentColor"/>{dots}</svg>'
    )


def sparkline(values: Sequence[float]) -> str:
    """The values as one line of bars, at most 60: of more, each bar is the mean of its share."""
    if not values:
        return ""
    count = min(len(values), _MOST_BARS)
    edges = [len(values) * n // count for n in range(count + 1)]
    means = [sum(values[a:b]) / (b - a) for a, b in pairwise(edges)]
    low, high = min(means), max(means)
    step = (high - low) or 1.0
    return "".join(_BARS[round((mean - low) / step * (len(_BARS) - 1))] for mean in means)


def _scaled(values: Sequence[float], size: float) -> list[float]:
    """Into the picture, an edge left on both sides; equal values lie in the middle."""
    low, high = min(values), max(values)
    if high == low:
        return [size / 2] * len(values)
    return [_EDGE + (value - low) / (high - low) * (size - 2 * _EDGE) for value in values]
