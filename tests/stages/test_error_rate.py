"""Word and character error rates."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm_wizard.stages.error_rate import error_rate, normalise


@pytest.mark.parametrize(
    ("reference", "heard", "language", "value", "unit"),
    [
        ("and mister john dashwood", "And Mr. John Dashwood.", "English", 0.0, "word"),
        ("an ill disposed young man", "An ill-disposed young man!", "English", 0.0, "word"),
        ("one two three four", "one two tree four five", "English", 0.5, "word"),
        ("今日はいい天気です", "今日は、いい天気ですね。", "Japanese", 1 / 9, "character"),
        ("ＡＢＣ", "abc", "English", 0.0, "word"),
        ("hello there", "", "English", 1.0, "word"),
    ],
)
def test_rates(reference: str, heard: str, language: str, value: float, unit: str) -> None:
    rate = error_rate(reference, heard, language)
    assert rate.value == pytest.approx(value)
    assert rate.unit == unit


def test_an_empty_reference_is_refused() -> None:
    with pytest.raises(ValueError, match="empty"):
        error_rate(" … ", "words", "English")


@given(st.text(max_size=40))
def test_normalising_twice_changes_nothing(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


@given(st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=8))
def test_equal_texts_have_no_errors(words: list[str]) -> None:
    assert error_rate(" ".join(words), " ".join(words), "English").edits == 0
