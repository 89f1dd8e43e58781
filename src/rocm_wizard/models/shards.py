"""A model's safetensors weights: one file, or shards with an index that has to agree with them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rocm_wizard.models.plain import read_json
from rocm_wizard.models.problem import Kind, Problem, Refused, shown
from rocm_wizard.models.safetensors import SafetensorsFile, read_safetensors
from rocm_wizard.models.tensors import Tensor

SINGLE = "model.safetensors"
INDEX = "model.safetensors.index.json"
_NAMED = 5
_MOST_SHARDS = 1000


@dataclass(frozen=True, slots=True)
class Weights:
    """All tensors of a model folder; `size` in bytes over `files`."""

    files: tuple[Path, ...]
    size: int
    tensors: Mapping[str, Tensor]


def read_weights(folder: Path) -> tuple[Weights | None, list[Problem]]:
    """The folder's weights, and every problem of its files. None where there are none that can be read.

    With both a single file and an index the single file counts, as `transformers` decides.
    """
    if (folder / SINGLE).exists() or not (folder / INDEX).exists():
        try:
            found = read_safetensors(folder / SINGLE)
        except Refused as refused:
            return None, [refused.problem]
        return Weights((found.path,), found.size, found.tensors), []
    try:
        placed = _weight_map(folder / INDEX, read_json(folder / INDEX))
    except Refused as refused:
        return None, [refused.problem]
    return _read_shards(folder, placed)


def _weight_map(path: Path, index: dict[str, Any]) -> dict[str, str]:
    placed = index.get("weight_map")
    if not isinstance(placed, dict) or not placed:
        raise Refused(Kind.INDEX_BROKEN, path, detail="no weight_map")
    for tensor, shard in placed.items():
        # A shard is a neighbour: no folder part, on Windows neither.
        if not isinstance(shard, str) or not shard.endswith(".safetensors") or {"/", "\\", ":"} & set(shard):
            raise Refused(Kind.INDEX_BROKEN, path, detail=f"{shown(tensor)}: {shown(shard)}")
    if len(set(placed.values())) > _MOST_SHARDS:
        raise Refused(Kind.INDEX_BROKEN, path, detail=f"{len(set(placed.values()))} shards")
    return placed


def _read_shards(folder: Path, placed: dict[str, str]) -> tuple[Weights | None, list[Problem]]:
    problems: list[Problem] = []
    shards: list[SafetensorsFile] = []
    for name in sorted(set(placed.values())):
        try:
            shard = read_safetensors(folder / name)
        except Refused as refused:
            missing = refused.problem.kind is Kind.MISSING
            facts = {"index": INDEX, "tensors": sum(1 for at in placed.values() if at == name)}
            problems.append(Problem(Kind.SHARD_MISSING, folder / name, facts) if missing else refused.problem)
            continue
        shards.append(shard)
        problems += _compare(shard, {tensor for tensor, at in placed.items() if at == name})
    if any(problem.fatal for problem in problems):
        return None, problems
    tensors = {name: tensor for shard in shards for name, tensor in shard.tensors.items()}
    return Weights(tuple(shard.path for shard in shards), sum(shard.size for shard in shards), tensors), problems


def _compare(shard: SafetensorsFile, listed: set[str]) -> list[Problem]:
    problems: list[Problem] = []
    for kind, names in (
        (Kind.SHARD_TENSOR, sorted(listed - set(shard.tensors))),
        (Kind.SHARD_UNLISTED, sorted(set(shard.tensors) - listed)),
    ):
        if names:
            facts = {"count": len(names), "tensors": [shown(name) for name in names[:_NAMED]]}
            problems.append(Problem(kind, shard.path, facts, fatal=kind is Kind.SHARD_TENSOR))
    return problems
