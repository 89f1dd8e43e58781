"""BigVGAN v2: mels to sound, 24 kHz, 256 samples a frame (Lee et al., 2023)."""

import math
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn

from rocm_wizard.speech.gpt_sovits.snake import EDGE, AntiAliasedSnake

_EDGE_KERNEL = 7


@dataclass(frozen=True)
class BigVganConfig:
    """Sizes; the defaults are those of `bigvgan_v2_24khz_100band_256x`."""

    mels: int = 100
    channels: int = 1536
    rates: tuple[int, ...] = (4, 4, 2, 2, 2, 2)
    upsample_kernels: tuple[int, ...] = (8, 8, 4, 4, 4, 4)
    kernels: tuple[int, ...] = (3, 7, 11)
    dilations: tuple[tuple[int, ...], ...] = ((1, 3, 5), (1, 3, 5), (1, 3, 5))
    final_bias: bool = False
    final_tanh: bool = False

    @property
    def hop(self) -> int:
        """Samples a frame."""
        return math.prod(self.rates)


class _Block(nn.Module):
    """Residual pairs of a dilated and a plain convolution, each behind an activation."""

    def __init__(self, channels: int, kernel: int, dilations: tuple[int, ...]) -> None:
        super().__init__()
        self.convs1 = nn.ModuleList(
            nn.Conv1d(channels, channels, kernel, dilation=each, padding=each * (kernel // 2)) for each in dilations
        )
        self.convs2 = nn.ModuleList(nn.Conv1d(channels, channels, kernel, padding=kernel // 2) for _ in dilations)
        self.activations = nn.ModuleList(AntiAliasedSnake(channels) for _ in range(2 * len(dilations)))

    def forward(self, x: Tensor) -> Tensor:
        for number, (dilated, plain) in enumerate(zip(self.convs1, self.convs2, strict=True)):
            made = dilated(self.activations[2 * number](x))
            x = plain(self.activations[2 * number + 1](made)).add_(x)
        return x


class BigVgan(nn.Module):
    """The vocoder without weight norm."""

    def __init__(self, config: BigVganConfig) -> None:
        super().__init__()
        self.config = config
        widths = [config.channels // 2**number for number in range(len(config.rates) + 1)]
        self.conv_pre = nn.Conv1d(config.mels, config.channels, _EDGE_KERNEL, padding=_EDGE_KERNEL // 2)
        self.ups = nn.ModuleList(
            nn.ModuleList((nn.ConvTranspose1d(wide, narrow, kernel, rate, padding=(kernel - rate) // 2),))
            for (wide, narrow), kernel, rate in zip(
                pairwise(widths), config.upsample_kernels, config.rates, strict=True
            )
        )
        self.resblocks = nn.ModuleList(
            _Block(width, kernel, dilations)
            for width in widths[1:]
            for kernel, dilations in zip(config.kernels, config.dilations, strict=True)
        )
        self.activation_post = AntiAliasedSnake(widths[-1])
        self.conv_post = nn.Conv1d(widths[-1], 1, _EDGE_KERNEL, padding=_EDGE_KERNEL // 2, bias=config.final_bias)

    @torch.inference_mode()
    def forward(self, mel: Tensor) -> Tensor:
        """A mel [1, mels, T] (natural logarithms) to samples [1, T * hop] in -1..1."""
        x, count = self.conv_pre(mel), len(self.config.kernels)
        for number, upsample in enumerate(self.ups):
            assert isinstance(upsample, nn.ModuleList)
            x = upsample[0](x)
            first, *others = self.resblocks[number * count : (number + 1) * count]
            total = first(x)
            for block in others:
                total += block(x)
            x = total.div_(count)
        sound = self.conv_post(self.activation_post(x))[:, 0]
        return sound.tanh_() if self.config.final_tanh else sound.clamp_(-1, 1)

    @property
    def receptive_field_frames(self) -> int:
        """How many mel frames beyond a sample's own can change it, on either side.

        Followed from the samples of one frame back to the mel: a convolution widens the span by half its dilated
        kernel, an activation by its filters' edge, an upsampling maps it to its input's rate.
        """
        config = self.config
        low, high = -(_EDGE_KERNEL // 2) - EDGE, config.hop - 1 + _EDGE_KERNEL // 2 + EDGE
        block = max(
            sum((size // 2) * (dilation + 1) + 2 * EDGE for dilation in dilations)
            for size, dilations in zip(config.kernels, config.dilations, strict=True)
        )
        for rate, kernel in zip(reversed(config.rates), reversed(config.upsample_kernels), strict=True):
            padding = (kernel - rate) // 2
            low = -((-(low - block) - padding + kernel - 1) // rate)
            high = (high + block + padding) // rate
        return max(-low, high) + _EDGE_KERNEL // 2
