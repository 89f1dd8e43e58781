"""What the version step looks at beside the profile's packages, from `assets/versions.toml`."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rocm_wizard.assets import asset


@dataclass(frozen=True, slots=True)
class Module:
    """A package that is imported after torch."""

    name: str
    device_kinds: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Pin:
    """In a checkout: `package` of `package_version` works with exactly `version` of `needs`."""

    package: str
    package_version: str
    needs: str
    version: str


@dataclass(frozen=True, slots=True)
class VersionRules:
    """The file."""

    modules: tuple[Module, ...]
    pins: tuple[Pin, ...]


def load_rules(path: Path | None = None) -> VersionRules:
    """Reads the file.

    Raises:
        OSError, ValueError, TypeError: it is missing or wrong.
    """
    with (path or asset("versions.toml")).open("rb") as file:
        data = tomllib.load(file)

    def rows(name: str) -> list[dict[str, Any]]:
        return [
            {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}
            for row in data.get(name, [])
        ]

    return VersionRules(
        tuple(Module(**row) for row in rows("module")),
        tuple(Pin(**row) for row in rows("pin")),
    )
