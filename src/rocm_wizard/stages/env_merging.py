"""One merge into a `.env`, from reading to reading back. The wizard's step and the command line both run it."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rocm_wizard.envfile import (
    Action,
    Choice,
    Document,
    Plan,
    Receipt,
    Snapshot,
    Verb,
    apply_plan,
    diff_rows,
    make_plan,
    mask,
    render,
    save_receipt,
    take_snapshot,
)
from rocm_wizard.qualification import events as ev
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import Question, StageContext
from rocm_wizard.stages.env_findings import (
    backup_findings,
    layer_findings,
    line_findings,
    reader_findings,
    report,
    value_findings,
)
from rocm_wizard.stages.env_models import PLACES, choose_files, open_keys
from rocm_wizard.stages.env_template import catalogue, example_values

_PROFILE_KEY = "TTS_VOICE_PROFILE"
_INTERPRETERS = ("QWEN3_ASR_PYTHON", "TTS_PYTHON")
_WEIGHTS = {"TTS_GPT_MODEL_PATH", "TTS_SOVITS_MODEL_PATH"}


@dataclass(frozen=True)
class MergeRequest:
    """What to merge where. `named` are values that the person gave by name: they win without a question.

    `consent` decides whether a planned change is written; `None` only plans. `own`: the file is this run's, nobody
    else's. `receipts` is the folder of the receipts for a later undo.
    """

    path: Path
    wanted: Mapping[str, str]
    named: Mapping[str, str] = field(default_factory=dict[str, str])
    checkout: Path | None = None
    python: Path | None = None
    own: bool = False
    receipts: Path | None = None
    consent: Callable[[StageContext, Path], bool] | None = None


@dataclass(frozen=True)
class Merged:
    """What came of it: the plan, and the receipt of a write."""

    snapshot: Snapshot
    plan: Plan
    receipt: Receipt | None = None


def merge(context: StageContext, request: MergeRequest) -> Merged:
    """Reads, asks, plans, writes, reads back, and reports each of it.

    Raises:
        EnvFileError: the file cannot be read or written; it is as it was, and a finding has not been made of it.
    """
    with context.check("read"):
        snapshot = take_snapshot(request.path)
        _report_file(context, request, snapshot)
    wanted = _with_files(context, request, snapshot.document)
    with context.check("plan"):
        plan = _plan(context, request, snapshot, wanted)
        planned = Document.parse(render(snapshot.document, plan), request.path)
        report(context, layer_findings(planned, [*wanted, *request.named]))
    merged = Merged(snapshot, plan)
    if not plan.edits:
        facts = {"file": str(request.path), "keys": len(plan.actions)}
        with context.check("plan"):
            context.finding("env.unchanged", Outcome.PASSED, ["file"], **facts)
    elif request.consent is not None:
        with context.check("consent"):
            if not request.consent(context, request.path):
                return merged
        with context.check("write"):
            merged = Merged(snapshot, plan, apply_plan(snapshot, plan))
            _report_write(context, request, merged)
        with context.check("read_back"):
            planned = _read_back(context, request.path, plan)
    with context.check("env_values"):
        root = request.checkout
        report(context, value_findings(planned, root, lenient=True))
        ours = {*catalogue().by_name, *(action.key for action in plan.actions)}
        report(context, reader_findings(planned, ours))
        python = request.python
        if python is not None and python.is_file() and not any(planned.value(key) for key in _INTERPRETERS):
            context.finding("env.sidecars_use", Outcome.PASSED, ["python"], python=str(python))
    return merged


def _report_file(context: StageContext, request: MergeRequest, snapshot: Snapshot) -> None:
    document = snapshot.document
    facts = {"file": str(snapshot.path), "lines": len(document.statements), "target": str(snapshot.target)}
    if request.own:
        context.finding("env.own_file", Outcome.PASSED, ["file", "target"], **facts)
    elif snapshot.through_link:
        context.finding("env.through_link", Outcome.PASSED, ["file", "target"], **facts)
    else:
        id = "env.file" if document.exists else "env.new_file"
        context.finding(id, Outcome.PASSED, ["file", "target"], **facts)
    report(context, line_findings(document))


def _with_files(context: StageContext, request: MergeRequest, document: Document) -> dict[str, str]:
    """The wanted values, with files that the person picked in place of the template's stand-ins."""
    wanted = {**request.wanted, **request.named}
    missing = open_keys(document, wanted)
    if request.checkout is None or request.own or request.consent is None or not set(missing) & {*PLACES}:
        return wanted
    with context.check("env_models"):
        chosen = choose_files(context, request.checkout, missing)
    wanted.update(chosen)
    if _WEIGHTS & {*chosen, *request.named} and (document.value(_PROFILE_KEY) or "custom") != "custom":
        wanted.setdefault(_PROFILE_KEY, "custom")  # any other profile would override the files just named
    return wanted


