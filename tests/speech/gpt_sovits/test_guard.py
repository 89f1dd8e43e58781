"""Collapsed semantic tokens are told from speech."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm_wizard.speech.gpt_sovits.guard import longest_run, rejection


def varied(count: int) -> list[int]:
    random.seed(count)
    return random.choices(range(1024), k=count)


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        ([], "no tokens"),
        ([7] * 48, "48 times in a row"),
        (varied(300) + [7] * 48, "48 times in a row"),
        (varied(100) + [7] * 32, "32 times in a row"),
        (varied(100) + [1, 2, 3] * 22, "repeated over 66 tokens"),
        ([7, *varied(1)] * 32, "repeated over 64"),
        ([x for other in varied(40) for x in (7, 7, other)], "makes up 67%"),
    ],
)
def test_collapsed(tokens: list[int], expected: str) -> None:
    assert expected in str(rejection(tokens, 200, 2700))


@pytest.mark.parametrize(
    "tokens",
    [
        varied(400),
        varied(300) + [7] * 47,
        varied(200) + [7] * 32,  # 32 in a row are under 18 % of 232
        varied(100) + [1, 2, 3] * 21,
        [7] * 20,
    ],
)
def test_speech(tokens: list[int]) -> None:
    assert rejection(tokens, 200, 2700) is None


def test_too_long_and_repetitive() -> None:
    tokens = [x for other in varied(70) for x in (7, 9, other)]
    assert rejection(tokens, 60, 2700) is None
    tokens = [7 if number % 5 < 2 else other for number, other in enumerate(varied(240))]
    assert "for 20 phonemes" in str(rejection(tokens, 20, 2700))
    assert rejection(tokens, 200, 2700) is None


def test_the_generations_own_limit_caps_the_budget() -> None:
    tokens = varied(100) + [7] * 21
    assert rejection(tokens, 60, 2700) is None
    assert "for 60 phonemes" in str(rejection(tokens, 60, 110))


@given(st.lists(st.integers(0, 2), max_size=40), st.integers(1, 8))
def test_longest_run_by_trying_every_stretch(tokens: list[int], period: int) -> None:
    longest = 0
    for begin in range(len(tokens)):
        for end in range(begin + period + 1, len(tokens) + 1):
            stretch = tokens[begin:end]
            if all(a == b for a, b in zip(stretch, stretch[period:], strict=False)):
                longest = max(longest, len(stretch))
    assert longest_run(tokens, period) == longest
