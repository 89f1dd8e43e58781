"""Batch, instance and layer normalisation against their formulas.

BatchNorm and InstanceNorm go through MIOpen, which compiles kernels for them at run time (`HIPRTC_ERROR_COMPILATION`).
"""

from typing import Any

from .prepared import Options, Prepared, flat, normal

_EPSILON = 1e-5


def _normalised(wide: Any, over: tuple[int, ...]) -> Any:
    mean = wide.mean(over, keepdim=True)
    variance = ((wide - mean) ** 2).mean(over, keepdim=True)
    return (wide - mean) / (variance + _EPSILON).sqrt()


def batch_norm(torch: Any, _device: str, _options: Options) -> Prepared:
    """Batch normalisation, both with the batch's statistics and with stored ones."""
    batch = normal(torch, 41, 4, 16, 200) * 2 + 1
    weight, bias, mean = (normal(torch, seed, 16) for seed in (42, 43, 44))
    variance = normal(torch, 45, 16).abs() + 0.5

    def on_device(x: Any, w: Any, b: Any, m: Any, v: Any) -> Any:
        of_batch = torch.nn.functional.batch_norm(x, None, None, w, b, training=True, eps=_EPSILON)
        stored = torch.nn.functional.batch_norm(x, m, v, w, b, training=False, eps=_EPSILON)
        return flat(torch, [of_batch, stored])

    wide = batch.double()
    w, b, m, v = (values.double()[None, :, None] for values in (weight, bias, mean, variance))
    stored = (wide - m) / (v + _EPSILON).sqrt() * w + b
    return Prepared(
        [batch, weight, bias, mean, variance],
        on_device,
        flat(torch, [_normalised(wide, (0, 2)) * w + b, stored]),
    )


def instance_norm(torch: Any, _device: str, _options: Options) -> Prepared:
    """Instance normalisation: each channel of each item by itself."""
    batch = normal(torch, 46, 4, 16, 200) * 3 - 1
    weight, bias = normal(torch, 47, 16), normal(torch, 48, 16)
    instance = torch.nn.functional.instance_norm
    expected = _normalised(batch.double(), (2,)) * weight.double()[None, :, None] + bias.double()[None, :, None]
    return Prepared([batch, weight, bias], lambda x, w, b: instance(x, weight=w, bias=b, eps=_EPSILON), expected)


def layer_norm(torch: Any, _device: str, _options: Options) -> Prepared:
    """Layer normalisation over the last dimension."""
    batch = normal(torch, 51, 8, 33, 256) * 2 + 3
    weight, bias = normal(torch, 52, 256), normal(torch, 53, 256)
    layer = torch.nn.functional.layer_norm
    expected = _normalised(batch.double(), (2,)) * weight.double() + bias.double()
    return Prepared([batch, weight, bias], lambda x, w, b: layer(x, (256,), w, b, _EPSILON), expected)
