"""The frozen pseudo-weights and inputs of the shared golden numbers, by the rules of its README."""

import json
import zlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
from torch import Tensor

SHARED = Path(__file__).parents[4] / "shared" / "gpt_sovits_v3"

needs_golden = pytest.mark.skipif(not (SHARED / "golden.npz").is_file(), reason="the shared golden numbers are absent")


@cache
def manifest() -> Mapping[str, Mapping[str, tuple[list[int], str]]]:
    """Each network's names with shape and dtype."""
    return json.loads((SHARED / "state_dict_manifest.json").read_text(encoding="utf-8"))


def names_of(network: str) -> Mapping[str, tuple[list[int], str]]:
    """The names of the one network whose title begins so."""
    (found,) = [names for title, names in manifest().items() if title.startswith(network)]
    return found


@cache
def golden() -> Mapping[str, npt.NDArray[Any]]:
    """The reference's outputs and inputs."""
    with np.load(SHARED / "golden.npz", allow_pickle=False) as file:
        return dict(file)


def expected(key: str) -> Tensor:
    """An output of the reference."""
    return torch.from_numpy(golden()[key])


def _normal(seed: str, shape: list[int] | tuple[int, ...]) -> npt.NDArray[np.float64]:
    count = int(np.prod(shape))
    return np.random.RandomState(zlib.crc32(seed.encode())).standard_normal(count).reshape(shape)


def pseudo_weight(name: str, shape: list[int], *, halved: bool = False) -> Tensor:
    """The weight of a name."""
    z = _normal(name, shape)
    if name.endswith(".inited"):
        value = np.ones(shape)
    elif len(shape) >= 2:
        # The filters are buffers, not parameters: they keep their size.
        value = z / np.sqrt(np.prod(shape[1:])) / (2 if halved and not name.endswith(".filter") else 1)
    else:
        value = 1 + 0.1 * z if name.endswith("weight") else 0.1 * z
    return torch.from_numpy(value.astype(np.float32))


def pseudo_state(network: str, *, halved: bool = False) -> dict[str, Tensor]:
    """All weights of a network under the manifest's names."""
    return {name: pseudo_weight(name, shape, halved=halved) for name, (shape, _) in names_of(network).items()}


def pseudo_input(key: str, *shape: int) -> Tensor:
    """A real input."""
    return torch.from_numpy(_normal(f"input:{key}", shape).astype(np.float32))


def pseudo_ids(key: str, below: int, count: int) -> Tensor:
    """An integer input, [1, count]."""
    made = np.random.RandomState(zlib.crc32(f"input:{key}".encode())).randint(0, below, size=count)
    return torch.from_numpy(made.astype(np.int64))[None]
