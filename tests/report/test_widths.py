"""Lines for a terminal, in both languages."""

from hypothesis import given
from hypothesis import strategies as st
from textual.content import Content

from rocm_wizard.report.widths import cells, pad, wrap

mixed = st.text(alphabet=st.sampled_from("ab .-/，。（）中文字a1"), max_size=60)


@given(mixed, st.integers(2, 40))
def test_nothing_is_lost_and_nothing_is_too_wide(text: str, width: int) -> None:
    lines = wrap(text, width)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert all(cells(line) <= width for line in lines)


@given(st.text(alphabet=st.sampled_from("abc .,-/"), max_size=60), st.integers(8, 40))
def test_latin_text_wraps_as_the_screen_library_wraps_it(text: str, width: int) -> None:
    words = " ".join(text.split())
    if all(len(word) <= width for word in words.split()):
        assert wrap(words, width) == ([line.rstrip().plain for line in Content(words).wrap(width)] or [""])


def test_chinese_is_parted_anywhere_but_before_punctuation() -> None:
    assert wrap("目标环境中没有 torch，请安装。", 16) == ["目标环境中没有", "torch，请安装。"]
    assert wrap("一二三四五，六", 10) == ["一二三四", "五，六"]


def test_padding_counts_cells() -> None:
    assert pad("通过", 8) == "通过    "
    assert cells("é") == 1
