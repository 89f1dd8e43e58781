"""The pure parts: bars, waveforms, layout of text."""

import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

import rocm_wizard.tui
from rocm_wizard.qualification.events import AudioBlockReceived
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.report.catalogue import Catalogue, load_strings
from rocm_wizard.tui import bars
from rocm_wizard.tui.feed import LogRing
from rocm_wizard.tui.text import cells, fit, named_values, paragraph, spread
from rocm_wizard.tui.words import Words

_TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=120)


def block(index: int, arrived: float, seconds: float = 1.0, peaks: tuple[float, ...] = (1.0,)) -> AudioBlockReceived:
    """A block of sound."""
    return AudioBlockReceived("tts_smoke", index, arrived, seconds, list(peaks))


@given(st.floats(0, 10), st.floats(0.1, 10), st.integers(1, 60), st.booleans())
def test_bar_fills_its_width_exactly(value: float, full: float, width: int, ascii_only: bool) -> None:
    drawn = bars.bar(value, full, width, ascii_only=ascii_only)
    assert len(drawn) == width
    assert drawn.isascii() or not ascii_only


def test_bar_shows_the_share() -> None:
    assert bars.bar(5, 10, 8) == "████    "
    assert bars.bar(5, 10, 8, ascii_only=True) == "####----"
    assert bars.bar(0.0001, 10, 8) == "▏       "


def test_waveform_has_the_loudest_at_the_top() -> None:
    assert bars.waveform([0.0, 0.5, 1.0], 2) == ["  █", "▁██"]


def test_only_the_newest_utterance_is_drawn() -> None:
    blocks = [block(0, 0.1), block(1, 0.2), block(0, 0.3), block(1, 0.4), block(2, 0.5)]
    assert [one.arrived for one in bars.last_utterance(blocks)] == [0.3, 0.4, 0.5]


def test_a_block_is_late_when_all_earlier_sound_is_over() -> None:
    assert bars.late_blocks([block(0, 0.5), block(1, 1.4), block(2, 4.0), block(3, 4.1)]) == [2]


def test_joins_mark_first_sound_meeting_points_and_the_late_block() -> None:
    blocks = [block(0, 0.5), block(1, 1.4), block(2, 4.0), block(3, 4.1)]
    assert bars.joins(blocks, 8) == "▲ ╵ ! ╵ "
    assert bars.joins(blocks, 8, ascii_only=True) == "^ | ! | "


def test_columns_spread_peaks_over_the_time() -> None:
    assert bars.columns([block(0, 0, 1.0, (0.2, 0.4)), block(1, 1, 2.0, (1.0,))], 6) == [0.2, 0.4, 1.0, 1.0, 1.0, 1.0]


@given(_TEXT, st.integers(20, 80), st.integers(0, 6))
def test_paragraph_never_passes_its_width(text: str, width: int, indent: int) -> None:
    for line in paragraph(text, width, indent=indent):
        assert line.cell_length <= width


@given(_TEXT, st.integers(4, 80))
def test_fit_is_one_line_of_at_most_the_width(text: str, width: int) -> None:
    line = fit(text, width)
    assert cells(line) <= width and "\n" not in line


def test_names_and_values_stand_in_columns() -> None:
    lines = [str(line) for line in named_values([("a", "one two three four"), ("long name", "x")], 22)]
    assert lines == ["a          one two", "           three four", "long name  x"]


def test_spread_lets_the_left_side_give_way() -> None:
    from textual.content import Content

    assert str(spread(Content("a long title"), Content("9 s"), 10)) == "a lon… 9 s"


def test_ring_keeps_the_latest_lines_and_counts_all() -> None:
    ring = LogRing(3)
    ring.extend(["a", "b"])
    assert ring.since(0) == (["a", "b"], 2)
    ring.extend(["c", "d", "e"])
    assert ring.since(2) == (["c", "d", "e"], 5)
    assert ring.since(0) == (["c", "d", "e"], 5)
    assert ring.since(5) == ([], 5)


def test_every_string_that_the_code_names_is_in_the_catalogue() -> None:
    folder = Path(rocm_wizard.tui.__file__).parent
    source = "".join(path.read_text(encoding="utf-8") for path in folder.glob("*.py"))
    named = set(re.findall(r'\.ui\(\s*"(\w+)"', source))
    named |= set(re.findall(r'"((?:key|help|need|word|verdict)_\w+)"', source))
    assert len(named) > 50
    assert sorted(named - set(load_strings("en")["ui"])) == []


def test_signs_differ_and_fill_one_cell() -> None:
    states = [str(outcome) for outcome in Outcome] + ["running", "waiting"]
    for ascii_only in (False, True):
        words = Words(Catalogue("en"), ascii_only=ascii_only)
        signs = [words.glyph(state) for state in states]
        assert len(set(signs)) == len(states)
        assert {cells(sign) for sign in signs} == {1}
        assert all(ord(sign) < 0x10000 for sign in signs)
        assert len({words.word(state) for state in states}) == len(states)
