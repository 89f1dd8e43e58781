"""The vocoder's activation against its definition written out, and its sizes."""

import math

import numpy as np
import pytest
import torch

from rocm_wizard.speech.gpt_sovits.bigvgan import BigVgan, BigVganConfig
from rocm_wizard.speech.gpt_sovits.snake import AntiAliasedSnake, low_pass
from tests.speech.gpt_sovits.tiny import VOCODER


def written_out(activation: AntiAliasedSnake, x: torch.Tensor) -> np.ndarray:
    """The activation in float64, one sum after the other: stuff with zeros, filter, bend, filter, drop every second."""
    up = activation.upsample.filter.double().numpy().ravel() * 2
    down = activation.downsample.lowpass.filter.double().numpy().ravel()
    alpha = activation.act.alpha.detach().double().exp().numpy()[:, None]
    beta = activation.act.beta.detach().double().exp().numpy()[:, None]
    edged = np.pad(x[0].double().numpy(), ((0, 0), (5, 5)), mode="edge")
    stuffed = np.zeros((edged.shape[0], edged.shape[1] * 2 - 1))
    stuffed[:, ::2] = edged
    doubled = np.stack([np.convolve(row, up) for row in stuffed])[:, 15:-15]
    bent = doubled + np.sin(alpha * doubled) ** 2 / (beta + 1e-9)
    edged = np.pad(bent, ((0, 0), (5, 6)), mode="edge")
    return np.stack([np.convolve(row, down[::-1], mode="valid") for row in edged])[:, ::2]


@pytest.mark.parametrize("frames", [1, 2, 7, 40])
def test_the_activation_is_its_definition(frames: int) -> None:
    torch.manual_seed(2)
    activation = AntiAliasedSnake(6)
    with torch.no_grad():
        activation.act.alpha.normal_()
        activation.act.beta.normal_()
        activation.upsample.filter.normal_()  # checkpoints bring their own: none of its symmetries may be assumed
        activation.downsample.lowpass.filter.normal_()
        x = torch.randn(1, 6, frames)
        made = activation(x)
    wanted = written_out(activation, x)
    assert made.shape == x.shape
    assert float(np.abs(made[0].numpy() - wanted).max()) < 1e-4 * max(1.0, float(np.abs(wanted).max()))


def test_the_filter_lets_the_lower_half_through_and_stops_the_upper() -> None:
    taps = low_pass(0.25, 0.3, 12).double().numpy().ravel()
    assert math.isclose(taps.sum(), 1, rel_tol=1e-6)
    assert np.allclose(taps, taps[::-1])
    spectrum = np.abs(np.fft.rfft(taps, 512))
    assert spectrum[:20].min() > 0.99
    assert spectrum[-60:].max() < 0.01


def test_a_frame_is_256_samples_within_one() -> None:
    torch.manual_seed(1)
    vocoder = BigVgan(VOCODER).eval()
    assert BigVganConfig().hop == 256
    for frames in (1, 8):
        sound = vocoder(torch.randn(1, 100, frames) * 5)
        assert sound.shape == (1, frames * 256)
        assert float(sound.abs().max()) <= 1
