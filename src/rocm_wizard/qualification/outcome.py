"""The closed set of outcomes and the one rule by which findings become a stage's outcome."""

from collections.abc import Iterable
from enum import StrEnum


class Outcome(StrEnum):
    """How a check or a stage ended. "Could not check" is never "passed"."""

    PASSED = "passed"
    SKIPPED = "skipped"
    WARNING = "warning"
    BLOCKED = "blocked"
    CANCELLED = "cancelled"
    COULD_NOT_CHECK = "could_not_check"
    FAILED = "failed"
    CRASHED = "crashed"

    @property
    def opens_gate(self) -> bool:
        """Whether the next stage may run after a stage that ended like this."""
        return self in (Outcome.PASSED, Outcome.WARNING, Outcome.SKIPPED)


_WORST_FIRST = (
    Outcome.CRASHED,
    Outcome.FAILED,
    Outcome.COULD_NOT_CHECK,
    Outcome.CANCELLED,
    Outcome.BLOCKED,
    Outcome.WARNING,
)


def worst(outcomes: Iterable[Outcome]) -> Outcome:
    """A stage's outcome from its findings' outcomes.

    The worst one in the order crashed, failed, could not check, cancelled, blocked, warning. What is left is
    passed and skipped: all skipped is `skipped`, a mixture is a `warning` (something was left unchecked), all
    passed is `passed`. No finding at all proves nothing: `could_not_check`.
    """
    seen = set(outcomes)
    for outcome in _WORST_FIRST:
        if outcome in seen:
            return outcome
    if not seen:
        return Outcome.COULD_NOT_CHECK
    if seen == {Outcome.SKIPPED}:
        return Outcome.SKIPPED
    return Outcome.WARNING if Outcome.SKIPPED in seen else Outcome.PASSED
