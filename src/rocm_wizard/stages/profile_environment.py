"""One `.venv` holds one profile: which torch is in it, and, with consent, how it becomes the chosen profile's."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rocm_wizard.machine.knowledge import Limits
from rocm_wizard.machine.profiles import Profile
from rocm_wizard.machine.target import installed_torch, profile_of_torch
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import StageContext
from rocm_wizard.stages.profile_sync import Syncer, find_project
from rocm_wizard.stages.session import Session

_PRIVATE = ("python", "sync", "worktree")


@dataclass(frozen=True, slots=True)
class Installed:
    """The torch that the target environment holds, and whose it is."""

    version: str | None
    holds: Profile | None

    def suits(self, profile: Profile) -> bool:
        """Whether nothing speaks against the profile yet; the version step compares exactly."""
        return self.version is not None and (self.holds is None or self.holds.id == profile.id)


def _look(session: Session) -> Installed:
    version = installed_torch(session.target.python)
    return Installed(version, profile_of_torch(version, session.book, session.machine.platform) if version else None)


def _result(session: Session, profile: Profile) -> tuple[bool, str | None]:
    installed = _look(session)
    return installed.suits(profile), installed.version


def report_environment(context: StageContext, session: Session, profile: Profile, limits: Limits) -> None:
    """Says which torch is installed; where it is none or another profile's, offers what can be done about it."""
    installed = _look(session)
    if not installed.suits(profile):
        project = find_project(session.target, profile)
        if project is not None:
            syncer = Syncer(context, session, profile, project, limits)
            syncer.offer(installed.version, installed.holds, lambda: _result(session, profile))
            installed = _look(session)
    with context.check("environment"):
        _report(context, session, profile, installed)


def _report(context: StageContext, session: Session, profile: Profile, installed: Installed) -> None:
    facts: dict[str, Any] = {
        "profile": profile.id,
        "found": installed.version,
        "python": str(session.target.python),
        **commands(session.target.checkout or session.target.python.parents[2], profile),
    }
    holds = installed.holds
    if installed.version is None:
        context.finding("profile.torch_missing", Outcome.FAILED, _PRIVATE, **facts)
    elif holds is not None and holds.id != profile.id:
        context.finding("profile.other_profile_installed", Outcome.FAILED, _PRIVATE, holds=holds.id, **facts)
    else:
        context.finding("profile.torch_installed", Outcome.PASSED, _PRIVATE, **facts)


def commands(project: Path, profile: Profile) -> dict[str, str]:
    """The exact commands: `sync` in this checkout, `worktree` for a second one (PowerShell and POSIX shells)."""
    second = project.with_name(f"{project.name}-{profile.id}")
    sync = f"uv sync --locked --extra {profile.id} --directory"
    worktree = f'git -C "{project}" worktree add --detach "{second}"; {sync} "{second}"'
    return {"sync": f'{sync} "{project}"', "worktree": worktree}
