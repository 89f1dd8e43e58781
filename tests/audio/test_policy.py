"""The policy and the renderer on a scripted clock: a device that asks for 10 ms at a time at 24 kHz."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm_wizard.audio.policy import PlaybackPolicy
from rocm_wizard.audio.render import FADE_SECONDS, Renderer
from rocm_wizard.audio.ring import FrameRing

RATE = 24_000
BLOCK = RATE // 100
FADE = round(FADE_SECONDS * RATE)


def frames(milliseconds: float) -> int:
    return round(milliseconds * RATE / 1000)


@dataclass
class Device:
    """Runs the renderer; `feed` maps callback numbers to milliseconds of sound that arrive just before them."""

    renderer: Renderer = field(init=False)
    ring: FrameRing = field(default_factory=lambda: FrameRing(10 * RATE))
    sent: list[np.ndarray] = field(default_factory=list)
    heard: list[np.ndarray] = field(default_factory=list)
    callbacks: int = 0

    def __post_init__(self) -> None:
        self.renderer = Renderer(self.ring, RATE)

    def arrive(self, milliseconds: float) -> None:
        start = sum(len(part) for part in self.sent)
        wave = np.float32(0.5) * np.cos(np.arange(start, start + frames(milliseconds), dtype=np.float32) * 0.05)
        self.sent.append(wave.astype(np.float32))
        assert self.ring.write(self.sent[-1]) == len(self.sent[-1])

    def run(self, callbacks: int, feed: Mapping[int, float] | None = None) -> "Device":
        for _ in range(callbacks):
            if feed and self.callbacks in feed:
                self.arrive(feed[self.callbacks])
            block = np.full(BLOCK, np.nan, np.float32)
            self.renderer.fill(block, self.callbacks * 0.01)
            self.heard.append(block)
            self.callbacks += 1
        return self

    @property
    def output(self) -> np.ndarray:
        return np.concatenate(self.heard)

    @property
    def input(self) -> np.ndarray:
        return np.concatenate(self.sent)


def test_starts_with_300_ms_queued_and_not_before() -> None:
    device = Device().run(12, {0: 290, 10: 10})
    assert not device.output[: 10 * BLOCK].any()
    assert np.array_equal(device.output[10 * BLOCK :], device.input[: 2 * BLOCK])


def test_starts_after_one_and_a_half_seconds_from_the_first_frame_on() -> None:
    device = Device().run(200, {20: 50})
    first = int(np.flatnonzero(device.output)[0])
    assert first == (20 + 150) * BLOCK


def test_nothing_queued_never_starts() -> None:
    device = Device().run(300)
    assert not device.output.any()
    assert device.renderer.policy.counters.starved_frames == 0


def test_short_stream_starts_at_its_end() -> None:
    device = Device().run(3, {0: 45})
    device.renderer.ended = True
    device.run(10)
    policy = device.renderer.policy
    assert policy.drained
    assert policy.counters.gaps == 0
    assert policy.counters.frames_played == frames(45)
    assert policy.counters.min_headroom_ms == pytest.approx(35)
    assert device.renderer.silence_after_end == 13 * BLOCK - 3 * BLOCK - frames(45)


def test_gap_is_counted_once_with_its_length_and_reprimes() -> None:
    # 300 ms from callback 0 on: dry at 30. 150 ms at callback 40 is the cushion: sound again.
    device = Device().run(50, {0: 300, 40: 150})
    counters = device.renderer.policy.counters
    assert (counters.gaps, counters.reprimes, counters.starved_callbacks) == (1, 1, 10)
    assert counters.starved_frames == frames(100)
    assert counters.longest_gap_ms == pytest.approx(100)
    assert counters.min_headroom_ms == 0
    assert device.renderer.policy.gap_starts[0] == frames(300)


def test_cushion_grows_by_100_ms_up_to_800() -> None:
    policy = PlaybackPolicy(RATE)
    policy.take(frames(300), BLOCK, ended=False, now=0.0)
    cushions = []
    for number in range(10):
        now = 10.0 * (number + 1)
        assert policy.take(0, BLOCK, ended=False, now=now) == 0
        queued = 0
        while policy.take(queued, BLOCK, ended=False, now=now) == 0:
            queued += frames(10)
        cushions.append(queued * 1000 // RATE)
    assert cushions == [150, 250, 350, 450, 550, 650, 750, 800, 800, 800]


def test_late_end_message_is_no_gap() -> None:
    device = Device().run(60, {0: 300})
    assert device.renderer.policy.open_gap_ms == pytest.approx(300)
    device.renderer.ended = True
    device.run(20)
    counters = device.renderer.policy.counters
    assert device.renderer.policy.drained
    assert (counters.gaps, counters.starved_frames, counters.starved_callbacks, counters.longest_gap_ms) == (0, 0, 0, 0)
    assert device.renderer.policy.open_gap_ms == 0


def test_gap_that_is_cut_by_a_stop_is_counted() -> None:
    device = Device().run(60, {0: 300})
    device.renderer.policy.close()
    device.renderer.policy.close()
    counters = device.renderer.policy.counters
    assert (counters.gaps, counters.reprimes, counters.starved_frames) == (1, 0, frames(300))


def test_end_resumes_a_gap_without_waiting_for_the_cushion() -> None:
    device = Device().run(40, {0: 300})
    device.arrive(20)
    device.renderer.ended = True
    device.run(5)
    assert device.renderer.policy.counters.gaps == 1
    assert device.renderer.policy.counters.frames_played == frames(320)


def test_headroom_after_the_end_message_does_not_count() -> None:
    device = Device().run(10, {0: 500})
    device.renderer.ended = True
    device.run(60)
    assert device.renderer.policy.counters.min_headroom_ms == pytest.approx(400)


def test_fades_touch_5_ms_after_the_gap_and_nothing_before_it() -> None:
    device = Device().run(60, {0: 305, 45: 150})
    heard, sent = device.output, device.input
    dry, resumed = frames(305), 45 * BLOCK
    assert np.array_equal(heard[:dry], sent[:dry])
    tail = heard[dry : dry + FADE]
    assert np.all(np.diff(np.abs(tail)) < 0)
    assert abs(tail[-1]) < 0.001
    assert not heard[dry + FADE : resumed].any()
    rising = heard[resumed : resumed + FADE]
    assert abs(rising[0]) < 0.001
    assert np.all(np.abs(rising) <= np.abs(sent[dry : dry + FADE]))
    rest = resumed + FADE
    assert np.array_equal(heard[rest : rest + frames(145)], sent[dry + FADE :])
    assert np.abs(np.diff(heard)).max() < 0.03


def test_sound_that_begins_in_its_middle_fades_in() -> None:
    ring = FrameRing(RATE)
    renderer = Renderer(ring, RATE, fade_in=True)
    ring.write(np.full(RATE // 2, 0.5, np.float32))
    block = np.zeros(2 * BLOCK, np.float32)
    assert renderer.fill(block, 0.0) == len(block)
    assert abs(block[0]) < 0.001
    assert np.all(np.diff(block[:FADE]) > 0)
    assert np.all(block[FADE:] == np.float32(0.5))


@given(
    parts=st.lists(st.integers(1, 3000), min_size=1, max_size=20),
    wanted=st.lists(st.integers(1, 700), min_size=1, max_size=10),
)
def test_stream_without_gaps_is_bit_exact(parts: list[int], wanted: list[int]) -> None:
    ring = FrameRing(sum(parts))
    renderer = Renderer(ring, RATE)
    sent = np.random.default_rng(len(parts)).normal(0, 0.3, sum(parts)).astype(np.float32)
    ring.write(sent)
    renderer.ended = True
    heard = []
    for number in range(sum(parts) + 1):
        block = np.empty(wanted[number % len(wanted)], np.float32)
        renderer.fill(block, 0.0)
        heard.append(block)
        if renderer.silence_after_end:
            break
    output = np.concatenate(heard)
    assert np.array_equal(output[: len(sent)], sent)
    assert not output[len(sent) :].any()


@given(arrivals=st.dictionaries(st.integers(0, 150), st.integers(10, 400), max_size=12), end=st.integers(0, 160))
def test_every_frame_is_played_once_and_gaps_add_up(arrivals: dict[int, int], end: int) -> None:
    device = Device()
    device.run(end + 1, {number: amount for number, amount in arrivals.items() if number <= end})
    device.renderer.ended = True
    device.run(800)
    policy, counters = device.renderer.policy, device.renderer.policy.counters
    sent = sum(len(part) for part in device.sent)
    assert counters.frames_played == sent
    assert policy.drained
    assert counters.starved_frames == sum(policy.gap_lengths[: counters.gaps])
    assert counters.gaps == counters.reprimes
    assert counters.starved_callbacks <= counters.callbacks == end + 801
    assert (counters.longest_gap_ms > 0) == (counters.gaps > 0)
    if sent:
        started = next(i for i, block in enumerate(device.heard) if block.any())
        total = counters.callbacks * BLOCK
        assert started * BLOCK + sent + counters.starved_frames + device.renderer.silence_after_end <= total
