"""Fourier transforms: one line where there must be one, and the short-time transform both ways."""

import math
from typing import Any

from .prepared import Options, Prepared, normal

_WINDOW, _HOP, _SAMPLES = 1024, 256, 8192
"""As the 24 kHz mel spectrogram of the speech models has them."""


def fourier(torch: Any, _device: str, _options: Options) -> Prepared:
    """A cosine of 37 whole periods in 1,024 samples: one line of height 512 at bin 37, nothing elsewhere."""
    samples, line = 1024, 37
    phase = torch.arange(samples, dtype=torch.float64) * (2 * math.pi * line / samples)
    expected = torch.zeros(samples // 2 + 1, dtype=torch.float64)
    expected[line] = samples / 2
    return Prepared([torch.cos(phase).float()], lambda wave: torch.fft.rfft(wave).abs(), expected)


def _hann(torch: Any) -> Any:
    ramp = torch.arange(_WINDOW, dtype=torch.float64)
    return 0.5 - 0.5 * torch.cos(ramp * (2 * math.pi / _WINDOW))


def _spectrum(torch: Any, wave: Any) -> Any:
    """The centred short-time spectrum as (bins, frames, real and imaginary), by the transform's definition."""
    half = _WINDOW // 2
    padded = torch.cat([wave[1 : half + 1].flip(0), wave, wave[-half - 1 : -1].flip(0)])
    frames = padded.unfold(0, _WINDOW, _HOP) * _hann(torch)
    turns = torch.outer(torch.arange(_WINDOW), torch.arange(half + 1)).remainder(_WINDOW).double()
    angle = turns * (2 * math.pi / _WINDOW)
    return torch.stack([(frames @ torch.cos(angle)).T, -(frames @ torch.sin(angle)).T], -1)


def stft(torch: Any, _device: str, _options: Options) -> Prepared:
    """The short-time spectrum of noise."""
    wave = normal(torch, 71, _SAMPLES)
    window = _hann(torch).float()

    def on_device(samples: Any, shape: Any) -> Any:
        spectrum = torch.stft(samples, _WINDOW, _HOP, window=shape, center=True, return_complex=True)
        return torch.view_as_real(spectrum)

    return Prepared([wave, window], on_device, _spectrum(torch, wave.double()))


def istft(torch: Any, _device: str, _options: Options) -> Prepared:
    """From the reference's spectrum back to the samples it was made of."""
    wave = normal(torch, 72, _SAMPLES)
    parts = _spectrum(torch, wave.double()).float().contiguous()
    window = _hann(torch).float()

    def on_device(values: Any, shape: Any) -> Any:
        spectrum = torch.view_as_complex(values)
        return torch.istft(spectrum, _WINDOW, _HOP, window=shape, center=True, length=_SAMPLES)

    return Prepared([parts, window], on_device, wave.double())
