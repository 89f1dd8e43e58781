"""AMD's two driver numbers and how they compare. The data: `assets/drivers.toml`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

_WDDM = re.compile(r"(\d+)\.(\d+)\.(\d+)(?:\.\d+)?")


class Age(StrEnum):
    """How a bound driver compares with the one that a release demands, best first."""

    AS_DOCUMENTED = "as_documented"
    NEWER = "newer"
    UNKNOWN = "unknown"
    OLDER = "older"

    @property
    def rank(self) -> int:
        """0 is best."""
        return list(Age).index(self)


@dataclass(frozen=True, slots=True)
class KnownDriver:
    """One AMD Software package and the Windows driver inside it."""

    adrenalin: str
    wddm: str
    branch: str
    source: str


def order_of(wddm: str | None) -> tuple[int, ...] | None:
    """What orders Windows drivers of one branch: the first three fields. The fourth differs by package."""
    match = _WDDM.fullmatch(wddm or "")
    return tuple(int(part) for part in match.groups()) if match else None


@dataclass(frozen=True, slots=True)
class DriverTable:
    """The known pairs. `branches`: GPU family to branch; a family without one is never judged."""

    drivers: tuple[KnownDriver, ...]
    branches: Mapping[str, str]

    def find(self, adrenalin: str | None, family: str | None) -> KnownDriver | None:
        """The driver inside a package, for a GPU of a family."""
        branch = self.branches.get(family or "")
        return next((one for one in self.drivers if (one.adrenalin, one.branch) == (adrenalin, branch)), None)

    def package_of(self, wddm: str | None, family: str | None) -> KnownDriver | None:
        """The package that a Windows driver came with."""
        order, branch = order_of(wddm), self.branches.get(family or "")
        same = (one for one in self.drivers if one.branch == branch and order_of(one.wddm) == order)
        return next(same, None) if order else None

    def age(self, demanded: str, wddm: str | None, family: str | None) -> Age:
        """How a bound driver compares with the demanded package, inside the family's branch."""
        wanted, bound = self.find(demanded, family), order_of(wddm)
        if wanted is None or bound is None:
            return Age.UNKNOWN
        order = order_of(wanted.wddm) or ()
        if bound == order:
            return Age.AS_DOCUMENTED
        return Age.NEWER if bound > order else Age.OLDER


def driver_table(data: Mapping[str, Any]) -> DriverTable:
    """The table from the file's content.

    Raises:
        KeyError, TypeError, ValueError: an entry is wrong.
    """
    drivers = tuple(KnownDriver(**entry) for entry in data["driver"])
    for one in drivers:
        if order_of(one.wddm) is None:
            raise ValueError(f"driver {one.adrenalin}: {one.wddm!r} is no Windows driver number")
    branches = {family: branch["id"] for branch in data["branch"] for family in branch["families"]}
    return DriverTable(drivers, branches)
