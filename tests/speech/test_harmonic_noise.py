"""The block renderer: joined blocks are the one-shot sound, and the sound is hibari's own."""

import numpy as np
import pytest
import torch
from hibari import dsp
from hypothesis import given, settings
from hypothesis import strategies as st

from rocm_wizard.speech.harmonic_noise import BINS, HOP, RATE, Renderer, Spectra, block_ends, pulses

FRAMES = 47


def spectra(frames: int = FRAMES, seed: int = 0) -> Spectra:
    generator = torch.Generator().manual_seed(seed)

    def drawn(scale: float, offset: float = 0.0) -> torch.Tensor:
        return torch.randn(BINS, frames, generator=generator) * scale + offset

    f0 = 180 + 60 * torch.sin(torch.arange(frames) / 7)
    f0[frames // 3 : frames // 3 + 6] = 0
    return Spectra(drawn(1, -3), drawn(0.4), drawn(1, -2), drawn(1, -3), drawn(2), f0)


def one_shot(sentence: Spectra) -> torch.Tensor:
    return Renderer(sentence, 5).take(FRAMES * HOP)


class OurNoise:
    """Gives hibari's renderer the numbers that ours draws, in its order."""

    def standard_normal(self, shape: tuple[int, int], dtype: type) -> np.ndarray:
        bins, twice = shape
        drawn = np.random.default_rng(5).standard_normal((twice // 2, bins, 2), dtype=dtype)
        return np.ascontiguousarray(drawn.transpose(1, 0, 2)).reshape(shape)


def test_the_sound_is_hibaris() -> None:
    sentence = spectra()
    lh, theta, ln, lr, phi, f0 = (getattr(sentence, name).numpy() for name in ("lh", "theta", "ln", "lr", "phi", "f0"))
    expected = dsp.synth(lh, theta, ln, lr, phi, f0, OurNoise())
    found = one_shot(sentence).numpy()
    assert found.shape == expected.shape
    assert float(np.abs(expected).max()) > 0.01
    assert float(np.abs(found - expected).max()) < 1e-4 * float(np.abs(expected).max())


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(1, 5_000), min_size=1, max_size=30))
def test_joined_blocks_are_the_one_shot_sound(lengths: list[int]) -> None:
    sentence = spectra()
    renderer = Renderer(sentence, 5)
    blocks = [renderer.take(length) for length in [*lengths, FRAMES * HOP]]
    assert [b.shape[0] for b in blocks[: len(lengths)] if b.shape[0]] == [
        n for n in (min(n, FRAMES * HOP - sum(lengths[:at])) for at, n in enumerate(lengths)) if n > 0
    ]
    assert renderer.samples_left == 0
    assert float((torch.cat(blocks) - one_shot(sentence)).abs().max()) < 1e-5


def test_a_block_leaves_before_the_rest_is_rendered() -> None:
    """The first block does not depend on frames that lie more than a window behind it."""
    sentence = spectra()
    cut = 20
    halved = {name: torch.cat([v[..., :cut], v[..., cut:] * 0.5], -1) for name, v in vars(sentence).items()}
    changed = Spectra(**halved)
    early = (cut - 3) * HOP
    # The pulse train looks half a frame ahead for its pitch, and the window half of itself.
    assert torch.equal(Renderer(sentence, 5).take(early - 600), Renderer(changed, 5).take(early - 600))
    renderer = Renderer(sentence, 5)
    renderer.take(early - 600)
    assert renderer._done_frames < cut


def test_the_seed_decides_the_noise() -> None:
    first, again, other = (Renderer(spectra(), seed).take(3_000) for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.allclose(first, other, atol=1e-3)


def test_pulses_are_the_sum_of_their_harmonics() -> None:
    f0 = torch.full((8,), 250.0)
    time = np.arange(1, 8 * HOP + 1) / RATE
    expected = sum(np.cos(2 * np.pi * 250 * h * time) for h in range(1, int(11_000 / 250) + 1))
    assert float(np.abs(pulses(f0).numpy() - expected).max()) < 0.02
    assert not pulses(torch.full((4,), 39.0)).any()


@given(st.integers(1, 100_000), st.integers(0, 20_000), st.integers(1, 1_200))
def test_blocks_cover_the_sound_and_none_is_too_short(total: int, block: int, shortest: int) -> None:
    ends = block_ends(total, block, min(shortest, max(block, 1)))
    sizes = np.diff([0, *ends])
    assert ends[-1] == total
    if block == 0:
        assert ends == [total]
    else:
        assert all(size == block for size in sizes[:-1])
        assert sizes[-1] >= min(shortest, block, total)
        assert sizes[-1] < block + shortest


@pytest.mark.parametrize("frames", [1, 2])
def test_a_sentence_too_short_for_a_window_is_refused(frames: int) -> None:
    with pytest.raises(ValueError, match="too short"):
        Renderer(spectra(frames), 0)
