"""Recorded machines and skeletons of environments."""

from pathlib import Path

from rocm_wizard.machine.facts import MachineFacts, machine_from_recording
from rocm_wizard.machine.target import venv_python
from rocm_wizard.qualification.finding import Finding
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.state import RunState

RECORDINGS = Path(__file__).parent / "recordings"
_SIGNS = {Outcome.PASSED: "", Outcome.WARNING: "~", Outcome.FAILED: "!"}


def recorded(name: str) -> MachineFacts:
    """One recorded machine."""
    return machine_from_recording(RECORDINGS / f"{name}.json")


def environment(folder: Path, torch: str | None) -> Path:
    """A virtual environment's skeleton with torch's metadata; gives its interpreter's path."""
    python = venv_python(folder)
    python.parent.mkdir(parents=True)
    python.touch()
    site = folder / ("Lib/site-packages" if "Scripts" in python.parts else "lib/python3.12/site-packages")
    site.mkdir(parents=True)
    if torch:
        (site / f"torch-{torch}.dist-info").mkdir()
    return python


def short(state: RunState) -> list[str]:
    """The profile step's findings without their prefix: `name` passed, `~name` warning, `!name` failed."""
    findings = state.stage("profile").findings
    return [_SIGNS.get(one.outcome, f"{one.outcome} ") + one.id.removeprefix("profile.") for one in findings]


def finding(state: RunState, id: str) -> Finding:
    """The one finding with this id."""
    (found,) = [one for one in state.stage("profile").findings if one.id == f"profile.{id}"]
    return found
