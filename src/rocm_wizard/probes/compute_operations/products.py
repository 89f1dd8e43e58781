"""Matrix products."""

from typing import Any

from .prepared import Options, Prepared, normal


def product_of_ones(torch: Any, _device: str, _options: Options) -> Prepared:
    """256 x 256 ones times ones: every element is exactly 256."""
    ones = torch.ones(256, 256)
    return Prepared([ones], lambda on_device: on_device @ on_device, torch.full((256, 256), 256.0).double())


def product(torch: Any, _device: str, options: Options) -> Prepared:
    """`rows` x `inner` by `inner` x `columns` in `dtype`, scaled so that results have unit variance.

    The reference multiplies the rounded inputs in float64, so only the device's own rounding is left as error.
    """
    rows, inner, columns = options["shape"]
    dtype = getattr(torch, options["dtype"])
    left = (normal(torch, 11, rows, inner) * inner**-0.5).to(dtype)
    right = normal(torch, 12, inner, columns).to(dtype)
    return Prepared([left, right], lambda a, b: a @ b, left.double() @ right.double())
