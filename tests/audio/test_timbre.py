"""The colour of a voice: what moves it, what does not, and a drift that is planted."""

import numpy as np
import pytest

from rocm_wizard.audio.timbre import LEAST_BLOCKS, Timbre, block_timbres, measure_drift
from tests.audio.speech import blocks_of, recordings
from tests.children.speaking_sidecar import closing

RATE = 24_000


def noise(seed: int, seconds: float = 1.0, rate: int = RATE) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, 0.1, round(seconds * rate))


def only(samples: np.ndarray, rate: int = RATE, highest: float = 12_000.0) -> Timbre:
    found = block_timbres([samples], rate, highest)[0]
    assert found is not None
    return found


def test_the_centroid_is_where_the_sound_is() -> None:
    tone = 0.3 * np.sin(2 * np.pi * 3000 * np.arange(RATE) / RATE)
    assert only(tone).centroid == pytest.approx(3000, rel=0.02)
    assert only(noise(1)).centroid == pytest.approx(6000, rel=0.02), "white noise: the middle"


def test_loudness_is_no_timbre() -> None:
    assert only(noise(1)).distance(only(noise(1) * 0.1)) < 0.01
    assert only(noise(1)).distance(only(noise(2))) < 5 < only(noise(1)).distance(only(np.cumsum(noise(2)) / 50))


def test_recordings_of_two_rates_compare_below_the_lower_one() -> None:
    wide = noise(4, 2.0, 48_000)
    narrow = wide.reshape(-1, 2).mean(axis=1)  # half the rate, a little duller
    assert only(wide, 48_000, 6_000).distance(only(narrow, 24_000, 6_000)) < 5
    assert only(wide, 48_000, 6_000).centroid == pytest.approx(only(narrow, 24_000, 6_000).centroid, rel=0.05)


def test_silent_and_tiny_blocks_have_no_timbre() -> None:
    found = block_timbres([noise(1), np.zeros(RATE), noise(2, 0.05)], RATE)
    assert [timbre is None for timbre in found] == [False, True, True]
    assert block_timbres([], RATE) == []


@pytest.mark.parametrize("number", range(4))
def test_a_human_voice_does_not_drift_and_one_that_gets_duller_does(number: int) -> None:
    samples, rate = recordings()[number]
    blocks = blocks_of(samples, rate, 0.27)
    steady = measure_drift(block_timbres(blocks, rate))
    assert steady is not None
    assert not steady.found
    assert steady.size < 1.2
    duller = [closing(block, at / (len(blocks) - 1)) for at, block in enumerate(blocks)]
    drift = measure_drift(block_timbres(duller, rate))
    assert drift is not None
    assert drift.found
    assert drift.octaves < -0.5
    assert drift.size > 1.5 * steady.size


def test_the_order_of_the_blocks_is_what_counts() -> None:
    blocks = [closing(noise(seed), seed / 20) for seed in range(20)]
    sorted_drift = measure_drift(block_timbres(blocks, RATE))
    shuffled = [blocks[index] for index in np.random.default_rng(7).permutation(20)]
    mixed_drift = measure_drift(block_timbres(shuffled, RATE))
    assert sorted_drift is not None
    assert mixed_drift is not None
    assert (sorted_drift.found, mixed_drift.found) == (True, False)
    assert sorted_drift.spread == pytest.approx(mixed_drift.spread, rel=1e-6)


def test_too_few_blocks_say_nothing() -> None:
    few = block_timbres([noise(seed) for seed in range(LEAST_BLOCKS - 1)], RATE)
    assert measure_drift(few) is None
    assert measure_drift([*few, None]) is None


def test_blocks_that_are_all_the_same_do_not_drift() -> None:
    drift = measure_drift(block_timbres([noise(1)] * 12, RATE))
    assert drift is not None
    assert not drift.found
