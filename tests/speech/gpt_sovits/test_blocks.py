"""Block lengths, padding, fades and the onset gate, by the preview's numbers."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from rocm_wizard.speech.gpt_sovits.blocks import RATE, OnsetGate, block_frames, faded, limited, padded


@pytest.mark.parametrize(
    ("seconds", "frames"), [(0.35, 33), (0.40, 38), (0.45, 42), (0.60, 56), (0.75, 70), (0.80, 75), (1.00, 94)]
)
def test_block_lengths_of_the_preview(seconds: float, frames: int) -> None:
    assert block_frames(seconds, 468) == frames


def test_a_block_is_never_tiny_and_never_passes_the_window() -> None:
    assert block_frames(0.01, 468) == 8
    assert block_frames(30.0, 468) == 934 - 468
    assert block_frames(0.0, 468) == 466
    assert block_frames(0.0, 100) == 834


@given(frames=st.integers(1, 120), bucket=st.integers(0, 120))
def test_padding_repeats_the_last_frame_and_never_cuts(frames: int, bucket: int) -> None:
    mel = torch.randn(1, 3, frames)
    longer = padded(mel, bucket)
    assert longer.shape[2] == max(frames, bucket)
    assert torch.equal(longer[:, :, :frames], mel)
    assert (longer[:, :, frames:] == mel[:, :, -1:]).all()


@given(size=st.integers(1, 2000), first=st.booleans(), last=st.booleans())
def test_fades_touch_a_quarter_at_most_and_the_right_end(size: int, first: bool, last: bool) -> None:
    made = faded(np.ones(size, np.float32), first=first, last=last)
    quarter = size // 4
    begin, end = min(192, quarter), min(360, quarter)
    assert made.size == size
    assert (made[begin : size - end] == 1).all()
    assert (made[0] == 0) == (not first and begin > 0)
    assert (made[-1] == 0) == (last and end > 0)


def test_only_a_block_that_passes_full_scale_is_scaled() -> None:
    assert np.array_equal(limited(np.array([0.5, -0.9], np.float32)), np.array([0.5, -0.9], np.float32))
    assert limited(np.array([0.5, -2.0], np.float32)).tolist() == [0.25, -1.0]
    assert limited(np.zeros(0, np.float32)).size == 0


def voiced(seconds: float) -> np.ndarray:
    return np.full(int(seconds * RATE), 0.1, np.float32)


def test_the_gate_opens_50_ms_before_the_first_voiced_frame() -> None:
    gate = OnsetGate()
    silence = np.full(int(0.8 * RATE), 1e-4, np.float32)
    assert gate.feed(silence).size == 0
    left = gate.feed(voiced(0.4))
    assert left.size == int((0.4 + 0.05) * RATE)
    assert gate.feed(silence).size == silence.size
    assert gate.flush().size == 0


def test_the_gate_sees_an_onset_that_spans_two_blocks() -> None:
    gate = OnsetGate()
    assert gate.feed(np.concatenate([np.zeros(1000, np.float32), voiced(0.004)])).size == 0
    left = gate.feed(voiced(0.1))
    assert left.size == 1000 + 96 + 2400 - max(0, 960 - 1200)


def test_a_sentence_that_never_becomes_voiced_is_released_whole() -> None:
    gate = OnsetGate()
    quiet = np.full(5000, 1e-3, np.float32)
    assert gate.feed(quiet).size == 0
    assert np.array_equal(gate.flush(), quiet)


@given(sizes=st.lists(st.integers(0, 700), min_size=1, max_size=8), start=st.integers(0, 3000))
def test_the_gate_cuts_only_a_beginning(sizes: list[int], start: int) -> None:
    whole = np.zeros(sum(sizes), np.float32)
    whole[start:] = 0.5
    gate, out, at = OnsetGate(), [], 0
    for size in sizes:
        out.append(gate.feed(whole[at : at + size]))
        at += size
    out.append(gate.flush())
    left = np.concatenate(out)
    assert np.array_equal(left, whole[whole.size - left.size :])
    assert whole.size - left.size <= max(0, start // 240 * 240 - 1200)
