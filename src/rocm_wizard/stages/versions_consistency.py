"""Asks uv (or pip) whether the installed packages fit each other."""

import os
import shutil
import time
from pathlib import Path

from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import StageContext
from rocm_wizard.runner.spec import ChildSpec, ChildTimeout, LineTooLong, StartFailed
from rocm_wizard.stages.session import Session

_SECONDS = 60.0
_LINES = 30
_NO_COMPLAINT = ("Using Python", "Checked ", "Found ")


def check_commands(python: Path, uv: str | None) -> dict[str, list[str]]:
    """`uv pip check` where there is uv: it is fast and needs no pip in the environment; after it pip's own."""
    commands: dict[str, list[str]] = {}
    if uv is not None:
        options = ["--no-config", "--offline", "--color", "never", "--python", str(python)]
        commands["uv pip check"] = [uv, "pip", "check", *options]
    commands["pip check"] = [str(python), "-I", "-m", "pip", "--disable-pip-version-check", "--no-color", "check"]
    return commands


def report_consistency(context: StageContext, session: Session) -> None:
    """One finding with what the first tool that answers has to say."""
    commands = check_commands(session.target.python, os.environ.get("UV") or shutil.which("uv"))
    reasons: list[str] = []
    with context.check("consistency"):
        for tool, command in commands.items():
            answer = _ask(context, session, command)
            if isinstance(answer, str):
                reasons.append(f"{tool}: {answer}")
                continue
            facts = {"tool": tool, "lines": answer[:_LINES], "profile": session.chosen.id}
            id = "versions.inconsistent" if answer else "versions.consistent"
            context.finding(id, Outcome.WARNING if answer else Outcome.PASSED, **facts)
            return
        context.finding("versions.consistency_unknown", Outcome.SKIPPED, ["reasons"], reasons=reasons)


def _ask(context: StageContext, session: Session, command: list[str]) -> list[str] | str:
    """The complaints, none when all fits; or in one line why this tool has no answer."""
    # Where the environment lies: a uv that is a version manager's shim chooses itself by the folder it starts in.
    folder = session.target.python.parent.parent.parent
    cwd = folder if folder.is_dir() else session.working_folder
    spec = ChildSpec("package check", command, cwd, {"PYTHONPATH": None, "PYTHONHOME": None})
    lines: list[str] = []
    hiding = spec.hiding()
    try:
        child = session.runner.start(spec, "versions", context.cancel)
    except StartFailed as error:
        return error.reason
    trouble = False
    try:
        child.close_stdin()
        deadline = time.monotonic() + _SECONDS
        while (line := child.read(max(0.0, deadline - time.monotonic()))) is not None:
            lines.append(hiding.text(line.data.decode("utf-8", "replace")))
    except (ChildTimeout, LineTooLong):
        trouble = True
    finally:
        report = child.stop(grace=2.0)
    if trouble:
        return f"no answer within {_SECONDS:g} s"
    # uv complains on stderr, pip on stdout; both end with 1 then, but so does a Python that has no pip.
    lines += child.stderr_tail()
    complaints = [line for line in lines if line.strip() and not line.startswith(_NO_COMPLAINT)]
    if report.code == 0:
        return []
    if report.code == 1 and complaints and not any("No module named pip" in line for line in complaints):
        return complaints
    return complaints[-1] if complaints else str(report.meaning)
