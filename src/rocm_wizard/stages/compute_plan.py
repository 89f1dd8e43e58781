"""What the compute step runs, from `assets/compute.toml`: operations, tolerances, deadlines, shared processes."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rocm_wizard.assets import asset

LEVELS = ("quick", "standard", "soak")


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation with a known answer.

    Attributes:
        id: step name, also the last part of its finding and measurement ids.
        function: the probe's name for the code; several operations may share one.
        tolerance: largest allowed absolute error; 0 means exact.
        seconds: deadline.
        child: operations of one name share a process.
        kinds: device kinds that run it, None for all.
        asked: runs only when asked for.
        may_lack: a device or build may do without it.
    """

    id: str
    function: str
    tolerance: float
    seconds: float
    child: str = "device"
    kinds: tuple[str, ...] | None = None
    asked: bool = False
    may_lack: bool = False
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def order(self, limit: float) -> dict[str, Any]:
        """The operation as the probe is asked for it, with at most `limit` seconds."""
        options = {name: _expanded(value) for name, value in self.options.items()} | {"tolerance": self.tolerance}
        return {"id": self.id, "function": self.function, "seconds": min(self.seconds, limit), "options": options}


@dataclass(frozen=True, slots=True)
class ComputePlan:
    """All operations and which of them a level runs."""

    operations: Mapping[str, Operation]
    levels: Mapping[str, tuple[str, ...]]

    def children(self, level: str, kind: str, asked: bool = False) -> list[tuple[str, list[Operation]]]:
        """The processes of a level on a device kind, in order, each with its operations.

        Raises:
            KeyError: there is no such level.
        """
        groups: dict[str, list[Operation]] = {}
        for name in self.levels[level]:
            operation = self.operations[name]
            if (operation.kinds is None or kind in operation.kinds) and (asked or not operation.asked):
                groups.setdefault(operation.child, []).append(operation)
        return list(groups.items())


def _expanded(value: Any) -> Any:
    """`{from = 33, to = 75}` written out; everything else as it is."""
    if isinstance(value, Mapping) and set(value) == {"from", "to"}:
        return list(range(value["from"], value["to"] + 1))
    return value


def load_plan(path: Path | None = None) -> ComputePlan:
    """Reads the file.

    Raises:
        OSError, ValueError, TypeError: it is missing or wrong; the message names the entry.
    """
    with (path or asset("compute.toml")).open("rb") as file:
        data = tomllib.load(file)
    operations: dict[str, Operation] = {}
    for entry in data["operation"]:
        values: dict[str, Any] = dict(entry) | ({"kinds": tuple(entry["kinds"])} if "kinds" in entry else {})
        try:
            operation = Operation(**values)
        except TypeError as error:
            raise TypeError(f"operation {entry.get('id', '?')!r}: {error}") from error
        if operation.id in operations:
            raise ValueError(f"two operations are called {operation.id!r}")
        operations[operation.id] = operation
    levels = {level: tuple(names) for level, names in data["levels"].items()}
    for level, names in levels.items():
        if unknown := [name for name in names if name not in operations]:
            raise ValueError(f"level {level!r} names unknown operations: {', '.join(unknown)}")
    if set(levels) != set(LEVELS):
        raise ValueError(f"the levels must be {', '.join(LEVELS)}")
    return ComputePlan(operations, levels)
