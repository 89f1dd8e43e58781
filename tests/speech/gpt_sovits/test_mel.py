"""Spectrograms against an independent filterbank and against what a tone must look like."""

import math

import numpy as np
import torch
from transformers.audio_utils import mel_filter_bank, spectrogram, window_function

from rocm_wizard.speech.gpt_sovits.mel import denormalise, linear_spectrogram, normalised_mel


def tone(hertz: float, rate: int, seconds: float = 0.5) -> torch.Tensor:
    return 0.5 * torch.sin(2 * math.pi * hertz * torch.arange(int(rate * seconds)) / rate)[None]


def test_the_mel_is_that_of_another_implementation() -> None:
    wav = torch.randn(1, 9000, generator=torch.Generator().manual_seed(1)) * 0.2
    edged = np.pad(wav[0].double().numpy(), 384, mode="reflect")
    filters = mel_filter_bank(513, 100, 0.0, 12_000.0, 24_000, norm="slaney", mel_scale="slaney")
    window = window_function(1024, "hann", periodic=True)
    power = spectrogram(edged, window, 1024, 256, 1024, power=2.0, center=False)
    wanted = np.log(np.maximum(filters.T @ np.sqrt(power + 1e-8), 1e-5))
    made = normalised_mel(wav)
    assert made.shape == (1, 100, 9000 // 256)
    assert float(np.abs(denormalise(made)[0].numpy() - wanted).max()) < 1e-3


def test_silence_is_the_lowest_value_that_magnitudes_allow() -> None:
    mel = denormalise(normalised_mel(torch.zeros(1, 4096)))
    assert float(mel.max()) < math.log(2e-4)
    assert float(mel.min()) >= math.log(1e-5) - 1e-4


def test_a_tone_peaks_in_its_bin() -> None:
    made = linear_spectrogram(tone(1000, 32_000))
    assert made.shape == (1, 1025, 16_000 // 640)
    assert int(made[0, :, 10].argmax()) == 1000 * 2048 // 32_000
    # Half of the amplitude times half of the window's sum.
    assert math.isclose(float(made[0, 64, 10]), 0.5 / 2 * 1024, rel_tol=1e-3)
