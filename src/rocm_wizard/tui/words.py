"""Signs, colours and short words for states, times and numbers: the vocabulary that every pane shares."""

from collections.abc import Mapping
from typing import Any

from rocm_wizard.qualification.exit_codes import ExitCode
from rocm_wizard.qualification.finding import Finding
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.state import CheckState, RunState, StageState
from rocm_wizard.report import verdict
from rocm_wizard.report.catalogue import Catalogue
from rocm_wizard.report.next_command import next_command
from rocm_wizard.report.verdict import verdict_word

# One cell wide, in the basic plane, and none that a terminal may draw as a picture.
_GLYPHS = {
    "passed": "✓",
    "skipped": "–",
    "warning": "!",
    "blocked": "⊖",
    "cancelled": "⊘",
    "could_not_check": "?",
    "failed": "✗",
    "crashed": "✘",
    "running": "►",
    "waiting": "·",
    "no_result": "–",
}
_ASCII_GLYPHS = {
    "passed": "+",
    "skipped": "-",
    "warning": "!",
    "blocked": "=",
    "cancelled": "/",
    "could_not_check": "?",
    "failed": "x",
    "crashed": "X",
    "running": ">",
    "waiting": ".",
    "no_result": "-",
}
_STYLES = {
    "passed": "$success",
    "skipped": "$muted",
    "warning": "$warning",
    "blocked": "$muted",
    "cancelled": "$warning",
    "could_not_check": "$warning",
    "failed": "$error",
    "crashed": "$error",
    "running": "$accent",
    "waiting": "$muted",
    "no_result": "$muted",
}
_VERDICT_STATES = {
    "qualified": "passed",
    "qualified_warning": "warning",
    "qualified_unchecked": "warning",
    "failed": "failed",
    "could_not_check": "could_not_check",
    "internal_error": "crashed",
}

type State = str
"""An outcome's value, or `running`, `waiting`, `no_result`."""


def stage_state(stage: StageState) -> State:
    """The state a step is shown in."""
    if stage.outcome is not None:
        return str(stage.outcome)
    return "running" if stage.running else "waiting"


def check_state(check: CheckState, stage: StageState) -> State:
    """The state a check is shown in; one that its ended step left without a finding has no result."""
    if check.finding is not None:
        return str(check.finding.outcome)
    return "running" if stage.running else "no_result"


def first_bad_stage(run: RunState) -> StageState | None:
    """The step that closed the gate."""
    for stage in run.stages:
        if stage.outcome is not None and not stage.outcome.opens_gate and stage.outcome is not Outcome.BLOCKED:
            return stage
    return None


def worst_check(stage: StageState) -> int | None:
    """Index of the check whose finding gave the step its outcome; None while there is no finding."""
    done = [(index, check.finding) for index, check in enumerate(stage.checks) if check.finding is not None]
    # A warning may rest on something skipped alone.
    for wanted in (stage.outcome, Outcome.SKIPPED):
        for index, finding in done:
            if finding.outcome is wanted and wanted is not Outcome.PASSED:
                return index
    return done[-1][0] if done else None


def first_bad_finding(run: RunState) -> Finding | None:
    """The finding that the person has to deal with first."""
    bad = verdict.first_bad_finding(run)
    return bad[1] if bad is not None else None


class Words:
    """The catalogue with the signs of the screen."""

    def __init__(self, catalogue: Catalogue, *, ascii_only: bool = False) -> None:
        self.catalogue = catalogue
        self.ascii_only = ascii_only
        self._glyphs = _ASCII_GLYPHS if ascii_only else _GLYPHS

    def ui(self, key: str, **facts: Any) -> str:
        """A string of the faces."""
        return self.catalogue.ui(key, **facts)

    def glyph(self, state: State) -> str:
        """The state's sign: one cell."""
        return self._glyphs[state]

    def style(self, state: State) -> str:
        """The state's colour, as a theme variable."""
        return _STYLES[state]

    def word(self, state: State) -> str:
        """The state's word."""
        return self.ui("no_result") if state == "no_result" else self.catalogue.format("outcome", state)

    def verdict(self, run: RunState, code: int | None) -> tuple[State, str, str]:
        """The verdict's state, its key below `verdict`, and its short words; `code` None: the run goes on."""
        if code is None:
            return "running", "running", self.catalogue.format("verdict", "running")
        key = "internal_error" if code == ExitCode.INTERNAL_ERROR else verdict_word(run)
        return _VERDICT_STATES.get(key, "cancelled"), key, self.catalogue.format("verdict", key)

    def command(self, run: RunState, finding: Finding) -> str | None:
        """The exact command to type next, for what this run tests."""
        target = run.header.target if run.header is not None else {}
        return next_command(self.catalogue.action(finding), target)

    def clock(self, seconds: float) -> str:
        """Elapsed time as minutes and seconds."""
        minutes, rest = divmod(int(seconds), 60)
        hours, minutes = divmod(minutes, 60)
        return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"

    def duration(self, seconds: float | None) -> str:
        """A measured duration, three digits at most."""
        if seconds is None:
            return ""
        if seconds < 1:
            return f"{seconds * 1000:.0f} ms"
        if seconds < 100:
            return f"{seconds:.1f} s"
        return self.clock(seconds)

    def quantity(self, value: float, unit: str) -> str:
        """A number with its unit; seconds and bytes in the size that reads best."""
        if unit == "s":
            return self.duration(value)
        if unit == "B":
            for name, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
                if abs(value) >= size:
                    return f"{value / size:.1f} {name}"
        return f"{value:.4g} {unit}".rstrip()

    def fact(self, value: object) -> str:
        """A fact's value as words."""
        if value is None:
            return self.ui("word_unknown")
        if isinstance(value, bool):
            return self.ui("word_yes" if value else "word_no")
        if isinstance(value, list):
            return ", ".join(str(item) for item in value)
        return f"{value:.6g}" if isinstance(value, float) else str(value)


def fact_of(run: RunState, names: tuple[str, ...], stages: tuple[str, ...]) -> str | None:
    """The first of these facts that the run's header or the findings of these stages know."""
    target: Mapping[str, Any] = run.header.target if run.header is not None else {}
    for name in names:
        if isinstance(target.get(name), str):
            return str(target[name])
    for stage in run.stages:
        if stage.id not in stages:
            continue
        for finding in reversed(stage.findings):
            for name in names:
                if isinstance(finding.facts.get(name), str):
                    return str(finding.facts[name])
    return None
