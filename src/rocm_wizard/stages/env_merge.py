"""Step 4: the profile's settings go into the `.env`, previewed, verified, and undoable."""

import os
import sys
from collections.abc import Iterable
from pathlib import Path

from rocm_wizard.assets import asset
from rocm_wizard.envfile import (
    Action,
    Choice,
    Document,
    EnvFileError,
    NoticeCode,
    Plan,
    Receipt,
    Snapshot,
    Verb,
    apply_plan,
    diff_rows,
    find_notices,
    key_layers,
    make_plan,
    mask,
    read_values,
    render,
    take_snapshot,
    user_environment,
)
from rocm_wizard.qualification import events as ev
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import Question, StageContext
from rocm_wizard.stages.session import Session

OWN_FILE = "voice.env"
_HARMLESS = {NoticeCode.NODE_CUTS, NoticeCode.DOLLAR, NoticeCode.PLACEHOLDER, NoticeCode.BYTE_ORDER_MARK}


class EnvMergeStage:
    """Merges the template of the chosen profile; a file that somebody owns is written with consent only."""

    id = "env_merge"

    def __init__(self, session: Session) -> None:
        self._session = session

    def run(self, context: StageContext) -> None:
        """See `Stage.run`."""
        wanted = _template_values(asset(self._session.chosen.env_template))
        path = self._path()
        try:
            with context.check("read"):
                snapshot = take_snapshot(path)
                self._report_file(context, snapshot)
            with context.check("plan"):
                plan = self._plan(context, snapshot, wanted)
            if not plan.edits:
                context.finding("env.unchanged", Outcome.PASSED, ["file"], file=str(path), keys=len(plan.actions))
                return
            with context.check("consent"):
                if not self._consent(context, path):
                    return
            with context.check("write"):
                _report_write(context, path, apply_plan(snapshot, plan))
            with context.check("read_back"):
                _read_back(context, path, plan)
        except EnvFileError as error:
            facts = {"file": str(error.path), "reason": error.message, "state": error.state}
            context.finding(f"env.{error.code}", Outcome.FAILED, ["file"], **facts)

    def _path(self) -> Path:
        session = self._session
        if session.options.env_file is not None:
            return session.options.env_file.absolute()
        return session.target.checkout / ".env" if session.target.checkout else session.run_folder / OWN_FILE

    @property
    def _is_own(self) -> bool:
        return self._session.options.env_file is None and self._session.target.checkout is None

    def _report_file(self, context: StageContext, snapshot: Snapshot) -> None:
        document = snapshot.document
        facts = {"file": str(snapshot.path), "lines": len(document.statements), "target": str(snapshot.target)}
        if self._is_own:
            context.finding("env.own_file", Outcome.PASSED, ["file", "target"], **facts)
        elif snapshot.through_link:
            context.finding("env.through_link", Outcome.PASSED, ["file", "target"], **facts)
        else:
            id = "env.file" if document.exists else "env.new_file"
            context.finding(id, Outcome.PASSED, ["file", "target"], **facts)
        for notice in find_notices(document):
            if notice.code not in _HARMLESS:
                trap = {"line": notice.line, "key": notice.key or None}
                context.finding(f"env.notice_{notice.code}", Outcome.WARNING, **trap)

    def _plan(self, context: StageContext, snapshot: Snapshot, wanted: dict[str, str]) -> Plan:
        document = snapshot.document
        plan = make_plan(document, wanted, environment=os.environ)
        choices: dict[str, Choice] = {}
        for action in plan.conflicts:
            choices[action.key] = _choose(context, action)
        if choices:
            plan = make_plan(document, wanted, choices=choices, environment=os.environ)
        rows = diff_rows(document, plan)
        shown = [[row.before or "", row.after or "", str(row.kind)] for row in rows]
        context.emit(ev.PlanShown(context.stage, str(snapshot.path), shown))
        counts = {str(verb): sum(action.verb is verb for action in plan.actions) for verb in Verb}
        written = sum(1 for action in plan.actions if action.edit is not None)
        context.finding("env.plan", Outcome.PASSED, changes=written, **counts)
        if plan.placeholders:
            outcome = Outcome.PASSED if self._is_own else Outcome.WARNING
            context.finding("env.placeholders_left_out", outcome, keys=list(plan.placeholders))
        kept = [key for key, choice in choices.items() if choice is Choice.CURRENT]
        if kept:
            context.finding("env.conflict_kept", Outcome.WARNING, keys=kept)
        _report_shadows(context, document, plan)
        return plan

    def _consent(self, context: StageContext, path: Path) -> bool:
        if self._is_own:
            return True
        if self._session.options.yes:
            context.finding("env.consent_by_option", Outcome.PASSED)
            return True
        answer = context.ask(Question("env.apply", ("apply", "decline"), "nobody", {"file": str(path)}))
        if answer.option == "apply":
            context.finding("env.consent", Outcome.PASSED)
            return True
        declined = answer.option == "decline"
        id = "env.declined" if declined else "env.no_consent"
        context.finding(id, Outcome.CANCELLED if declined else Outcome.COULD_NOT_CHECK, ["file"], file=str(path))
        return False


def _template_values(path: Path) -> dict[str, str]:
    document = Document.parse(path.read_bytes(), path)
    return {key: value or "" for key, value in read_values(document, {}).items()}


def _choose(context: StageContext, action: Action) -> Choice:
    facts = {"key": action.key, "current": mask(action.key, action.old), "wanted": mask(action.key, action.new)}
    question = Question("env.conflict", tuple(choice.value for choice in Choice), Choice.CURRENT.value, facts)
    return Choice(context.ask(question).option)


def _report_shadows(context: StageContext, document: Document, plan: Plan) -> None:
    """A variable of the process or the user beats the file: editing the file would then change nothing."""
    planned = read_values(Document.parse(render(document, plan), document.path), {})
    keys: Iterable[str] = [action.key for action in plan.actions]
    user, ignore_case = user_environment(), sys.platform == "win32"
    layers = key_layers(keys, process=os.environ, user=user, file=planned, ignore_case=ignore_case)
    shadowed = [layer for layer in layers if layer.file_shadowed and not layer.same_value]
    if shadowed:
        said = [f"{layer.key} ({layer.winner})" for layer in shadowed]
        context.finding("env.shadowed", Outcome.WARNING, keys=said)


def _report_write(context: StageContext, path: Path, receipt: Receipt) -> None:
    facts = {"file": str(path), "backup": receipt.backup, "method": str(receipt.method), "sha256": receipt.after}
    id = "env.created" if receipt.created else "env.written"
    context.finding(id, Outcome.PASSED, ["file", "backup"], **facts)


def _read_back(context: StageContext, path: Path, plan: Plan) -> None:
    values = take_snapshot(path).document
    wrong = [
        action.key
        for action in plan.actions
        if action.verb in (Verb.SET, Verb.APPEND, Verb.UNCOMMENT, Verb.CREATE)
        and values.value(action.key) != action.new
    ]
    id = "env.read_back_differs" if wrong else "env.read_back"
    outcome = Outcome.FAILED if wrong else Outcome.PASSED
    context.finding(id, outcome, ["file"], file=str(path), keys=wrong or len(plan.actions))
