"""Clicks and repeats where blocks meet, told from what speech does by itself."""

import numpy as np
import pytest

from rocm_wizard.audio.joins import find_repeats, judge_joins
from tests.audio.speech import blocks_of, recordings

RATE = 24_000


def test_speech_does_not_click_by_itself() -> None:
    random = np.random.default_rng(1)
    judged = 0
    for samples, rate in recordings():
        places = random.integers(rate // 50, len(samples) - rate // 50, 1500).tolist()
        joins = judge_joins(samples, places, rate)
        judged += len(joins)
        assert [join for join in joins if join.click] == []
    assert judged >= 6000


def test_a_planted_step_clicks() -> None:
    random = np.random.default_rng(2)
    found = total = 0
    for samples, rate in recordings():
        for place in random.integers(rate // 20, len(samples) - rate // 20, 100).tolist():
            broken = samples[place - rate // 25 : place + rate // 25].copy()
            broken[rate // 25 :] += np.float32(0.3)
            found += judge_joins(broken, [rate // 25], rate)[0].click
            total += 1
    assert found >= 0.98 * total


def test_a_tone_that_turns_over_clicks_and_one_that_goes_on_does_not() -> None:
    tone = 0.5 * np.sin(2 * np.pi * 200 * np.arange(RATE) / RATE)
    turned = np.concatenate((tone[:12_030], -tone[12_030:]))
    assert not judge_joins(tone, [12_030], RATE)[0].click
    joins = judge_joins(turned, [6_000, 12_030], RATE)
    assert [join.click for join in joins] == [False, True]
    assert joins[1].jump == pytest.approx(1.0, abs=0.05)


def test_sound_that_begins_after_silence_does_not_click() -> None:
    samples, rate = recordings()[0]
    faded = samples.copy()
    ramp = rate // 125  # the 8 ms over which the wire's voice fades a block in
    faded[8_000 : 8_000 + ramp] *= np.linspace(0, 1, ramp, dtype=np.float32)
    faded[:8_000] = 0
    assert not judge_joins(faded, [8_000], rate)[0].click


@pytest.mark.parametrize("length", [2, 40, 200])
def test_short_blocks_are_judged_or_left(length: int) -> None:
    noise = np.random.default_rng(3).normal(0, 0.1, length)
    assert not judge_joins(noise, [1, length // 2], RATE)[0].click
    with pytest.raises(ValueError, match="not inside"):
        judge_joins(noise, [length], RATE)


def test_speech_repeats_no_block_and_a_repeat_is_found() -> None:
    for samples, rate in recordings():
        blocks = blocks_of(samples, rate, 0.4)
        assert find_repeats(blocks, rate) == []
        again = [*blocks[:4], blocks[2] + np.float32(0.0005), *blocks[4:]]
        for gain in (1.0, 0.03):  # a quiet voice is judged too
            found = find_repeats([gain * block for block in again], rate)
            assert [(repeat.block, repeat.of) for repeat in found] == [(4, 2)]


def test_silence_is_not_a_repeat_of_silence() -> None:
    noise = np.random.default_rng(1).standard_normal((3, 9600)).astype(np.float32)
    assert find_repeats([1e-4 * block + np.float32(0.02) for block in noise], RATE) == [], "DC alone is alike"
    quiet = [np.zeros(9600, np.float32)] * 3
    assert find_repeats(quiet, RATE) == []
