"""The quantiser: HuBERT features to one of 1024 codes a frame, and back."""

import torch
from torch import Tensor, nn


class _Codebook(nn.Module):
    """Entries, and what training kept beside them (only so that checkpoints load whole)."""

    def __init__(self, entries: int, width: int) -> None:
        super().__init__()
        self.register_buffer("inited", torch.ones(1))
        self.register_buffer("cluster_size", torch.zeros(entries))
        self.register_buffer("embed", torch.randn(entries, width))
        self.register_buffer("embed_avg", torch.zeros(entries, width))
        self.embed: Tensor


class _Layer(nn.Module):
    def __init__(self, entries: int, width: int) -> None:
        super().__init__()
        self._codebook = _Codebook(entries, width)


class _Layers(nn.Module):
    def __init__(self, entries: int, width: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList((_Layer(entries, width),))


class Quantiser(nn.Module):
    """One codebook; the nearest entry by Euclidean distance."""

    def __init__(self, entries: int, width: int) -> None:
        super().__init__()
        self.vq = _Layers(entries, width)

    @property
    def entries(self) -> Tensor:
        """[entries, width]."""
        layer = self.vq.layers[0]
        assert isinstance(layer, _Layer)
        return layer._codebook.embed

    def codes(self, features: Tensor) -> Tensor:
        """[1, width, T] to [1, T] int64."""
        frames = features[0].T.float()
        entries = self.entries.float()
        distance = frames.square().sum(1, keepdim=True) - 2 * frames @ entries.T + entries.square().sum(1)
        return distance.argmin(dim=1)[None]

    def features(self, codes: Tensor) -> Tensor:
        """[1, T] to [1, width, T]."""
        return self.entries[codes[0]].T[None]
