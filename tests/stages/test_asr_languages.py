"""Names and ISO codes become the names that go over the wire."""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm_wizard.stages.languages import UnknownLanguage, find_language, language_names, unit_of


@pytest.mark.parametrize(
    ("wanted", "name"),
    [
        ("zh", "Chinese"),
        ("zh-CN", "Chinese"),
        ("ZH_tw", "Chinese"),
        ("中文", "Chinese"),
        ("yue", "Cantonese"),
        ("ja", "Japanese"),
        ("jp", "Japanese"),
        ("JPN", "Japanese"),
        ("日本語", "Japanese"),
        ("English", "English"),
        ("  eNGLISH ", "English"),
        ("en-US", "English"),
        ("tl", "Filipino"),
        ("Deutsch", "German"),
    ],
)
def test_names_and_codes(wanted: str, name: str) -> None:
    language = find_language(wanted)
    assert language is not None
    assert language.name == name


@pytest.mark.parametrize("wanted", ["auto", "AUTO", "detect", ""])
def test_detection_sends_nothing(wanted: str) -> None:
    assert find_language(wanted) is None


@pytest.mark.parametrize(
    ("wanted", "closest"),
    [("Japanes", "Japanese"), ("Englisch", "English"), ("mandarine", "Chinese"), ("aut", "auto"), ("qqq", None)],
)
def test_the_closest_name_is_told(wanted: str, closest: str | None) -> None:
    with pytest.raises(UnknownLanguage) as caught:
        find_language(wanted)
    assert caught.value.closest == closest


def test_the_names_are_those_of_qwen3_asr() -> None:
    spec = find_spec("qwen_asr")
    if spec is None or spec.origin is None:
        pytest.skip("qwen-asr is not installed")
    source = (Path(spec.origin).parent / "inference" / "utils.py").read_text(encoding="utf-8")
    listed = re.search(r"SUPPORTED_LANGUAGES[^=]*= \[(.*?)\]", source, re.DOTALL)
    assert listed is not None
    assert set(language_names()) == set(re.findall(r'"(\w+)"', listed.group(1)))


@given(st.text(max_size=12))
def test_any_text_is_a_language_detection_or_unknown(text: str) -> None:
    try:
        language = find_language(text)
    except UnknownLanguage as error:
        assert error.wanted == text
        if error.closest is not None:
            find_language(error.closest)
    else:
        assert language is None or language.name in language_names()


@pytest.mark.parametrize(
    ("language", "text", "unit"),
    [
        ("Chinese", "", "character"),
        ("Thai", "", "character"),
        ("Korean", "오늘 날씨", "word"),
        (None, "今日は", "character"),
        (None, "good day", "word"),
        (None, "สวัสดี", "character"),
    ],
)
def test_what_errors_are_counted_in(language: str | None, text: str, unit: str) -> None:
    assert unit_of(language, text) == unit
