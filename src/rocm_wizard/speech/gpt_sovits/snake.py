"""The vocoder's activation: snake at twice the rate, so that the harmonics it adds do not fold back.

BigVGAN (Lee et al., 2023); low-pass filters after Karras et al., 2021.
"""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

TAPS = 12
RATIO = 2
EDGE = 5
"""Frames on either side that a sample after the activation depends on."""


class _Filter(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("filter", low_pass(0.5 / RATIO, 0.6 / RATIO, TAPS))
        self.filter: Tensor


class _DownFilter(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lowpass = _Filter()


class _Snake(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.alpha = nn.Parameter(torch.zeros(channels))
        self.beta = nn.Parameter(torch.zeros(channels))


class AntiAliasedSnake(nn.Module):
    """x + sin²(αx) / β at twice the rate; α and β for each channel, kept as logarithms."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.channels = channels
        self.act = _Snake(channels)
        self.upsample = _Filter()
        self.downsample = _DownFilter()

    def forward(self, x: Tensor) -> Tensor:
        """[1, C, T] to the same."""
        up = (self.upsample.filter * RATIO).expand(self.channels, -1, -1)
        down = self.downsample.lowpass.filter.expand(self.channels, -1, -1)
        rate = self.act.alpha.exp()[:, None]
        share = 1 / (self.act.beta.exp()[:, None] + 1e-9)
        # Three frames of replicated edge are all that the filter sees; the convolution crops the rest.
        edged = torch.cat([x[:, :, :1].expand(-1, -1, 3), x, x[:, :, -1:].expand(-1, -1, 3)], dim=2)
        doubled = functional.conv_transpose1d(edged, up, stride=RATIO, groups=self.channels, padding=TAPS - 1)
        wave = (doubled * rate).sin_()
        # Written between its own edges: torch's replication padding costs as much as the filter on the CPU.
        before, after = TAPS // 2 - 1, TAPS // 2
        bent = x.new_empty(1, self.channels, before + doubled.shape[2] + after)
        inside = bent[:, :, before:-after]
        torch.addcmul(doubled, wave.mul_(wave), share, out=inside)
        bent[:, :, :before] = inside[:, :, :1]
        bent[:, :, -after:] = inside[:, :, -1:]
        return functional.conv1d(bent, down, stride=RATIO, groups=self.channels)


def low_pass(cutoff: float, half_width: float, taps: int) -> Tensor:
    """A Kaiser-windowed sinc [1, 1, taps] with sum 1; `taps` is even. Its shape parameter: Kaiser, 1974."""
    attenuation = 2.285 * (taps // 2 - 1) * math.pi * 4 * half_width + 7.95
    beta = 0.1102 * (attenuation - 8.7) if attenuation > 50 else 0.0
    if 21 <= attenuation <= 50:
        beta = 0.5842 * (attenuation - 21) ** 0.4 + 0.07886 * (attenuation - 21)
    at = torch.arange(-(taps // 2), taps // 2) + 0.5
    shape = torch.kaiser_window(taps, beta=beta, periodic=False) * torch.sinc(2 * cutoff * at)
    return (shape / shape.sum())[None, None]
