"""What a bench child sent: measurements by id, what was not available, and the advice that follows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from rocm_wizard.qualification.finding import Finding
from rocm_wizard.stages.speed_advice import (
    Pace,
    Vocoder,
    advise_blocks,
    advise_bucket,
    advise_concurrency,
    advise_graph,
    advise_steps,
)


@dataclass(frozen=True, slots=True)
class Measured:
    """One quantity: the first time (None: it has no first time of its own) and the warm repetitions."""

    id: str
    unit: str
    cold: float | None
    warm: Sequence[float]
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def value(self) -> float | None:
        """The warm median, else the cold value."""
        return median(self.warm) if self.warm else self.cold


@dataclass(slots=True)
class Results:
    """All of it, in the order of arrival."""

    started: Mapping[str, Any] = field(default_factory=dict[str, Any])
    measured: dict[str, Measured] = field(default_factory=dict[str, Measured])
    missing: dict[str, str] = field(default_factory=dict[str, str])
    part: str = "start"
    done: bool = False

    def take(self, message: Mapping[str, Any]) -> Measured | None:
        """Takes a message; a measurement is handed back for whoever tells it.

        Raises:
            KeyError, TypeError, ValueError: a known message without what belongs to it.
        """
        kind = message["type"]
        if kind == "started":
            self.started = {name: value for name, value in message.items() if name != "type"}
        elif kind == "begin":
            self.part = str(message["part"])
        elif kind == "not_available":
            self.missing[str(message["id"])] = str(message["reason"])
        elif kind == "done":
            self.done = True
        elif kind == "measurement":
            facts = {name: message[name] for name in message if name not in _FIELDS}
            cold = message["cold"]
            warm = [float(value) for value in message["warm"]]
            one = Measured(str(message["id"]), str(message["unit"]), None if cold is None else float(cold), warm, facts)
            self.measured[one.id] = one
            return one
        return None

    def advice(self) -> list[Finding]:
        """A recommendation for every setting that was measured both ways."""
        found = [self._blocks(), self._steps(), self._bucket(), self._graph(), self._concurrency()]
        return [finding for finding in found if finding is not None]

    def _value(self, id: str) -> float | None:
        one = self.measured.get(id)
        return None if one is None else one.value

    def _pace(self, name: str) -> Pace | None:
        first, factor = self._value(f"first_audio_{name}"), self._value(f"real_time_factor_{name}")
        return None if first is None or factor is None else Pace(first, factor)

    def _blocks(self) -> Finding | None:
        short, long = self._pace("short_16"), self._pace("long_16")
        return None if short is None or long is None else advise_blocks(short, long)

    def _steps(self) -> Finding | None:
        few, many = self._pace("long_16"), self._pace("long_32")
        return None if few is None or many is None else advise_steps(few, many)

    def _bucket(self) -> Finding | None:
        on, off = self._vocoder("bigvgan_bucket_"), self._vocoder("bigvgan_", but=("bucket", "80"))
        return None if on is None or off is None else advise_bucket(on, off)

    def _vocoder(self, prefix: str, but: Sequence[str] = ()) -> Vocoder | None:
        rows = [
            one
            for id, one in self.measured.items()
            if id.startswith(prefix) and not id.removeprefix(prefix).startswith(tuple(but))
        ]
        extra = [one.cold - median(one.warm) for one in rows if one.cold is not None and one.warm]
        return Vocoder(max(extra), median(value for one in rows for value in one.warm)) if extra else None

    def _graph(self) -> Finding | None:
        plain, graph = self._value("t2s_speed"), self._value("t2s_speed_graph")
        if not plain or graph is None:
            return None
        return advise_graph(plain, graph, equal=self.measured["t2s_speed_graph"].facts.get("equal") is True)

    def _concurrency(self) -> Finding | None:
        one, two = self._value("throughput_1"), self._value("throughput_2")
        if not one or two is None:
            return None
        return advise_concurrency(one, two, equal=self.measured["throughput_2"].facts.get("equal") is True)


_FIELDS = ("type", "id", "unit", "cold", "warm")