def _plan(context: StageContext, request: MergeRequest, snapshot: Snapshot, wanted: Mapping[str, str]) -> Plan:
    document, defaults = snapshot.document, example_values(request.checkout)
    choices = dict.fromkeys(request.named, Choice.WANTED)
    plan = make_plan(document, wanted, template_defaults=defaults, choices=choices, environment=os.environ)
    if plan.conflicts and request.consent is not None:
        for action in plan.conflicts:
            choices[action.key] = _choose(context, action)
        plan = make_plan(document, wanted, template_defaults=defaults, choices=choices, environment=os.environ)
    rows = [[row.before or "", row.after or "", str(row.kind)] for row in diff_rows(document, plan)]
    context.emit(ev.PlanShown(context.stage, str(snapshot.path), rows))
    counts = {str(verb): sum(action.verb is verb for action in plan.actions) for verb in Verb}
    written = sum(1 for action in plan.actions if action.edit is not None)
    context.finding("env.plan", Outcome.PASSED, changes=written, **counts)
    if missing := open_keys(document, {key: wanted[key] for key in plan.placeholders}):
        outcome = Outcome.PASSED if request.own else Outcome.WARNING
        context.finding("env.placeholders_left_out", outcome, keys=missing)
    if kept := [key for key, choice in choices.items() if choice is Choice.CURRENT]:
        context.finding("env.conflict_kept", Outcome.WARNING, keys=kept)
    if plan.conflicts:
        context.finding("env.conflicts", Outcome.WARNING, keys=[action.key for action in plan.conflicts])
    changed = [action for action in plan.actions if action.edit is not None]
    if follow := [f"{key} (with {action.key})" for action in changed for key in action.dependents]:
        context.finding("env.dependents", Outcome.WARNING, keys=follow)
    if changed and document.exists and not request.own:
        report(context, backup_findings(snapshot))
    return plan


def _choose(context: StageContext, action: Action) -> Choice:
    facts = {"key": action.key, "current": mask(action.key, action.old), "wanted": mask(action.key, action.new)}
    question = Question("env.conflict", tuple(choice.value for choice in Choice), Choice.CURRENT.value, facts)
    return Choice(context.ask(question).option)


def _report_write(context: StageContext, request: MergeRequest, merged: Merged) -> None:
    receipt = merged.receipt
    if receipt is None:
        return
    facts = {"file": receipt.path, "backup": receipt.backup, "method": str(receipt.method), "sha256": receipt.after}
    id = "env.created" if receipt.created else "env.written"
    context.finding(id, Outcome.PASSED, ["file", "backup"], **facts)
    if request.receipts is not None and not save_receipt(request.receipts, receipt):
        context.finding("env.no_receipt", Outcome.PASSED, ["folder"], folder=str(request.receipts))


def _read_back(context: StageContext, path: Path, plan: Plan) -> Document:
    document = take_snapshot(path).document
    written = (action for action in plan.actions if action.edit is not None)
    wrong = [action.key for action in written if document.value(action.key) != action.new]
    id = "env.read_back_differs" if wrong else "env.read_back"
    outcome = Outcome.FAILED if wrong else Outcome.PASSED
    context.finding(id, outcome, ["file"], file=str(path), keys=wrong or len(plan.actions))
    return document
