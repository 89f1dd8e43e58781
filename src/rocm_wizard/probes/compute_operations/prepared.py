"""An operation that is ready to run, and the random inputs that all of them share."""

from collections.abc import Callable
from typing import Any, NamedTuple

type Options = dict[str, Any]


class Prepared(NamedTuple):
    """Inputs on the CPU, what to do with them on the device, and the known answer (float64, worked out on the CPU).

    `operation` gets the inputs as tensors on the device and returns one tensor there.
    """

    inputs: list[Any]
    operation: Callable[..., Any]
    expected: Any


class Unavailable(Exception):
    """This device or this build does not offer the operation at all; the message says in whose words."""


def normal(torch: Any, seed: int, *shape: int) -> Any:
    """Standard normal numbers, FP32, on the CPU: the same on every run."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def flat(torch: Any, parts: list[Any]) -> Any:
    """Several results as one vector."""
    return torch.cat([part.reshape(-1) for part in parts])
