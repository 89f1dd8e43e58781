"""A finding: what one check established, as typed facts. Its sentences are made by the language catalogue."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from rocm_wizard.qualification.clean import clean_text
from rocm_wizard.qualification.outcome import Outcome

type Fact = str | int | float | bool | list[str] | None
"""One typed value. Sizes are bytes, times seconds, rates hertz unless the name says otherwise."""


def as_fact(value: Any) -> Fact:
    """Any value, also one that a child sent, as a fact: strings cleaned, what JSON cannot hold as text."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, list | tuple):
        return [clean_text(str(item)) for item in value]
    return clean_text(str(value))


@dataclass(frozen=True, slots=True)
class Finding:
    """One established (or not establishable) point.

    Attributes:
        id: stable dotted name, e.g. `compute.child_crashed`; the key into the catalogue.
        outcome: how the check ended.
        facts: the evidence.
        private: names of facts that reports mask (paths, host and user names).
    """

    id: str
    outcome: Outcome
    facts: Mapping[str, Fact] = field(default_factory=lambda: MappingProxyType({}))
    private: frozenset[str] = frozenset()

    def to_record(self) -> dict[str, object]:
        """The finding as JSON values."""
        record: dict[str, object] = {"id": self.id, "outcome": str(self.outcome), "facts": dict(self.facts)}
        if self.private:
            record["private"] = sorted(self.private)
        return record

    @classmethod
    def from_record(cls, record: Mapping[str, object]) -> "Finding":
        """The finding a journal line holds.

        Raises:
            KeyError, ValueError, TypeError: the record is not a finding.
        """
        facts = record.get("facts", {})
        private = record.get("private", [])
        if not isinstance(facts, dict) or not isinstance(private, list):
            raise TypeError("facts or private of a finding have the wrong shape")
        return cls(str(record["id"]), Outcome(str(record["outcome"])), facts, frozenset(str(name) for name in private))
