"""The process's exit codes: the same number whatever the output format."""

from collections.abc import Iterable
from enum import IntEnum

from rocm_wizard.qualification.outcome import Outcome


class ExitCode(IntEnum):
    """What `rocm-wizard` returns to its caller."""

    QUALIFIED = 0
    FAILED = 1
    USAGE = 2
    COULD_NOT_CHECK = 3
    INCOMPLETE = 4
    INTERNAL_ERROR = 5
    INTERRUPTED = 130


_SEVERITY = (
    ExitCode.INTERRUPTED,
    ExitCode.INTERNAL_ERROR,
    ExitCode.USAGE,
    ExitCode.FAILED,
    ExitCode.COULD_NOT_CHECK,
    ExitCode.INCOMPLETE,
    ExitCode.QUALIFIED,
)

_OF_OUTCOME = {
    Outcome.PASSED: ExitCode.QUALIFIED,
    Outcome.WARNING: ExitCode.QUALIFIED,
    Outcome.SKIPPED: ExitCode.QUALIFIED,
    Outcome.FAILED: ExitCode.FAILED,
    Outcome.CRASHED: ExitCode.FAILED,
    Outcome.COULD_NOT_CHECK: ExitCode.COULD_NOT_CHECK,
    Outcome.CANCELLED: ExitCode.INCOMPLETE,
    Outcome.BLOCKED: ExitCode.INCOMPLETE,
}


def exit_code(outcomes: Iterable[Outcome | None], *, internal_error: bool = False) -> ExitCode:
    """The exit code of a run from its stages' outcomes; None is a stage that did not run."""
    codes = {ExitCode.INCOMPLETE if outcome is None else _OF_OUTCOME[outcome] for outcome in outcomes}
    if internal_error:
        codes.add(ExitCode.INTERNAL_ERROR)
    if not codes:
        return ExitCode.INCOMPLETE
    return next(code for code in _SEVERITY if code in codes)
