"""The diffusion transformer that estimates the CFM's velocity (Peebles and Xie, 2023; F5-TTS, Chen et al., 2024)."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

_SINUSOID = 256
_TIME_SCALE = 1000
_LONGEST = 4096


@dataclass(frozen=True)
class DitConfig:
    """Sizes; the defaults are those of every public v3 checkpoint. `position_groups`: of the position convolution."""

    width: int = 1024
    blocks: int = 22
    heads: int = 16
    inner: int = 2
    text_blocks: int = 4
    position_groups: int = 16

    @property
    def head_width(self) -> int:
        """Channels of one head, which are also the only ones that are rotated."""
        return self.width // self.heads


@dataclass(frozen=True)
class Conditions:
    """What does not change from step to step: the input projection's constant part [1, T, W], and rotations [T, d]."""

    projected: Tensor
    cosines: Tensor
    sines: Tensor


@dataclass(frozen=True)
class Modulations:
    """Shifts, scales and gates of every block at one point of time: [blocks, 6, W], and [2, W] for the end."""

    blocks: Tensor
    end: Tensor


class StepEmbedding(nn.Module):
    """A time or a step length as a vector."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.time_mlp = nn.Sequential(nn.Linear(_SINUSOID, width), nn.SiLU(), nn.Linear(width, width))

    def forward(self, times: Tensor) -> Tensor:
        """[n] to [n, W]."""
        half = _SINUSOID // 2
        rates = torch.exp(torch.arange(half, device=times.device).float() * -(math.log(10000) / (half - 1)))
        angles = _TIME_SCALE * times.float()[:, None] * rates
        return self.time_mlp(torch.cat([angles.sin(), angles.cos()], dim=1).to(times.dtype))


class ResponseNorm(nn.Module):
    """Global response normalisation over time (ConvNeXt V2, Woo et al., 2023)."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.gamma = nn.Parameter(torch.zeros(1, 1, channels))
        self.beta = nn.Parameter(torch.zeros(1, 1, channels))

    def forward(self, x: Tensor) -> Tensor:
        """[1, T, C] to the same."""
        length = x.norm(dim=1, keepdim=True)
        return self.gamma * (x * (length / (length.mean(dim=2, keepdim=True) + 1e-6))) + self.beta + x


