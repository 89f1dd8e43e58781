"""The host's voice keys as data (`assets/env_catalogue.toml` explains its own fields)."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any

type Readers = Mapping[str, Mapping[str, tuple[str, ...]]]
"""For each reader of a boolean the spellings that are `true` to him, or `false` where all others are true."""


class Weight(StrEnum):
    """What a problem means: the host breaks, somebody falls into a trap, or it is worth knowing."""

    BREAKS = "breaks"
    TRAP = "trap"
    NOTE = "note"


@dataclass(frozen=True)
class KeySpec:
    """One key. Fields that its type does not use are empty."""

    name: str
    type: str
    meaning: str
    source: str
    default: str = ""
    allowed: tuple[str, ...] = ()
    bad: str = "used"
    refused: str = "not_allowed"
    minimum: float | None = None
    maximum: float | None = None
    outside: str = "unusual"
    readers: Readers = field(default_factory=dict[str, Mapping[str, tuple[str, ...]]])
    path: str = ""
    suffixes: tuple[str, ...] = ()
    missing: str = "breaks"
    baseline: tuple[str, ...] = ()

    def truths(self, value: str) -> dict[str, bool]:
        """For each reader of a boolean whether `value` is true to him."""
        word = value.strip().casefold()
        return {
            reader: word in spellings["true"] if "true" in spellings else word not in spellings["false"]
            for reader, spellings in self.readers.items()
        }


@dataclass(frozen=True)
class Rule:
    """A combination of values worth a word; each condition is one table of the data file."""

    id: str
    weight: Weight
    when: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True)
class EnvCatalogue:
    """All keys that are known, and the rules between them."""

    keys: tuple[KeySpec, ...]
    rules: tuple[Rule, ...]
    families: tuple[str, ...]

    @cached_property
    def by_name(self) -> dict[str, KeySpec]:
        """Each key under its name."""
        return {spec.name: spec for spec in self.keys}


_TYPES = {"text", "choice", "boolean", "integer", "number", "integers", "names", "path"}
_CONDITIONS = {"key", "in", "not_in", "starts", "set", "is", "outside"}


def load_catalogue(path: Path) -> EnvCatalogue:
    """Reads the data file.

    Raises:
        OSError, ValueError, TypeError: it is missing or wrong; the message names the entry.
    """
    with path.open("rb") as file:
        data = tomllib.load(file)
    keys = tuple(_key(entry) for entry in data["key"])
    names = {spec.name for spec in keys}
    if len(names) != len(keys):
        raise ValueError("two entries have the same key")
    rules = tuple(_rule(entry, names) for entry in data["rule"])
    return EnvCatalogue(keys, rules, tuple(data["families"]))


def _key(entry: dict[str, Any]) -> KeySpec:
    values: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in entry.items()}
    values["readers"] = {
        reader: {kind: tuple(words) for kind, words in spellings.items()}
        for reader, spellings in entry.get("readers", {}).items()
    }
    try:
        spec = KeySpec(**values)
    except TypeError as error:
        raise TypeError(f"key {entry.get('name', '?')!r}: {error}") from error
    if spec.type not in _TYPES or (spec.type == "boolean") != bool(spec.readers):
        raise ValueError(f"key {spec.name!r}: type {spec.type!r} or its readers are wrong")
    return spec


def _rule(entry: dict[str, Any], names: set[str]) -> Rule:
    rule = Rule(entry["id"], Weight(entry["weight"]), tuple(entry["when"]))
    for condition in rule.when:
        if condition["key"] not in names or not set(condition) <= _CONDITIONS or len(condition) != 2:
            raise ValueError(f"rule {rule.id!r}: {condition} is no condition on a known key")
    return rule
