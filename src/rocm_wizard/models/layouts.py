"""Compares a file's tensors with the published network's."""

import re
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from rocm_wizard.models.book import Layout
from rocm_wizard.models.problem import Kind, Problem, shown
from rocm_wizard.models.tensors import Tensor, shape_text

_NAMED = 5
_ODD_SHARE = 0.1
"""Other shapes in fewer tensors than this are not a network of another size but a file gone wrong."""
_NUMBER = re.compile(r"\d+")


def compare_layout(path: Path, tensors: Mapping[str, Tensor], layout: Layout) -> list[Problem]:
    """No problem for the published network; one, not fatal, for a whole network of another size; else a fatal one."""
    missing = [name for name in layout.shapes if name not in tensors and layout.needs(name)]
    if missing and not _is_whole(tensors, layout):
        facts = {"count": len(missing), "total": len(layout.shapes), "tensors": missing[:_NAMED]}
        return [Problem(Kind.TENSORS_MISSING, path, facts)]
    other = [name for name, shape in layout.shapes.items() if name in tensors and tensors[name].shape != shape]
    if not missing and not other:
        return []
    first = other[0] if other else missing[0]
    found = shape_text(tensors[first].shape) if first in tensors else None
    facts = {"tensor": shown(first), "found": found, "needed": shape_text(layout.shapes[first]), "count": len(other)}
    if not missing and len(other) < _ODD_SHARE * len(layout.shapes):
        return [Problem(Kind.TENSOR_SHAPE, path, facts)]
    return [Problem(Kind.UNUSUAL_SIZE, path, {**facts, "missing": len(missing)}, fatal=False)]


def remove_weight_norm(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The names after weight norm is removed: `weight_g` and `weight_v` together become `weight`, shaped as v."""
    pairs = {name[:-2] for name in tensors if name.endswith("weight_v") and f"{name[:-1]}g" in tensors}
    plain = {
        name: tensor for name, tensor in tensors.items() if name[:-2] not in pairs or name[-2:] not in ("_g", "_v")
    }
    return plain | {name: tensors[f"{name}_v"] for name in pairs}


def count_layers(tensors: Mapping[str, Tensor], stem: str) -> int:
    """How many layers a stack has whose tensors begin with `stem` and a number."""
    found = {name.removeprefix(stem).partition(".")[0] for name in tensors if name.startswith(stem)}
    return len({number for number in found if number.isdecimal()})


def _is_whole(tensors: Mapping[str, Tensor], layout: Layout) -> bool:
    """Whether only whole layers at the end of a stack are missing."""
    wanted: dict[str, set[tuple[int, ...]]] = defaultdict(set)
    present: dict[str, set[tuple[int, ...]]] = defaultdict(set)
    for name in filter(layout.needs, layout.shapes):
        family, numbers = _NUMBER.sub("#", name), tuple(map(int, _NUMBER.findall(name)))
        wanted[family].add(numbers)
        if name in tensors:
            present[family].add(numbers)
    depths: dict[tuple[str, int], set[int]] = defaultdict(set)
    for family, all_numbers in wanted.items():
        here = present[family]
        if not here:
            return False
        bounds = tuple(map(max, zip(*here, strict=True)))
        if here != {numbers for numbers in all_numbers if all(map(int.__le__, numbers, bounds))}:
            return False
        if bounds:
            depths[family.partition("#")[0], max(numbers[0] for numbers in all_numbers)].add(bounds[0])
    return all(len(depth) == 1 for depth in depths.values())