class TextBlock(nn.Module):
    """A ConvNeXt V2 block."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.dwconv = nn.Conv1d(channels, channels, 7, padding=3, groups=channels)
        self.norm = nn.LayerNorm(channels, eps=1e-6)
        self.pwconv1 = nn.Linear(channels, 2 * channels)
        self.grn = ResponseNorm(2 * channels)
        self.pwconv2 = nn.Linear(2 * channels, channels)

    def forward(self, x: Tensor) -> Tensor:
        """[1, T, C] to the same."""
        made = self.norm(self.dwconv(x.transpose(1, 2)).transpose(1, 2))
        return x + self.pwconv2(self.grn(functional.gelu(self.pwconv1(made))))


class TextEmbedding(nn.Module):
    """Positions and convolutions over the condition features."""

    def __init__(self, channels: int, blocks: int) -> None:
        super().__init__()
        self.text_blocks = nn.Sequential(*(TextBlock(channels) for _ in range(blocks)))

    def forward(self, features: Tensor) -> Tensor:
        """[1, T, C] to the same."""
        frames, channels = features.shape[1:]
        rates = 10000.0 ** -(torch.arange(0, channels, 2, device=features.device).float() / channels)
        at = torch.arange(frames, device=features.device).clamp(max=_LONGEST - 1)
        angles = torch.outer(at.float(), rates)
        return self.text_blocks(features + torch.cat([angles.cos(), angles.sin()], dim=1).to(features.dtype))


class PositionConvolution(nn.Module):
    """Tells frames where they are by their neighbours."""

    def __init__(self, width: int, groups: int) -> None:
        super().__init__()
        self.conv1d = nn.Sequential(
            nn.Conv1d(width, width, 31, groups=groups, padding=15),
            nn.Mish(),
            nn.Conv1d(width, width, 31, groups=groups, padding=15),
            nn.Mish(),
        )

    def forward(self, x: Tensor) -> Tensor:
        """[1, T, W] to the same."""
        return self.conv1d(x.transpose(1, 2)).transpose(1, 2)


class InputEmbedding(nn.Module):
    """Noise, prompt and text as one projection."""

    def __init__(self, mels: int, features: int, width: int, groups: int) -> None:
        super().__init__()
        self.mels = mels
        self.proj = nn.Linear(2 * mels + features, width)
        self.conv_pos_embed = PositionConvolution(width, groups)

    def constant(self, prompt: Tensor, text: Tensor) -> Tensor:
        """The part of the projection that no step changes: [1, T, mels] and [1, T, features] to [1, T, W]."""
        return functional.linear(torch.cat([prompt, text], dim=2), self.proj.weight[:, self.mels :], self.proj.bias)

    def forward(self, x: Tensor, constant: Tensor) -> Tensor:
        """[1, T, mels] and the constant part to [1, T, W]."""
        made = functional.linear(x, self.proj.weight[:, : self.mels]) + constant
        return self.conv_pos_embed(made) + made


class _Linear(nn.Module):
    def __init__(self, width: int, parts: int) -> None:
        super().__init__()
        self.linear = nn.Linear(width, parts * width)


class _Attention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.to_q = nn.Linear(width, width)
        self.to_k = nn.Linear(width, width)
        self.to_v = nn.Linear(width, width)
        self.to_out = nn.Sequential(nn.Linear(width, width))

    def forward(self, x: Tensor, cosines: Tensor, sines: Tensor, mask: Tensor | None, first: int) -> Tensor:
        def split(made: Tensor) -> Tensor:
            return made.view(1, made.shape[1], self.heads, -1).transpose(1, 2)

        query = rotated(self.to_q(x[:, first:]), cosines[first:], sines[first:])
        key = rotated(self.to_k(x), cosines, sines)
        mixed = functional.scaled_dot_product_attention(split(query), split(key), split(self.to_v(x)), attn_mask=mask)
        return self.to_out(mixed.transpose(1, 2).reshape(query.shape))


class _FeedForward(nn.Module):
    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        enter = nn.Sequential(nn.Linear(width, inner), nn.GELU(approximate="tanh"))
        self.ff = nn.Sequential(enter, nn.Identity(), nn.Linear(inner, width))

    def forward(self, x: Tensor) -> Tensor:
        return self.ff(x)


class DitBlock(nn.Module):
    """Attention and feed-forward, both shifted, scaled and gated by the time."""

    def __init__(self, config: DitConfig) -> None:
        super().__init__()
        self.attn_norm = _Linear(config.width, 6)
        self.attn = _Attention(config.width, config.heads)
        self.ff = _FeedForward(config.width, config.inner * config.width)

    def forward(
        self, x: Tensor, modulation: Tensor, conditions: Conditions, mask: Tensor | None, first: int = 0
    ) -> Tensor:
        """[1, T, W] to [1, T - first, W]; `modulation` is [6, W], `mask` [1, 1, 1, T] or None."""
        shift, scale, gate, feed_shift, feed_scale, feed_gate = modulation
        made = self.attn(modulated(x, scale, shift), conditions.cosines, conditions.sines, mask, first)
        x = torch.addcmul(x[:, first:], gate, made if mask is None else made * mask[0, 0, 0, first:, None])
        return torch.addcmul(x, feed_gate, self.ff(modulated(x, feed_scale, feed_shift)))


class Rotary(nn.Module):
    """Rotation rates; a buffer because checkpoints carry it."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.register_buffer("inv_freq", 10000.0 ** -(torch.arange(0, width, 2).float() / width))
        self.inv_freq: Tensor

    def forward(self, frames: int, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        """Cosines and sines, each [T, width]: a rate serves two neighbouring channels."""
        at = torch.arange(frames, device=self.inv_freq.device).float()
        angles = torch.outer(at, self.inv_freq.float()).repeat_interleave(2, dim=1)
        return angles.cos().to(dtype), angles.sin().to(dtype)


class Dit(nn.Module):
    """Velocity of the mel at a time, given prompt and text."""

    def __init__(self, mels: int, features: int, config: DitConfig) -> None:
        super().__init__()
        self.config = config
        self.time_embed = StepEmbedding(config.width)
        self.d_embed = StepEmbedding(config.width)
        self.text_embed = TextEmbedding(features, config.text_blocks)
        self.input_embed = InputEmbedding(mels, features, config.width, config.position_groups)
        self.rotary_embed = Rotary(config.head_width)
        self.transformer_blocks = nn.ModuleList(DitBlock(config) for _ in range(config.blocks))
        self.norm_out = _Linear(config.width, 2)
        self.proj_out = nn.Linear(config.width, mels)

    def conditions(self, prompt: Tensor, features: Tensor) -> Conditions:
        """What every step shares: `prompt` [1, T, mels], zero where there is none, and `features` [1, T, C]."""
        cosines, sines = self.rotary_embed(features.shape[1], features.dtype)
        return Conditions(self.input_embed.constant(prompt, self.text_embed(features)), cosines, sines)

    def modulations(self, times: Tensor, step: float) -> list[Modulations]:
        """Of every time [n] with steps of this length: all at once, so that their weights are read only once."""
        lengths = torch.full_like(times, step)
        embedded = functional.silu(self.time_embed(times) + self.d_embed(lengths))
        blocks = torch.stack([_modulation(block, embedded) for block in self.transformer_blocks], dim=1)
        end = self.norm_out.linear(embedded).unflatten(1, (2, -1))
        return [Modulations(*both) for both in zip(blocks, end, strict=True)]

    def forward(
        self, x: Tensor, at: Modulations, conditions: Conditions, mask: Tensor | None = None, first: int = 0
    ) -> Tensor:
        """The velocity [1, T - first, mels] of `x` [1, T, mels].

        A `mask` [1, 1, 1, T] of true and false leaves padding out. One unpadded sample needs none. Of frames before
        `first` nobody wants the velocity: the last block computes only what others see of them.
        """
        made = self.input_embed(x, conditions.projected)
        last = len(self.transformer_blocks) - 1
        for number, (block, modulation) in enumerate(zip(self.transformer_blocks, at.blocks, strict=True)):
            made = block(made, modulation, conditions, mask, first if number == last else 0)
        scale, shift = at.end
        return self.proj_out(modulated(made, scale, shift))


def modulated(x: Tensor, scale: Tensor, shift: Tensor) -> Tensor:
    """Layer norm whose weight and bias the time gives: [1, T, W] with [W]."""
    return functional.layer_norm(x, (x.shape[2],), 1 + scale, shift, 1e-6)


def rotated(x: Tensor, cosines: Tensor, sines: Tensor) -> Tensor:
    """[1, T, W] with its first channels turned by position; all others, that is all heads but the first, as they are.

    That the rotation comes before the heads are split is how the public checkpoints were trained.
    """
    width = cosines.shape[1]
    turned = x[..., :width]
    across = torch.stack([-turned[..., 1::2], turned[..., ::2]], dim=3).flatten(2)
    return torch.cat([turned * cosines + across * sines, x[..., width:]], dim=2)


def _modulation(block: nn.Module, embedded: Tensor) -> Tensor:
    assert isinstance(block, DitBlock)
    return block.attn_norm.linear(embedded).unflatten(1, (6, -1))
