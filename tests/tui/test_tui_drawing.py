"""The pure parts: bars, waveforms, layout of text."""

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

import rocm_wizard.tui
from rocm_wizard.qualification.events import AudioBlockReceived, MeasurementTaken, Progressed
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.state import StageState
from rocm_wizard.report.catalogue import Catalogue, load_strings
from rocm_wizard.tui import bars
from rocm_wizard.tui.feed import LogRing
from rocm_wizard.tui.side import measurement_lines
from rocm_wizard.tui.sound import playhead, said_until, sound_lines
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


def test_a_growing_sound_keeps_the_columns_it_has() -> None:
    blocks = [block(number, number, 0.5, (0.1 * number + 0.1,)) for number in range(6)]
    drawn = [bars.columns(blocks[:count], 12, bars.span(count * 0.5)) for count in range(1, 5)]
    for shorter, longer in pairwise(drawn):
        assert longer[: len(shorter)] == shorter
    assert len(drawn[-1]) == 12, "two seconds fill the first span"
    assert len(bars.columns(blocks, 12, bars.span(3.0))) == 12
    assert bars.span(3.1) == 4.0


@given(st.floats(0, 3600))
def test_a_span_covers_the_sound_and_wastes_a_third_at_most(seconds: float) -> None:
    covered = bars.span(seconds)
    assert covered >= seconds
    assert covered <= max(2.0, seconds * 1.5 + 1e-9)


@given(st.lists(st.tuples(st.floats(0.01, 3), st.floats(0, 1)), min_size=1, max_size=30), st.integers(1, 80))
def test_outline_and_marks_stay_within_the_width(parts: list[tuple[float, float]], width: int) -> None:
    blocks = [block(number, number, seconds, (peak,)) for number, (seconds, peak) in enumerate(parts)]
    total = sum(seconds for seconds, _ in parts)
    levels = bars.columns(blocks, width, bars.span(total))
    assert 1 <= len(levels) <= width
    assert max(levels) == max(peak for _, peak in parts)
    assert len(bars.joins(blocks, width, bars.span(total), [0.0, total])) == width


def test_gaps_that_were_heard_are_marked_above_everything_else() -> None:
    blocks = [block(0, 0.5), block(1, 1.4), block(2, 4.0), block(3, 4.1)]
    assert bars.joins(blocks, 8, 4.0, [2.0]) == "▲ ╵ × ╵ "
    assert bars.joins(blocks, 8, 4.0, [2.0, 3.5], ascii_only=True) == "^ | x |x"


def test_sparkline_goes_from_the_least_to_the_greatest() -> None:
    assert bars.sparkline([1, 2, 3, 8], 10) == "▁▂▃█"
    assert bars.sparkline([1, 2, 3, 8], 10, ascii_only=True) == "1238"
    assert bars.sparkline([5, 5, 5], 10, ascii_only=True) == "444"
    assert bars.sparkline([0, 0, 7, 7, 0, 0], 3, ascii_only=True) == "181"
    assert bars.sparkline([], 10) == ""


class WordedBlock(AudioBlockReceived):
    """A block that begins a part of the text."""

    text = ""


def worded(index: int, arrived: float, text: str) -> AudioBlockReceived:
    """One second of sound at the beginning of `text`."""
    made = WordedBlock("tts_smoke", index, arrived, 1.0, [1.0])
    object.__setattr__(made, "text", text)
    return made


def taken(id: str, value: float, sample: int, unit: str = "s") -> MeasurementTaken:
    """One measurement without a phase."""
    return MeasurementTaken("tts_smoke", id, value, unit, sample)


def playing(
    done: float, total: float, unit: str = "seconds playing", gaps: tuple[tuple[float, float], ...] = ()
) -> StageState:
    """A stage with two seconds of sound, heard so far."""
    measured = [taken("playback.latency", 0.07, 1)]
    for number, (at, length) in enumerate(gaps, 1):
        measured += [taken("playback.gap_at", at, number), taken("playback.gap", length, number)]
    if unit == "seconds played":
        measured.append(taken("playback.heard", done, 1))
    return StageState(
        "tts_smoke",
        running=True,
        blocks=(worded(0, 0.5, "The first part is said."), worded(1, 0.6, "Then comes the second.")),
        progress=Progressed("tts_smoke", done, total, unit),
        measurements=tuple(measured),
    )


