"""What a header says of a tensor."""

import math
from dataclasses import dataclass

ITEM_BITS = {
    "float64": 64,
    "float32": 32,
    "float16": 16,
    "bfloat16": 16,
    "float8_e4m3fn": 8,
    "float8_e5m2": 8,
    "float8_e4m3fnuz": 8,
    "float8_e5m2fnuz": 8,
    "float8_e8m0fnu": 8,
    "float6_e2m3": 6,
    "float6_e3m2": 6,
    "float4_e2m1fn_x2": 4,
    "int64": 64,
    "int32": 32,
    "int16": 16,
    "int8": 8,
    "uint64": 64,
    "uint32": 32,
    "uint16": 16,
    "uint8": 8,
    "bool": 8,
    "complex64": 64,
    "complex128": 128,
}
"""Bits an element takes, by torch's name of the type."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """Type (torch's name) and shape."""

    dtype: str
    shape: tuple[int, ...]

    @property
    def elements(self) -> int:
        """How many numbers it holds."""
        return math.prod(self.shape)


def shape_text(shape: tuple[int, ...]) -> str:
    """`(3, 4)` as `3×4`; the shape of a single number is `()`."""
    return "×".join(map(str, shape)) or "()"
