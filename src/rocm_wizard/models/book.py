"""`assets/models.toml`: what is known of each model file."""

import itertools
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from rocm_wizard.assets import asset

_BRACES = re.compile(r"\{([^}]*)\}")


@dataclass(frozen=True, slots=True)
class Layout:
    """Every tensor of a published network; `spare`: beginnings of names that may be absent."""

    shapes: Mapping[str, tuple[int, ...]]
    spare: tuple[str, ...]

    def needs(self, name: str) -> bool:
        """Whether a file without this tensor is not whole."""
        return not name.startswith(self.spare)

    def with_shape(self, name: str, shape: tuple[int, ...]) -> "Layout":
        """The same network with one tensor of another shape."""
        return Layout({**self.shapes, name: shape}, self.spare)


@cache
def load_book() -> Mapping[str, Any]:
    """The file as it is.

    Raises:
        OSError, ValueError: it is missing or no TOML.
    """
    with asset("models.toml").open("rb") as file:
        return tomllib.load(file)


@cache
def load_layout(name: str) -> Layout:
    """The layout `t2s`, `sovits_v3` or `bigvgan` (weight norm removed)."""
    section = load_book()["layout"]
    shapes: dict[str, tuple[int, ...]] = {}
    for line in section[name]["tensors"]:
        pattern, _, shape = line.partition(" ")
        axes = tuple(int(axis) for axis in shape.split("x"))
        shapes |= dict.fromkeys(spell_out(pattern), axes)
    return Layout(shapes, tuple(section["spare"]))


def spell_out(pattern: str) -> list[str]:
    """All names of a pattern: `{a..b}` counts from a to b, `{a,b}` is either."""
    parts = _BRACES.split(pattern)
    choices = [_choices(part) if at % 2 else [part] for at, part in enumerate(parts)]
    return ["".join(choice) for choice in itertools.product(*choices)]


def _choices(inside: str) -> list[str]:
    first, dots, last = inside.partition("..")
    return [str(number) for number in range(int(first), int(last) + 1)] if dots else inside.split(",")


def language_group(language: str) -> str | None:
    """`ja`, `en`, `zh` or `mixed` for any name of a language, None for one that is not known."""
    return next((group for group, names in load_book()["language"].items() if language in names), None)
