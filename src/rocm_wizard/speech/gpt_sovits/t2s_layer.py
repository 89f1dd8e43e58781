"""One layer of the T2S decoder, as a function over its weights.

A token costs a few microseconds of arithmetic on a GPU in each of some 300 operations, so the calls around them count:
the weights are looked up once for a sentence, and no submodule is called.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional


class LayerWeights(NamedTuple):
    """References to a layer's parameters."""

    qkv: Tensor
    qkv_bias: Tensor
    out: Tensor
    out_bias: Tensor
    norm_1: Tensor
    norm_1_bias: Tensor
    enter: Tensor
    enter_bias: Tensor
    leave: Tensor
    leave_bias: Tensor
    norm_2: Tensor
    norm_2_bias: Tensor


class _Attention(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.in_proj_weight = nn.Parameter(torch.randn(3 * width, width) * width**-0.5)
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * width))
        self.out_proj = nn.Linear(width, width)


class DecoderLayer(nn.Module):
    """Holds the parameters of post-norm attention and feed-forward."""

    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.self_attn = _Attention(width)
        self.linear1 = nn.Linear(width, inner)
        self.linear2 = nn.Linear(inner, width)
        self.norm1 = nn.LayerNorm(width)
        self.norm2 = nn.LayerNorm(width)

    def weights(self) -> LayerWeights:
        """The parameters in the order of their use."""
        attention = self.self_attn
        return LayerWeights(
            attention.in_proj_weight,
            attention.in_proj_bias,
            attention.out_proj.weight,
            attention.out_proj.bias,
            self.norm1.weight,
            self.norm1.bias,
            self.linear1.weight,
            self.linear1.bias,
            self.linear2.weight,
            self.linear2.bias,
            self.norm2.weight,
            self.norm2.bias,
        )


def apply_layer(x: Tensor, weights: LayerWeights, cache: Tensor, at: int | Tensor, mask: Tensor | None) -> Tensor:
    """New positions [n, W] to the same.

    Args:
        x: [n, W].
        weights: the layer's.
        cache: [2, heads, L, d]; the keys and values of `x` are written into it.
        at: where `x` begins; only what comes before its end is attended to. As a tensor [n]: the positions of `x`;
            the whole cache is attended to, as far as the mask says.
        mask: true where attention is allowed; None: everywhere.
    """
    qkv, qkv_bias, out, out_bias, norm_1, norm_1_bias, enter, enter_bias, leave, leave_bias, norm_2, norm_2_bias = (
        weights
    )
    count, width = x.shape
    fused = functional.linear(x, qkv, qkv_bias).view(count, 3, cache.shape[1], -1).permute(1, 2, 0, 3)
    if isinstance(at, Tensor):
        cache.index_copy_(2, at, fused[1:])
        known = cache
    else:
        known = cache[:, :, : at + count]
        known[:, :, at:] = fused[1:]
    # Four axes: with three, torch takes its slow general attention on the CPU.
    key, value = known[:, None].unbind()
    mixed = functional.scaled_dot_product_attention(fused[:1], key, value, attn_mask=mask)
    mixed = functional.linear(mixed.transpose(1, 2).reshape(count, width), out, out_bias)
    x = functional.layer_norm(mixed.add_(x), (width,), norm_1, norm_1_bias)
    fed = functional.linear(functional.linear(x, enter, enter_bias).relu_(), leave, leave_bias)
    return functional.layer_norm(fed.add_(x), (width,), norm_2, norm_2_bias)
