"""What an `env` command tells: lines as it goes, or one JSON document at the end."""

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rocm_wizard import __version__
from rocm_wizard.envfile import Action, EnvFileError, mask
from rocm_wizard.line.asker import LineAsker
from rocm_wizard.line.console import write_line
from rocm_wizard.line.printer import LinePrinter
from rocm_wizard.qualification import events as ev
from rocm_wizard.qualification.exit_codes import ExitCode
from rocm_wizard.qualification.finding import Finding
from rocm_wizard.qualification.journal import Record
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import CancelToken, StageContext, answer_by_default
from rocm_wizard.report.catalogue import Catalogue

if TYPE_CHECKING:
    from rocm_wizard.stages.env_merging import Merged

SCHEMA = "rocm-wizard/env@1"
_EXIT = {
    Outcome.COULD_NOT_CHECK: ExitCode.COULD_NOT_CHECK,
    Outcome.CANCELLED: ExitCode.INCOMPLETE,
    Outcome.FAILED: ExitCode.FAILED,
}
"""In this order: what was not written or not looked at comes before what is wrong in the file."""


class EnvReport:
    """Gives a command its context, collects what it reports, and says how it ended."""

    def __init__(self, command: str, path: Path, language: str, *, as_json: bool) -> None:
        self._command = command
        self._path = path
        self._catalogue = Catalogue(language)
        self._as_json = as_json
        self._printer = LinePrinter(self._catalogue, write_line)
        self._findings: list[Finding] = []
        self._rows: list[list[str]] = []
        self._merged: Merged | None = None
        self._started = time.monotonic()
        person = not as_json and sys.stdin is not None and sys.stdin.isatty()
        asker = LineAsker(self._catalogue, write_line) if person else answer_by_default
        self.context = StageContext("env", self._take, asker, CancelToken())

    def _take(self, event: ev.Event) -> None:
        if isinstance(event, ev.FindingReported):
            self._findings.append(event.finding)
        elif isinstance(event, ev.PlanShown):
            self._rows = event.rows
        if not self._as_json:
            self._printer(Record(0, time.monotonic() - self._started, "", event))

    def failed(self, error: EnvFileError) -> None:
        """The file could not be read or written. UTF-16 is a finding about the file: the host cannot read it either."""
        outcome = Outcome.FAILED if error.code == "not_text" else Outcome.COULD_NOT_CHECK
        facts = {"file": str(error.path), "reason": error.message, "state": error.state}
        self.context.finding(f"env.{error.code}", outcome, ["file"], **facts)

    def merged(self, merged: "Merged") -> None:
        """What a plan or an apply came to; a plan is also told key by key."""
        self._merged = merged
        if not self._as_json and self._command == "plan":
            for action in merged.plan.actions:
                write_line("  " + self._told(action))

    def _told(self, action: Action) -> str:
        words = self._catalogue
        verb = words.format("env_verb", action.verb)
        reason = words.format("env_reason", action.reason)
        line = f" ({words.format('env_tool', 'line', line=action.line)})" if action.line else ""
        return f"{verb:<10} {action.key}: {reason}{line}"

    def end(self) -> ExitCode:
        """Prints the document in JSON mode; gives the exit code."""
        outcomes = {finding.outcome for finding in self._findings}
        code = next((code for outcome, code in _EXIT.items() if outcome in outcomes), ExitCode.QUALIFIED)
        if self._as_json:
            text = json.dumps(self._document(code), ensure_ascii=False, indent=2)
            data = (text + "\n").encode("utf-8", "backslashreplace")
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        return code

    def _document(self, code: ExitCode) -> dict[str, Any]:
        merged, receipt = self._merged, self._merged.receipt if self._merged else None
        return {
            "schema": SCHEMA,
            "tool_version": __version__,
            "command": self._command,
            "file": str(self._path),
            "exit_code": int(code),
            "findings": [self._finding(finding) for finding in self._findings],
            "actions": [_action(action) for action in merged.plan.actions] if merged else [],
            "rows": self._rows,
            "written": receipt.as_dict() if receipt else None,
        }

    def _finding(self, finding: Finding) -> dict[str, Any]:
        words = self._catalogue
        told = {"text": words.sentence(finding), "hint": words.hint(finding), "action": words.action(finding)}
        return finding.to_record() | told


def _action(action: Action) -> dict[str, Any]:
    return {
        "key": action.key,
        "verb": str(action.verb),
        "reason": str(action.reason),
        "line": action.line,
        "old": mask(action.key, action.old),
        "new": mask(action.key, action.new),
        "shadowed_lines": list(action.shadowed_lines),
        "dependents": list(action.dependents),
        "disagree": list(action.disagree),
    }
