"""Attention of the SoVITS text encoders: over a sequence with relative positions, and from one sequence to another."""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

WINDOW = 4
"""Relative positions are told apart up to this distance."""


class ChannelNorm(nn.Module):
    """Layer norm over the channels of [1, C, T]."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(channels))
        self.beta = nn.Parameter(torch.zeros(channels))

    def forward(self, x: Tensor) -> Tensor:
        """[1, C, T] to the same."""
        normed = functional.layer_norm(x.transpose(1, 2), (x.shape[1],), self.gamma, self.beta, 1e-5)
        return normed.transpose(1, 2)


class CrossAttention(nn.Module):
    """Every frame of one sequence attends to every frame of another."""

    def __init__(self, channels: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.conv_q = nn.Conv1d(channels, channels, 1)
        self.conv_k = nn.Conv1d(channels, channels, 1)
        self.conv_v = nn.Conv1d(channels, channels, 1)
        self.conv_o = nn.Conv1d(channels, channels, 1)

    def split(self, x: Tensor) -> Tensor:
        """[1, C, T] to [heads, T, C / heads]."""
        return x.view(self.heads, -1, x.shape[2]).transpose(1, 2)

    def join(self, x: Tensor) -> Tensor:
        """The way back."""
        return x.transpose(1, 2).reshape(1, -1, x.shape[1])

    def forward(self, x: Tensor, other: Tensor) -> Tensor:
        """[1, C, T] and [1, C, S] to [1, C, T]."""
        query, key, value = self.split(self.conv_q(x)), self.split(self.conv_k(other)), self.split(self.conv_v(other))
        return self.conv_o(self.join(functional.scaled_dot_product_attention(query, key, value)))


class RelativeAttention(CrossAttention):
    """Self-attention that adds a learned key and value for each distance up to `WINDOW` (Shaw et al., 2018).

    The embeddings are shared by the heads.
    """

    def __init__(self, channels: int, heads: int) -> None:
        super().__init__(channels, heads)
        width = channels // heads
        self.emb_rel_k = nn.Parameter(torch.randn(1, 2 * WINDOW + 1, width) * width**-0.5)
        self.emb_rel_v = nn.Parameter(torch.randn(1, 2 * WINDOW + 1, width) * width**-0.5)

    def forward(self, x: Tensor, other: Tensor | None = None) -> Tensor:
        """[1, C, T] to [1, C, T]."""
        if other is not None:
            raise ValueError("relative positions exist within one sequence only")
        query, key, value = self.split(self.conv_q(x)), self.split(self.conv_k(x)), self.split(self.conv_v(x))
        query = query / math.sqrt(query.shape[2])
        distance = torch.arange(x.shape[2], device=x.device)
        distance = distance[None, :] - distance[:, None]
        near = distance.abs() <= WINDOW
        index = (distance.clamp(-WINDOW, WINDOW) + WINDOW).expand(self.heads, -1, -1)
        local = (query @ self.emb_rel_k.transpose(1, 2)).gather(2, index)
        weights = (query @ key.transpose(1, 2) + local * near).softmax(dim=2)
        by_distance = weights.new_zeros(*weights.shape[:2], 2 * WINDOW + 1).scatter_add(2, index, weights * near)
        return self.conv_o(self.join(weights @ value + by_distance @ self.emb_rel_v))


class ConvolutionalFeedForward(nn.Module):
    """Two convolutions over time with a ReLU between."""

    def __init__(self, channels: int, inner: int, kernel: int) -> None:
        super().__init__()
        self.conv_1 = nn.Conv1d(channels, inner, kernel, padding=kernel // 2)
        self.conv_2 = nn.Conv1d(inner, channels, kernel, padding=kernel // 2)

    def forward(self, x: Tensor) -> Tensor:
        """[1, C, T] to the same."""
        return self.conv_2(self.conv_1(x).relu())


class TextTransformer(nn.Module):
    """Post-norm blocks of relative attention and convolutional feed-forward."""

    def __init__(self, channels: int, inner: int, heads: int, layers: int, kernel: int) -> None:
        super().__init__()
        self.attn_layers = nn.ModuleList(RelativeAttention(channels, heads) for _ in range(layers))
        self.norm_layers_1 = nn.ModuleList(ChannelNorm(channels) for _ in range(layers))
        self.ffn_layers = nn.ModuleList(ConvolutionalFeedForward(channels, inner, kernel) for _ in range(layers))
        self.norm_layers_2 = nn.ModuleList(ChannelNorm(channels) for _ in range(layers))

    def forward(self, x: Tensor) -> Tensor:
        """[1, C, T] to the same."""
        for attend, norm_1, feed, norm_2 in zip(
            self.attn_layers, self.norm_layers_1, self.ffn_layers, self.norm_layers_2, strict=True
        ):
            x = norm_1(x + attend(x))
            x = norm_2(x + feed(x))
        return x
