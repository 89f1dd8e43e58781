"""From semantic codes, phonemes and a style vector to the features that condition the CFM."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from rocm_wizard.speech.gpt_sovits.attention import CrossAttention, TextTransformer

STYLE_BINS = 704
"""The style encoder reads the first 704 of the spectrogram's 1025 bins."""


class TextReference(nn.Module):
    """Lets the semantic frames attend to the phonemes, and adds the style."""

    def __init__(self, channels: int, width: int, heads: int = 4) -> None:
        super().__init__()
        self.cross_attention = CrossAttention(width, heads)
        self.c_pre = nn.Conv1d(channels, width, 1)
        self.text_pre = nn.Conv1d(channels, width, 1)
        self.c_post = nn.Conv1d(width, channels, 1)

    def forward(self, semantic: Tensor, text: Tensor, style: Tensor) -> Tensor:
        """[1, C, T], [1, C, P] and [1, W, 1] to [1, C, T]."""
        frames = self.c_pre(semantic)
        return self.c_post(self.cross_attention(frames, self.text_pre(text)) + frames + style)


class SemanticEncoder(nn.Module):
    """The text and semantic encoder."""

    def __init__(
        self, semantic: int, channels: int, inner: int, heads: int, layers: int, kernel: int, phonemes: int, style: int
    ) -> None:
        super().__init__()
        self.ssl_proj = nn.Conv1d(semantic, channels, 1)
        self.encoder_ssl = TextTransformer(channels, inner, heads, layers // 2, kernel)
        self.encoder_text = TextTransformer(channels, inner, heads, layers, kernel)
        self.text_embedding = nn.Embedding(phonemes, channels)
        self.mrte = TextReference(channels, style)
        self.encoder2 = TextTransformer(channels, inner, heads, layers // 2, kernel)

    def forward(self, quantised: Tensor, phones: Tensor, style: Tensor, speed: float) -> Tensor:
        """[1, S, T], [1, P] and [1, W, 1] to [1, C, T], or T / speed + 1 frames at another speed than 1."""
        frames = self.encoder_ssl(self.ssl_proj(quantised))
        text = self.encoder_text(self.text_embedding(phones).transpose(1, 2))
        frames = self.encoder2(self.mrte(frames, text, style))
        if speed != 1:
            frames = functional.interpolate(frames, size=int(frames.shape[2] / speed) + 1, mode="linear")
        return frames


class GatedStack(nn.Module):
    """WaveNet layers without dilation, conditioned on the style (van den Oord et al., 2016)."""

    def __init__(self, channels: int, kernel: int, layers: int, style: int) -> None:
        super().__init__()
        self.channels = channels
        self.cond_layer = nn.Conv1d(style, 2 * channels * layers, 1)
        self.in_layers = nn.ModuleList(
            nn.Conv1d(channels, 2 * channels, kernel, padding=kernel // 2) for _ in range(layers)
        )
        last = layers - 1
        self.res_skip_layers = nn.ModuleList(
            nn.Conv1d(channels, 2 * channels if number < last else channels, 1) for number in range(layers)
        )

    def forward(self, x: Tensor, style: Tensor) -> Tensor:
        """[1, C, T] and [1, W, 1] to [1, C, T]."""
        conditions = self.cond_layer(style).chunk(len(self.in_layers), dim=1)
        total = torch.zeros_like(x)
        for enter, leave, condition in zip(self.in_layers, self.res_skip_layers, conditions, strict=True):
            wave, gate = (enter(x) + condition).chunk(2, dim=1)
            made = leave(wave.tanh() * gate.sigmoid())
            if made.shape[1] == self.channels:
                total = total + made
            else:
                residual, skip = made.chunk(2, dim=1)
                x, total = x + residual, total + skip
        return total


class FeatureEncoder(nn.Module):
    """A gated stack between two projections."""

    def __init__(self, channels: int, kernel: int, layers: int, style: int) -> None:
        super().__init__()
        self.pre = nn.Conv1d(channels, channels, 1)
        self.enc = GatedStack(channels, kernel, layers, style)
        self.proj = nn.Conv1d(channels, channels, 1)

    def forward(self, x: Tensor, style: Tensor) -> Tensor:
        """[1, C, T] to the same."""
        return self.proj(self.enc(self.pre(x), style))


class _Wrapped(nn.Module):
    """A layer under the name that it has in checkpoints."""

    def __init__(self, name: str, layer: nn.Module) -> None:
        super().__init__()
        self.add_module(name, layer)
        self._name = name

    def forward(self, x: Tensor) -> Tensor:
        return self.get_submodule(self._name)(x)


class _GatedConvolution(nn.Module):
    def __init__(self, channels: int, kernel: int) -> None:
        super().__init__()
        self.conv1 = _Wrapped("conv", nn.Conv1d(channels, 2 * channels, kernel, padding=kernel // 2))

    def forward(self, x: Tensor) -> Tensor:
        return x + functional.glu(self.conv1(x), dim=1)


class _StyleAttention(nn.Module):
    """Self-attention of the style encoder: its temperature counts all channels, not one head's."""

    def __init__(self, channels: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.w_qs = nn.Linear(channels, channels)
        self.w_ks = nn.Linear(channels, channels)
        self.w_vs = nn.Linear(channels, channels)
        self.fc = nn.Linear(channels, channels)

    def forward(self, x: Tensor) -> Tensor:
        def split(made: Tensor) -> Tensor:
            return made.view(1, made.shape[1], self.heads, -1).transpose(1, 2)

        query, key, value = split(self.w_qs(x)), split(self.w_ks(x)), split(self.w_vs(x))
        mixed = functional.scaled_dot_product_attention(query, key, value, scale=1 / math.sqrt(x.shape[2]))
        return x + self.fc(mixed.transpose(1, 2).reshape(x.shape))


class StyleEncoder(nn.Module):
    """A recording's spectrogram to one vector of voice and manner (Meta-StyleSpeech, Min et al., 2021)."""

    def __init__(
        self, style: int, channels: int = 128, kernel: int = 5, heads: int = 2, bins: int = STYLE_BINS
    ) -> None:
        super().__init__()
        self.bins = bins
        self.spectral = nn.Sequential(
            _Wrapped("fc", nn.Linear(bins, channels)),
            nn.Mish(),
            nn.Identity(),
            _Wrapped("fc", nn.Linear(channels, channels)),
            nn.Mish(),
        )
        self.temporal = nn.Sequential(_GatedConvolution(channels, kernel), _GatedConvolution(channels, kernel))
        self.slf_attn = _StyleAttention(channels, heads)
        self.fc = _Wrapped("fc", nn.Linear(channels, style))

    def forward(self, spectrogram: Tensor) -> Tensor:
        """[1, bins or more, F] to [1, W, 1]."""
        frames = self.spectral(spectrogram[:, : self.bins].transpose(1, 2))
        frames = self.temporal(frames.transpose(1, 2)).transpose(1, 2)
        return self.fc(self.slf_attn(frames)).mean(dim=1)[:, :, None]


def folded_weight_norm(state: dict[str, Tensor], prefixes: Sequence[str] = ("",)) -> dict[str, Tensor]:
    """A state dict in which every `weight_g`, `weight_v` pair under the prefixes became one `weight`.

    Salimans and Kingma, 2016: the direction of v with the length g, for each slice of the first axis.
    """
    folded = dict(state)
    for name in state:
        if not name.endswith(".weight_g") or not name.startswith(tuple(prefixes)):
            continue
        stem = name.removesuffix("_g")
        gain, direction = folded.pop(name).float(), folded.pop(f"{stem}_v").float()
        length = direction.flatten(1).norm(dim=1).view(-1, *[1] * (direction.dim() - 1))
        folded[stem] = (direction * (gain / length)).to(state[name].dtype)
    return folded
