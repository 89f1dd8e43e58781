"""What the version step looks at beside the profile's packages, from `assets/versions.toml`."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rocm_wizard.assets import asset


@dataclass(frozen=True, slots=True)
class Variable:
    """An environment variable and what it means when it is set; `finding` None: it is only listed."""

    name: str
    finding: str | None = None
    systems: tuple[str, ...] | None = None
    device_kinds: tuple[str, ...] | None = None
    contains: str = ""
    shown: bool = True

    def counts(self, value: str, system: str, device_kind: str) -> bool:
        """Whether a set value is worth a finding on this system for this kind of device."""
        fits_system = self.systems is None or system in self.systems
        fits_device = self.device_kinds is None or device_kind in self.device_kinds
        return self.finding is not None and fits_system and fits_device and self.contains in value


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

    variables: tuple[Variable, ...]
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
        tuple(Variable(**row) for row in rows("variable")),
        tuple(Module(**row) for row in rows("module")),
        tuple(Pin(**row) for row in rows("pin")),
    )
