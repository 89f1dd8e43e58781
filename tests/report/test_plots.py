"""Measurements in a row as a picture: every point is in it, and nothing gets out of it."""

import math
import xml.etree.ElementTree as ElementTree
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from rocm_wizard.report.plots import Series, sparkline, split_series, svg


def row(id: str, value: float, sample: int = 1, phase: str | None = None) -> dict[str, Any]:
    return {"id": id, "name": f"name of {id}", "value": value, "unit": "s", "sample": sample, "phase": phase}


def test_only_rows_of_samples_without_a_phase_are_plotted() -> None:
    measurements = [
        row("load", 2.0),
        *[row("block", number / 10, number) for number in range(1, 6)],
        *[row("first", 0.1, number, "cold" if number == 1 else "warm") for number in range(1, 8)],
        *[row("few", 1.0, number) for number in range(1, 4)],
    ]
    series, rest = split_series(measurements)
    assert [one.id for one in series] == ["block"]
    assert series[0].points == [(1, 0.1), (2, 0.2), (3, 0.3), (4, 0.4), (5, 0.5)]
    assert series[0].range == "0.1 … 0.5 s"
    assert [m["id"] for m in rest] == ["load", *["first"] * 7, *["few"] * 3]


def test_a_name_cannot_break_out_of_the_picture() -> None:
    drawn = svg(Series("x", '"><script>alert(1)</script>', "<b>", [(n, float(n % 3)) for n in range(5)]))
    root = ElementTree.fromstring(drawn)
    assert {element.tag for element in root.iter()} == {"svg", "polyline", "circle", "title"}
    assert root.attrib["aria-label"].startswith('"><script>')


@given(st.lists(st.floats(-1e12, 1e12), min_size=1, max_size=200))
def test_every_point_is_inside(values: list[float]) -> None:
    root = ElementTree.fromstring(svg(Series("x", "x", "s", list(enumerate(values, start=1)))))
    line = root.find("polyline")
    assert line is not None
    points = [tuple(map(float, pair.split(","))) for pair in line.attrib["points"].split()]
    assert len(points) == len(values)
    assert all(0 <= x <= 320 and 0 <= y <= 48 and math.isfinite(x + y) for x, y in points)
    highest = min(range(len(values)), key=lambda index: points[index][1])
    assert values[highest] >= max(values) - 0.01 * (max(values) - min(values) + 1e-9) or len(set(values)) == 1
    assert 1 <= len(sparkline(values)) <= 60


def test_a_line_of_bars() -> None:
    assert sparkline([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]) == "▁▂▃▄▅▆▇█"
    assert sparkline([5.0, 5.0]) == "▁▁"
    assert sparkline([]) == ""
    assert sparkline([0.0] * 300 + [1.0] * 300) == "▁" * 30 + "█" * 30
