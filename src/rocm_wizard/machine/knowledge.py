"""What is known beside the profiles: GPUs, drivers, limits and variables, all of it data in `assets/`."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

from rocm_wizard.assets import assets_root
from rocm_wizard.machine.drivers import DriverTable, driver_table
from rocm_wizard.machine.matrix import GpuMatrix, gpu_matrix

MIB = 2**20


@dataclass(frozen=True, slots=True)
class Limits:
    """`machine.toml`. Sizes are bytes."""

    memory: int
    commit: int
    disk: int
    sync_disk: int
    vc_runtime: str
    max_path: int
    longest_inside: int


@dataclass(frozen=True, slots=True)
class VariableRule:
    """One entry of `variables.toml`: `kind` is the finding, `shown` whether the value may be recorded."""

    names: tuple[str, ...]
    kind: str
    matches: str = ""
    shown: bool = True

    def fits(self, name: str, value: str) -> bool:
        """Whether the rule is about this variable with this value."""
        named = any(fnmatchcase(name.upper(), pattern) for pattern in self.names)
        return named and re.search(self.matches, value, re.IGNORECASE) is not None


@dataclass(frozen=True, slots=True)
class Variables:
    """The rules; the first that fits counts."""

    rules: tuple[VariableRule, ...]

    def patterns(self, *, shown: bool) -> list[str]:
        """The names to record with their value, or without it."""
        return [name for rule in self.rules if rule.shown == shown for name in rule.names]

    def by_kind(self, environment: Mapping[str, str]) -> dict[str, list[str]]:
        """The names that are set, by kind."""
        found: dict[str, list[str]] = {}
        for name, value in environment.items():
            rule = next((rule for rule in self.rules if rule.fits(name, value)), None)
            if rule is not None and value:
                found.setdefault(rule.kind, []).append(name)
        return found


@dataclass(frozen=True, slots=True)
class Knowledge:
    """Everything that a new release changes, in one place."""

    matrix: GpuMatrix
    drivers: DriverTable
    limits: Limits
    variables: Variables


@cache
def load_knowledge(folder: Path | None = None) -> Knowledge:
    """Reads the data files of a folder, by default `assets/`.

    Raises:
        OSError, ValueError, KeyError, TypeError: a file is missing or wrong.
    """

    def load(name: str) -> dict[str, Any]:
        with ((folder or assets_root()) / name).open("rb") as file:
            return tomllib.load(file)

    machine = load("machine.toml")
    limits, paths = machine["limits"], machine["paths"]
    rules = [
        VariableRule(tuple(entry["names"]), entry["kind"], entry.get("matches", ""), entry.get("value", True))
        for entry in load("variables.toml")["variable"]
    ]
    return Knowledge(
        gpu_matrix(load("gpu_matrix.toml")),
        driver_table(load("drivers.toml")),
        Limits(
            memory=limits["memory_mib"] * MIB,
            commit=limits["commit_mib"] * MIB,
            disk=limits["disk_mib"] * MIB,
            sync_disk=limits["sync_disk_mib"] * MIB,
            vc_runtime=machine["vc_runtime"]["minimum"],
            max_path=paths["max_path"],
            longest_inside=paths["longest_inside"],
        ),
        Variables(tuple(rules)),
    )
