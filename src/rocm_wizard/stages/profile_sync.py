"""`uv sync` as a child of the profile step: what it would change, the question, live progress, and what came of it."""

import re
import shutil
import time
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rocm_wizard.machine.knowledge import Limits
from rocm_wizard.machine.profiles import Profile
from rocm_wizard.machine.target import Target
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import Question, StageContext
from rocm_wizard.runner.spec import ChildSpec, ChildTimeout, ExitReport, LineTooLong, StartFailed
from rocm_wizard.stages.session import Session

_PLAN_SECONDS, _SYNC_SECONDS, _SLICE, _GRACE = 60.0, 3600.0, 0.5, 30.0
_SHOWN, _TAIL = 12, 5
_CHANGE = re.compile(r"^ ([-+~]) ([^ ]+)")
_DONE = re.compile(r"^ *(Downloaded|Built) ")


@dataclass(frozen=True, slots=True)
class Project:
    """A folder with `pyproject.toml`, `uv.lock` and the `.venv` that is the target; `uv` is the program to run."""

    folder: Path
    environment: Path
    uv: str


def find_project(target: Target, profile: Profile) -> Project | None:
    """The project whose `.venv` is the target, if its lock file knows the profile and uv is here; else None."""
    environment = target.python.parent.parent
    folder = target.checkout or environment.parent
    uv = shutil.which("uv")
    if uv is None or environment.parent != folder or not (folder / "uv.lock").is_file():
        return None
    try:
        project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    extras = project.get("project", {}).get("optional-dependencies", {})
    return Project(folder, environment, uv) if profile.id in extras else None


@dataclass(frozen=True, slots=True)
class _Ended:
    report: ExitReport
    lines: list[str]
    late: bool

    @property
    def well(self) -> bool:
        return self.report.code == 0 and not self.late


class Syncer:
    """Makes a project's environment the profile's, if a person wants that. Silence leaves everything as it is."""

    def __init__(
        self, context: StageContext, session: Session, profile: Profile, project: Project, limits: Limits
    ) -> None:
        self._context = context
        self._session = session
        self._profile = profile
        self._project = project
        self._limits = limits

    def offer(self, found: str | None, holds: Profile | None, look: Callable[[], tuple[bool, str | None]]) -> None:
        """Asks, and runs the sync after a person's consent. `look` gives whether the torch that is there now suits."""
        with self._context.check("sync"):
            plan = self._run("uv sync plan", ["--dry-run"], _PLAN_SECONDS, None)
            if plan is None:
                return
            if not plan.well:
                self._finding("profile.sync_not_possible", Outcome.WARNING, plan)
                return
            changes = [match.groups() for line in plan.lines if (match := _CHANGE.match(line))]
            removes = [name for sign, name in changes if sign == "-"]
            adds = [name for sign, name in changes if sign != "-"]
            if not self._consent(found, holds, removes, adds):
                self._context.finding("profile.sync_left", Outcome.PASSED, profile=self._profile.id)
                return
            ended = self._run("uv sync", [], self._session.options.limits.get("sync", _SYNC_SECONDS), len(adds))
            if ended is not None:
                self._report(ended, *look())

    def _report(self, ended: _Ended, suits: bool, found: str | None) -> None:
        """uv's exit alone does not make it good: the torch that is installed now does."""
        if not ended.well:
            self._finding("profile.sync_failed", Outcome.FAILED, ended)
        elif not suits:
            self._finding("profile.sync_no_effect", Outcome.FAILED, ended, found=found)
        else:
            self._finding("profile.synced", Outcome.PASSED, ended, found=found)

    def _consent(self, found: str | None, holds: Profile | None, removes: list[str], adds: list[str]) -> bool:
        facts: dict[str, Any] = {
            "profile": self._profile.id,
            "holds": holds.id if holds else None,
            "found": found,
            "project": str(self._project.folder),
            "removes": removes[:_SHOWN],
            "remove_count": len(removes),
            "add_count": len(adds),
            "free_gib": round(shutil.disk_usage(self._project.folder).free / 2**30, 1),
            "need_gib": round(self._limits.sync_disk / 2**30, 1),
        }
        if holds is not None and holds.device_kind == "cuda":
            # The answer is the name of what would be lost, typed in full.
            facts["typed"] = holds.id
            question = Question("profile.replace", ("leave", holds.id), "leave", facts, typed=holds.id)
        else:
            question = Question("profile.sync", ("leave", "sync"), "leave", facts)
        answer = self._context.ask(question)
        return answer.answered_by == "person" and answer.option == question.options[1]

    def _run(self, purpose: str, more: list[str], seconds: float, total: int | None) -> _Ended | None:
        folder, environment = self._project.folder, self._project.environment
        argv = [self._project.uv, "sync", "--locked", "--extra", self._profile.id, *more]
        # An activated environment must not be mistaken for the one that is meant.
        changes = {"VIRTUAL_ENV": None, "UV_PROJECT_ENVIRONMENT": str(environment), "NO_COLOR": "1"}
        spec = ChildSpec(purpose, argv, folder, changes)
        try:
            child = self._session.runner.start(spec, self._context.stage, self._context.cancel)
        except StartFailed as error:
            self._context.finding("profile.sync_not_started", Outcome.WARNING, reason=error.reason)
            return None
        child.close_stdin()
        deadline, late, ended = time.monotonic() + seconds, False, False
        try:
            while not ended and not late:
                try:
                    ended = child.read(_SLICE) is None
                except ChildTimeout:
                    late = time.monotonic() >= deadline
                if total is not None:
                    self._context.progress(min(_count(child.stderr_tail()), total), total, "packages")
        except LineTooLong:
            late = True
        finally:
            report = child.stop(0.0 if late or not ended else _GRACE)
        return _Ended(report, child.stderr_tail(), late)

    def _finding(self, id: str, outcome: Outcome, ended: _Ended, /, **facts: Any) -> None:
        tail = [line.strip() for line in ended.lines if line.strip()][-_TAIL:]
        more: dict[str, Any] = {"code": ended.report.code, "name": str(ended.report.meaning), "late": ended.late}
        facts |= {"profile": self._profile.id, "seconds": round(ended.report.seconds, 1), "said": tail}
        self._context.finding(id, outcome, ["said"], **more, **facts)


def _count(lines: list[str]) -> int:
    """How many packages uv has said to be ready: fetched or installed, whichever are more."""
    fetched = sum(_DONE.match(line) is not None for line in lines)
    return max(fetched, sum(line.startswith((" + ", " ~ ")) for line in lines))
