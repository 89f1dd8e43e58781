"""Word and character error rates."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm_wizard.stages.error_rate import error_rate, normalise, units


@pytest.mark.parametrize(
    ("reference", "heard", "language", "value", "unit"),
    [
        ("and mister john dashwood", "And Mr. John Dashwood.", "English", 0.0, "word"),
        ("an ill disposed young man", "An ill-disposed young man!", "English", 0.0, "word"),
        ("one two three four", "one two tree four five", "English", 0.5, "word"),
        ("今日はいい天気です", "今日は、いい天気ですね。", "Japanese", 1 / 9, "character"),
        ("ＡＢＣ", "abc", "English", 0.0, "word"),
        ("hello there", "", "English", 1.0, "word"),
        ("这里有一个讲堂。", "這裡有一個講堂", "Chinese", 0.0, "character"),
        ("這裏有一個講堂", "这里有一个讲堂", "Cantonese", 0.0, "character"),
        ("这里有一个讲堂", "这里有三个讲堂", "Chinese", 1 / 7, "character"),
        ("学校に行く", "學校に行く", "Japanese", 1 / 5, "character"),
        ("今日はいい天気です", "今日はいい天気です", None, 0.0, "character"),
        ("a good day", "a bad day", None, 1 / 3, "word"),
        ("三十五", "35", "Chinese", 1.0, "character"),
        ("สวัสดีครับ", "สวัสดีครับ", "Thai", 0.0, "character"),
    ],
)
def test_rates(reference: str, heard: str, language: str | None, value: float, unit: str) -> None:
    rate = error_rate(reference, heard, language)
    assert rate.value == pytest.approx(value)
    assert rate.unit == unit


def test_an_empty_reference_is_refused() -> None:
    with pytest.raises(ValueError, match="empty"):
        error_rate(" … ", "words", "English")


@given(st.text(max_size=40))
def test_normalising_twice_changes_nothing(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


@given(st.text(alphabet="乾后後裡里髮發说講a1 。", max_size=20))
def test_folding_characters_twice_changes_nothing(text: str) -> None:
    once = units(text, "Chinese", "character")
    assert units("".join(once), "Chinese", "character") == once


@given(st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=8))
def test_equal_texts_have_no_errors(words: list[str]) -> None:
    assert error_rate(" ".join(words), " ".join(words), "English").edits == 0


@given(st.text(min_size=1, max_size=20), st.text(max_size=20), st.sampled_from(["English", "Chinese", None]))
def test_a_rate_is_edits_over_units(reference: str, heard: str, language: str | None) -> None:
    try:
        rate = error_rate(reference, heard, language)
    except ValueError:
        assert normalise(reference) == ""
        return
    assert rate.value == rate.edits / rate.reference_units
    said = len(units(heard, language, rate.unit))
    assert abs(said - rate.reference_units) <= rate.edits <= max(said, rate.reference_units)
