"""Arrival times and what a listener hears of them; pauses."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm_wizard.sidecar.client import Block
from rocm_wizard.sidecar.messages import Chunk
from rocm_wizard.stages.tts_blocks import playback_of, simulate_playback
from rocm_wizard.stages.utterance import Utterance

RATE = 24_000
times = st.lists(st.tuples(st.floats(0, 3), st.floats(0.01, 2)), min_size=1, max_size=30)


def utterance(*blocks: tuple[float, object]) -> Utterance:
    made = Utterance()
    for index, (arrived, samples) in enumerate(blocks):
        made.add(Block(index, Chunk(RATE, np.asarray(samples, np.float32), ""), arrived))
    return made


def test_a_block_that_comes_late_leaves_a_gap_as_long_as_it_is_late() -> None:
    played = simulate_playback([0.5, 0.9, 2.5, 2.6], [0.8, 0.8, 0.8, 0.8])
    assert played.start == 0.5
    assert [(gap.block, gap.at) for gap in played.gaps] == [(2, 1.6)]
    assert played.gaps[0].seconds == pytest.approx(0.4)
    assert played.least_lead == pytest.approx(-0.4)


def test_a_prebuffer_shifts_the_start_and_may_save_the_rest() -> None:
    arrivals, durations = [0.5, 0.9, 2.5, 2.6], [0.8, 0.8, 0.8, 0.8]
    assert simulate_playback(arrivals, durations, 0.8).start == 0.5
    cushioned = simulate_playback(arrivals, durations, 1.2)
    assert (cushioned.start, cushioned.gaps) == (0.9, [])
    assert cushioned.least_lead == pytest.approx(0.0, abs=1e-9)
    impatient = simulate_playback([0.5, 4.0], [0.2, 0.2], 0.3, longest_wait=1.5)
    assert (impatient.start, len(impatient.gaps)) == (2.0, 1)


def test_all_at_once_has_no_lead() -> None:
    assert simulate_playback([1.0, 1.0], [0.5, 0.5]).least_lead is None
    with pytest.raises(ValueError, match="blocks"):
        simulate_playback([], [])


@given(times, st.floats(0, 5))
def test_what_is_heard_adds_up(steps: Sequence[tuple[float, float]], prebuffer: float) -> None:
    arrivals = np.cumsum([gap for gap, _ in steps]).tolist()
    durations = [seconds for _, seconds in steps]
    bare, cushioned = (simulate_playback(arrivals, durations, cushion) for cushion in (0.0, prebuffer))
    for played in (bare, cushioned):
        end = played.start + sum(durations) + sum(gap.seconds for gap in played.gaps)
        assert end >= arrivals[-1] + durations[-1] - 1e-9
        assert all(gap.seconds > 0 for gap in played.gaps)
    assert cushioned.start >= bare.start
    assert sum(gap.seconds for gap in cushioned.gaps) <= sum(gap.seconds for gap in bare.gaps) + 1e-9
    assert simulate_playback(arrivals, durations, sum(durations)).gaps == []


def test_pauses_are_played_but_are_no_speech() -> None:
    said = np.full(RATE, 0.1)
    spoken = utterance((0.2, said), (0.4, np.zeros(9_840)), (0.9, said), (0.9, np.zeros(9_840)))
    assert (spoken.seconds, spoken.seconds_with_pauses) == (2.0, pytest.approx(2.82))
    assert len(spoken.speech) == 2
    assert (spoken.synthesis, spoken.real_time_factor) == (0.9, 0.45)
    assert len(spoken.samples()) == round(2.82 * RATE)
    assert playback_of(spoken).gaps == []


@pytest.mark.parametrize("almost", [np.zeros(9_600), np.zeros(16_000), np.full(9_840, 1e-6)])
def test_only_exactly_the_pause_that_was_asked_for_is_one(almost: np.ndarray) -> None:
    assert len(utterance((0.1, np.ones(100)), (0.2, almost)).speech) == 2


def test_the_first_voiced_sample_is_where_a_listener_hears_it() -> None:
    quiet, loud = np.zeros(RATE // 2), np.full(RATE // 2, 0.2)
    late = utterance((1.0, quiet), (3.0, np.concatenate((quiet[:2400], loud))))
    assert late.first_audio == 1.0
    assert late.first_voiced == pytest.approx(3.1), "the second block is late: a gap comes before it"
    assert utterance((1.0, quiet), (1.1, loud)).first_voiced == pytest.approx(1.5)
    assert utterance((1.0, quiet)).first_voiced is None
