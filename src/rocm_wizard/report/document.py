"""The report's content as plain values: what the Markdown, HTML and JSON files are made from."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from rocm_wizard.qualification.finding import Finding
from rocm_wizard.qualification.journal import Problem
from rocm_wizard.qualification.state import RunState, StageState
from rocm_wizard.report.catalogue import Catalogue
from rocm_wizard.report.explain import issue_record
from rocm_wizard.report.known_issues import machine_facts, match_issues
from rocm_wizard.report.next_command import next_command
from rocm_wizard.report.redact import Mask
from rocm_wizard.report.verdict import first_bad_finding, profile_id, verdict_sentence, verdict_word

SCHEMA = "rocm-wizard/report@1"
_PROBLEMS_TOLD = 10
_ISSUES_SHOWN = 3


def what_is_missing(state: RunState, problems: Iterable[Problem], catalogue: Catalogue) -> list[str]:
    """Sentences about what a journal does not tell, empty for a whole one."""
    found = list(problems)
    lines = [catalogue.format("missing", p.kind, line=p.line, detail=p.detail) for p in found[:_PROBLEMS_TOLD]]
    if len(found) > _PROBLEMS_TOLD:
        lines.append(catalogue.format("missing", "more", count=len(found) - _PROBLEMS_TOLD))
    if state.finished_exit_code is None and state.header is not None:
        open_stage = next((stage for stage in state.stages if stage.outcome is None), None)
        if open_stage is None:
            lines.append(catalogue.format("missing", "not_closed"))
        else:
            title = catalogue.stage_title(open_stage.id)
            lines.append(catalogue.format("missing", "not_finished", stage=title))
    return lines


def build_report(state: RunState, catalogue: Catalogue, mask: Mask, missing: Sequence[str] = ()) -> dict[str, Any]:
    """The whole report, masked, in the catalogue's language."""
    header = state.header
    bad = first_bad_finding(state)
    machine = machine_facts(state)
    target = mask.value(header.target) if header else {}
    told = partial(_finding, catalogue=catalogue, mask=mask, machine=machine, target=target)
    return {
        "schema": SCHEMA,
        "tool_version": header.tool_version if header else None,
        "provenance": header.provenance if header else None,
        "started": state.started_wall or None,
        "seconds": round(state.seconds, 3),
        "language": catalogue.language,
        "verdict": verdict_word(state),
        "exit_code": state.finished_exit_code if state.finished_exit_code is not None else int(state.verdict),
        "sentence": verdict_sentence(state, catalogue),
        "why": told(bad[1]) if bad else None,
        "does_not_prove": catalogue.format("proves_not", "text"),
        "profile": profile_id(state),
        "machine": mask.value(header.machine) if header else {},
        "target": target,
        "stages": [_stage(stage, catalogue, told) for stage in state.stages],
        "answers": [
            mask.value({"question": a.question, "answer": a.answer, "by": a.answered_by}) for a in state.answers
        ],
        "unknown_events": state.unknown_events,
        "missing": list(missing),
    }


def _stage(stage: StageState, catalogue: Catalogue, told: Callable[[Finding], dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": stage.id,
        "title": catalogue.stage_title(stage.id),
        "outcome": str(stage.outcome) if stage.outcome else None,
        "outcome_word": catalogue.outcome(stage.outcome) if stage.outcome else catalogue.format("report", "not_run"),
        "seconds": None if stage.seconds is None else round(stage.seconds, 3),
        "attempt": stage.attempt,
        "blocked_by": stage.blocked_by,
        "findings": [
            {"check": check.id, "check_title": catalogue.check_title(check.id), "seconds": check.seconds}
            | told(check.finding)
            for check in stage.checks
            if check.finding is not None
        ],
        "measurements": [
            {
                "id": m.id,
                "name": catalogue.measurement(m.id),
                "value": m.value,
                "unit": m.unit,
                "sample": m.sample,
                "phase": m.phase,
            }
            for m in stage.measurements
        ],
    }


def _finding(
    finding: Finding, catalogue: Catalogue, mask: Mask, machine: Mapping[str, Any], target: Mapping[str, Any]
) -> dict[str, Any]:
    shown = mask.finding(finding)
    known = match_issues(finding, machine)[:_ISSUES_SHOWN]
    return {
        "id": shown.id,
        "outcome": str(shown.outcome),
        "outcome_word": catalogue.outcome(shown.outcome),
        "text": catalogue.sentence(shown),
        "hint": catalogue.hint(shown),
        "action": next_command(catalogue.action(shown), target),
        "link": catalogue.link(shown),
        "facts": dict(shown.facts),
        "known_issues": [issue_record(match.issue) for match in known],
    }
