"""Spectrograms as the public checkpoints expect them."""

from functools import cache

import torch
from torch import Tensor
from torchaudio.functional import melscale_fbanks

MELS = 100
LOWEST, HIGHEST = -12.0, 2.0
"""Natural logarithms that normalised mels map to -1 and 1."""
SPECTROGRAM_RATE = 32_000
_MEL_RATE = 24_000
_MEL_FFT, _MEL_HOP = 1024, 256
_SPECTROGRAM_FFT, _SPECTROGRAM_HOP = 2048, 640


@cache
def _filters() -> Tensor:
    return melscale_fbanks(_MEL_FFT // 2 + 1, 0.0, _MEL_RATE / 2, MELS, _MEL_RATE, norm="slaney", mel_scale="slaney").T


def linear_spectrogram(wav: Tensor) -> Tensor:
    """The style encoder's input: [1, n] at 32 kHz to magnitudes [1, 1025, n // 640]."""
    return _magnitudes(wav, _SPECTROGRAM_FFT, _SPECTROGRAM_HOP)


def normalised_mel(wav: Tensor) -> Tensor:
    """The CFM's prompt: [1, n] at 24 kHz to [1, 100, n // 256], the range of the logarithms mapped to -1..1."""
    mel = _filters().to(wav.device) @ _magnitudes(wav, _MEL_FFT, _MEL_HOP)
    return (mel.clamp(min=1e-5).log() - LOWEST) / (HIGHEST - LOWEST) * 2 - 1


def denormalise(mel: Tensor) -> Tensor:
    """The vocoder's input: natural logarithms."""
    return (mel + 1) / 2 * (HIGHEST - LOWEST) + LOWEST


def _magnitudes(wav: Tensor, fft: int, hop: int) -> Tensor:
    edge = (fft - hop) // 2
    padded = torch.nn.functional.pad(wav.float()[None], (edge, edge), mode="reflect")[0]
    window = torch.hann_window(fft, device=wav.device)
    spectrum = torch.stft(padded, fft, hop, fft, window, center=False, return_complex=True)
    return (spectrum.real.square() + spectrum.imag.square() + 1e-8).sqrt()
