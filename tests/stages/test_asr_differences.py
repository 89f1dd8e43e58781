"""Marked differences: readable, and nothing is lost in them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm_wizard.stages.error_rate import error_rate, normalise, units
from rocm_wizard.stages.text_differences import mark, marked_differences, written_units


def first_of(marked: str) -> str:
    """What stands in the first text: marks of additions dropped, marks of omissions opened."""
    return re.sub(r"\[-(.*?)-\]", r"\1", re.sub(r"\{\+.*?\+\}", "", marked))


def second_of(marked: str) -> str:
    """What stands in the second text."""
    return re.sub(r"\{\+(.*?)\+\}", r"\1", re.sub(r"\[-.*?-\]", "", marked))


@pytest.mark.parametrize(
    ("reference", "heard", "language", "marked"),
    [
        (
            "He was not an ill-disposed man.",
            "he was a disposed man",
            "English",
            "he was [-not an ill-] {+a+} disposed man",
        ),
        ("one two", "one two", "English", "one two"),
        ("one two", "", "English", "[-one two-]"),
        ("", "one two", "English", "{+one two+}"),
        ("one", "zero one two", "English", "{+zero+} one {+two+}"),
        ("讲堂中，便须常常", "獎堂中，便去常常。", "Chinese", "[-讲-]{+奖+}堂中便[-须-]{+去+}常常"),
        ("今日は、いい天気です", "今日はいい天気ですね", None, "今日はいい天気です{+ね+}"),
    ],
)
def test_examples(reference: str, heard: str, language: str | None, marked: str) -> None:
    assert marked_differences(reference, heard, language) == marked


WORDS = st.lists(st.sampled_from(["a", "b", "cc", "d'd", "10%"]), max_size=8).map(" ".join)
LETTERS = st.text(alphabet="他她说話講。，ab は", max_size=12)


@given(WORDS, WORDS)
def test_words_come_back(first: str, second: str) -> None:
    marked = marked_differences(first, second, "English")
    assert first_of(marked).split() == normalise(first).split()
    assert second_of(marked).split() == normalise(second).split()
    assert ("[-" in marked or "{+" in marked) == (normalise(first) != normalise(second))


@given(LETTERS, LETTERS)
def test_characters_come_back(first: str, second: str) -> None:
    marked = marked_differences(first, second, "Chinese")
    assert first_of(marked) == "".join(units(first, "Chinese", "character"))
    assert second_of(marked) == "".join(units(second, "Chinese", "character"))
    if units(first, "Chinese", "character"):
        assert (error_rate(first, second, "Chinese").edits > 0) == ("[-" in marked or "{+" in marked)


@given(st.text(max_size=30), st.text(max_size=30))
def test_any_two_texts_can_be_marked(first: str, second: str) -> None:
    for language in ("English", "Japanese", None):
        assert isinstance(marked_differences(first, second, language), str)


def test_punctuation_counts_where_repeats_are_compared() -> None:
    assert mark(written_units("Yes, it is.", "word"), written_units("Yes it is.", "word"), "word") == (
        "[-Yes,-] {+Yes+} it is."
    )
