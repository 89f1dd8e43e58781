"""The slope and its interval: known lines, known noise, and how often a flat series is called growing."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm_wizard.stages.drift import drift, student_t


@pytest.mark.parametrize(("freedom", "quantile"), [(3, 3.182), (4, 2.776), (5, 2.571), (10, 2.228), (120, 1.980)])
def test_students_t_by_the_printed_table(freedom: int, quantile: float) -> None:
    assert student_t(0.975, freedom) == pytest.approx(quantile, abs=0.005)


@given(slope=st.floats(-5, 5), begin=st.floats(0.1, 10), count=st.integers(5, 40))
def test_a_straight_line_is_found_exactly(slope: float, begin: float, count: int) -> None:
    minutes = [number * 0.5 for number in range(count)]
    found = drift(minutes, [begin + slope * minute for minute in minutes])
    assert found is not None
    assert found.slope == pytest.approx(slope, abs=1e-9)
    assert found.low == pytest.approx(found.high, abs=1e-6)
    assert found.begin == pytest.approx(begin, abs=1e-9)


def test_too_few_points_are_no_drift() -> None:
    assert drift([0, 1, 2, 3], [1, 1, 1, 1]) is None
    assert drift([1, 1, 1, 1, 1], [1, 2, 3, 4, 5]) is None


def test_a_flat_noisy_series_is_rarely_called_growing_and_a_growing_one_mostly() -> None:
    source = random.Random(7)
    minutes = [number / 4 for number in range(60)]

    def grows(slope: float) -> int:
        series = [[1 + slope * minute + source.gauss(0, 0.05) for minute in minutes] for _ in range(400)]
        return sum(bool((found := drift(minutes, values)) and found.grows) for values in series)

    assert grows(0.0) <= 20  # one side of a 95 % interval: 10 of 400 expected
    assert grows(0.01) >= 390
