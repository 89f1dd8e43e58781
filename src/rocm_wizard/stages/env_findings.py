"""What there is to say about a `.env`, as findings: traps in its lines, values, other readers, layers, backups."""

import os
import sys
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from rocm_wizard.envfile import (
    Document,
    EnvFileError,
    Layer,
    Notice,
    NoticeCode,
    Snapshot,
    Weight,
    backups_ignored,
    disagreements,
    dotenv_disabled,
    find_notices,
    key_layers,
    lint,
    read_values,
    user_environment,
)
from rocm_wizard.qualification.finding import Finding, as_fact
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import StageContext
from rocm_wizard.stages.env_models import sound_seconds
from rocm_wizard.stages.env_template import catalogue, example_keys

_OUTCOMES = {Weight.BREAKS: Outcome.FAILED, Weight.TRAP: Outcome.WARNING, Weight.NOTE: Outcome.PASSED}
_NOTES = {NoticeCode.DOLLAR, NoticeCode.BYTE_ORDER_MARK}
# Said better elsewhere: by the comparison with Node itself, and by the key's own rule.
_SAID_ELSEWHERE = {NoticeCode.NODE_CUTS, NoticeCode.PLACEHOLDER}


def report(context: StageContext, findings: Iterable[Finding]) -> None:
    """Reports findings that were made elsewhere."""
    for finding in findings:
        context.finding(finding.id, finding.outcome, sorted(finding.private), **finding.facts)


def line_findings(document: Document) -> list[Finding]:
    """Traps in the lines. Bytes that are not UTF-8 are no trap: the host then refuses the whole file."""
    return [_of_notice(notice) for notice in find_notices(document) if notice.code not in _SAID_ELSEWHERE]


def _of_notice(notice: Notice) -> Finding:
    outcome = Outcome.PASSED if notice.code in _NOTES else Outcome.WARNING
    if notice.code is NoticeCode.UNDECODABLE:
        outcome = Outcome.FAILED
    return _finding("notice_" + notice.code, outcome, line=notice.line, key=notice.key or None)


def value_findings(document: Document, root: Path | None, *, lenient: bool = False) -> list[Finding]:
    """What the catalogue says about the values. `root` is the checkout; without it no file is looked for.

    `lenient`: the speech steps have yet to prove the files, so a missing one is a warning only, and stand-ins have
    been spoken of already.
    """
    known = example_keys(root)
    problems = lint(document, catalogue(), environment=os.environ, root=root, known=known, seconds_of=sound_seconds)
    found: list[Finding] = []
    for problem in problems:
        of_path = problem.code.startswith("path_")
        if lenient and problem.code == "placeholder":
            continue
        outcome = Outcome.WARNING if lenient and of_path else _OUTCOMES[problem.weight]
        private = ("path", "value") if of_path else ()
        found.append(_finding(problem.code, outcome, private, key=problem.key, line=problem.line, **problem.facts))
    return found


def reader_findings(document: Document, keys: Collection[str]) -> list[Finding]:
    """Keys of ours that Node's `dotenv` reads otherwise than the host; one finding for all others in the file."""
    try:
        found = disagreements(document, None, os.environ)
    except EnvFileError as error:
        return [_finding("node_unknown", Outcome.SKIPPED, reason=error.message)]
    findings = [
        _finding(f"node_{one.difference}", Outcome.WARNING, key=one.key, line=one.line)
        for one in found
        if one.key in keys
    ]
    if others := [one.key for one in found if one.key not in keys]:
        findings.append(_finding("node_others", Outcome.PASSED, count=len(others), keys=others[:20]))
    return findings


def layer_findings(document: Document, keys: Collection[str]) -> list[Finding]:
    """Where the value of each key comes from when it is not the file, and which lines of the file have no effect.

    `document` is the file as it will be. Keys of the catalogue that this process or the user has set are added.
    """
    user, ignore_case = user_environment(), sys.platform == "win32"
    outside = {name.upper() if ignore_case else name for name in (*os.environ, *user)}
    names = dict.fromkeys((*keys, *(spec.name for spec in catalogue().keys if spec.name in outside)))
    default = {spec.name: spec.default for spec in catalogue().keys if spec.default}
    file = read_values(document, os.environ)
    layers = key_layers(names, process=os.environ, user=user, file=file, default=default, ignore_case=ignore_case)
    findings: list[Finding] = []
    if dotenv_disabled(os.environ):
        findings.append(_finding("dotenv_disabled", Outcome.WARNING))
    if elsewhere := [f"{row.key}: {row.winner}" for row in layers if row.winner is not Layer.FILE]:
        findings.append(_finding("layers", Outcome.PASSED, rows=elsewhere))
    hidden = [row for row in layers if row.file_shadowed and not row.same_value]
    if shadowed := [f"{row.key} ({row.winner})" for row in hidden if row.winner in (Layer.PROCESS, Layer.USER)]:
        findings.append(_finding("shadowed", Outcome.WARNING, keys=shadowed))
    return findings


def backup_findings(snapshot: Snapshot) -> list[Finding]:
    """Whether git would take up the backup that a change leaves."""
    if backups_ignored(snapshot.target) is not False:
        return []
    facts = {"file": str(snapshot.path), "pattern": f"{snapshot.target.name}.bak-*"}
    return [_finding("backups_not_ignored", Outcome.WARNING, ("file",), **facts)]


def _finding(code: str, outcome: Outcome, private: Collection[str] = (), /, **facts: Any) -> Finding:
    made: Mapping[str, Any] = {name: as_fact(value) for name, value in facts.items()}
    return Finding(f"env.{code}", outcome, made, frozenset(private))