def drawn_sound(stage: StageState, width: int = 34, *, ascii_only: bool = True) -> list[str]:
    """The lines of the sound, as plain text."""
    lines = [str(line).rstrip() for line in sound_lines(Words(Catalogue("en"), ascii_only=ascii_only), stage, width)]
    assert all(cells(line) <= width for line in lines)
    assert not ascii_only or all(line.isascii() for line in lines)
    return lines


def test_the_playhead_the_text_and_the_gaps_are_shown_without_colour() -> None:
    lines = drawn_sound(playing(1.5, 2.0, gaps=((1.0, 0.25),)), 20)
    assert lines[3] == "^         x", "two seconds in twenty columns"
    assert lines[4] == "###############-----"
    assert lines[5] == "> heard 1.5 s of 2.0"
    assert [line.strip() for line in lines[7:9]] == ["Then comes >the", "second."]
    assert "x gaps heard: 1," in lines


def test_the_pane_keeps_its_height_while_the_sound_is_played() -> None:
    heights = {len(drawn_sound(playing(done / 10, 2.0))) for done in range(20)}
    heights.add(len(drawn_sound(playing(2.0, 2.0, "seconds played"))))
    assert len(heights) == 1


def test_a_playback_that_is_over_belongs_to_its_own_utterance_only() -> None:
    stage = playing(2.0, 2.0, "seconds played", gaps=((0.5, 0.1),))
    ended = playhead(stage, 2.0)
    assert ended is not None
    assert (ended.at, ended.over, ended.gaps) == (2.0, True, ((0.5, 0.1),))
    assert playhead(stage, 1.2) is None, "the next utterance comes, and is not played"
    again = replace(stage, measurements=(*stage.measurements, taken("playback.latency", 0.07, 1)))
    newer = playhead(replace(again, progress=Progressed("tts_smoke", 0.1, 2.0, "seconds playing")), 2.0)
    assert newer is not None
    assert (newer.at, newer.over, newer.gaps) == (0.1, False, ())


def test_a_voice_is_in_the_word_that_its_time_has_reached() -> None:
    assert said_until("one two three", 0.0) == 0
    assert said_until("one two three", 0.5) == 4
    assert said_until("one two three", 1.0) == 13
    assert said_until("你好世界", 0.5) == 2


def test_series_are_drawn_in_one_line_with_their_least_and_greatest() -> None:
    older = [taken("tts.centroid", 9000 + number, number, "Hz") for number in range(1, 9)]
    newest = [taken("tts.centroid", value, number, "Hz") for number, value in enumerate((1000, 1700, 2400), 1)]
    stage = StageState("tts_smoke", measurements=(*older, *newest, taken("playback.gap_at", 1.0, 1)))
    lines = [str(line) for line in measurement_lines(Words(Catalogue("en"), ascii_only=True), stage, 34)]
    assert len(lines) == 2
    assert lines[0].endswith(" 1000 Hz - 2400 Hz")
    assert lines[1] == "158"


def test_cold_and_warm_times_stay_bars_however_many_there_are() -> None:
    warm = [MeasurementTaken("asr_smoke", "asr.inference", 0.5, "s", number, "warm") for number in range(2, 9)]
    cold = MeasurementTaken("asr_smoke", "asr.inference", 2.0, "s", 1, "cold")
    stage = StageState("asr_smoke", measurements=(cold, *warm))
    lines = [str(line) for line in measurement_lines(Words(Catalogue("en"), ascii_only=True), stage, 34)]
    assert [line.split()[0] for line in lines[1:]] == ["cold", "warm"]


@given(_TEXT, st.integers(20, 80), st.integers(0, 6))
def test_paragraph_never_passes_its_width(text: str, width: int, indent: int) -> None:
    for line in paragraph(text, width, indent=indent):
        assert line.cell_length <= width


@given(_TEXT, st.integers(4, 80))
@example("0" * 16 + "\u093e", 16)
@example("゙🏽ᇊ\u200d二", 4)
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
