"""The run in one sentence, computed from its findings."""

from rocm_wizard.qualification.exit_codes import ExitCode
from rocm_wizard.qualification.finding import Finding
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.state import RunState
from rocm_wizard.report.catalogue import Catalogue


def verdict_word(state: RunState) -> str:
    """The catalogue key of the verdict."""
    if state.finished_exit_code == ExitCode.INTERRUPTED:
        return "interrupted"
    if state.finished_exit_code is None:
        if state.current is not None:
            return "running"
        if state.verdict is ExitCode.INCOMPLETE:
            return "incomplete"
    code = state.verdict
    if code is not ExitCode.QUALIFIED:
        return code.name.lower()
    if all(stage.outcome is Outcome.PASSED for stage in state.judged):
        return "qualified"
    only_unchecked = _count(state, Outcome.SKIPPED) and not _count(state, Outcome.WARNING)
    return "qualified_unchecked" if only_unchecked else "qualified_warning"


def _count(state: RunState, outcome: Outcome) -> int:
    """How many findings that the verdict rests on have this outcome."""
    return sum(finding.outcome is outcome for stage in state.judged for finding in stage.findings)


def profile_id(state: RunState) -> str | None:
    """The profile that was tested, None before one was chosen."""
    for stage in state.stages:
        for finding in stage.findings:
            if finding.id.startswith("profile.chosen_"):
                return str(finding.facts.get("profile"))
    return None


def uses_embedded_engines(state: RunState) -> bool:
    """Whether any sidecar spoke or listened with the models that come with this program."""
    return any(
        finding.id == "sidecar.ready" and finding.facts.get("engine") == "embedded"
        for stage in state.stages
        for finding in stage.findings
    )


def first_bad_finding(state: RunState) -> tuple[str, Finding] | None:
    """The stage and finding that closed the gate: the worst one of the first stage that does not open it."""
    order = (Outcome.CRASHED, Outcome.FAILED, Outcome.COULD_NOT_CHECK, Outcome.CANCELLED)
    for stage in state.judged:
        if stage.outcome is None or stage.outcome.opens_gate:
            continue
        for outcome in order:
            for finding in stage.findings:
                if finding.outcome is outcome:
                    return stage.id, finding
    return None


def verdict_sentence(state: RunState, catalogue: Catalogue) -> str:
    """Verdict, profile, and in the same sentence what it rests on."""
    word = verdict_word(state)
    text = catalogue.format("verdict", word)
    profile = profile_id(state)
    if profile:
        text += catalogue.format("verdict", "for_profile", profile=profile)
    if word in ("qualified_warning", "qualified_unchecked"):
        left = {"warnings": _count(state, Outcome.WARNING), "unchecked": _count(state, Outcome.SKIPPED)}
        text += catalogue.format("verdict", "counts", **left)
    bad = first_bad_finding(state)
    if bad is not None and word in ("failed", "could_not_check", "incomplete"):
        text += catalogue.format("verdict", f"{word}_at", stage=catalogue.stage_title(bad[0]))
    if state.header is not None and state.header.partial:
        steps = ", ".join(catalogue.stage_title(stage.id) for stage in state.stages)
        text += catalogue.format("verdict", "partial", steps=steps)
    if uses_embedded_engines(state):
        text += catalogue.format("verdict", "embedded")
    text += catalogue.format("verdict", "stop")
    if state.header is not None and state.header.provenance != "live":
        text = f"{state.header.provenance.upper()}: {text}"
    return text
