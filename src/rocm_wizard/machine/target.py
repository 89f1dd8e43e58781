"""What is being qualified: a checkout or none, its interpreter, and the torch build that it holds."""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

from rocm_wizard.machine.profiles import Profile, ProfileBook


@dataclass(frozen=True, slots=True)
class Target:
    """The thing under test. `checkout` None: only this program's own environment and embedded engines."""

    python: Path
    checkout: Path | None = None


def venv_python(folder: Path) -> Path:
    """Where a virtual environment keeps its interpreter."""
    return folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def find_target(checkout: Path | None, python: Path | None) -> Target:
    """The named interpreter, else the checkout's `.venv`, else the one that runs this program.

    The path is made absolute but no link in it is resolved: a virtual environment's interpreter is a link on POSIX, and
    its target would be another environment.
    """
    if python is None:
        own = Path(sys.executable)
        python = venv_python(checkout / ".venv") if checkout is not None else own
    return Target(python.absolute(), checkout.resolve() if checkout is not None else None)


def installed_torch(python: Path) -> str | None:
    """The version of torch that an environment holds, read from its metadata folders without running anything."""
    environment = python.parent.parent
    pattern = "Lib/site-packages" if sys.platform == "win32" else "lib/python3*/site-packages"
    for site in sorted(environment.glob(pattern)):
        for metadata in site.glob("torch-*.dist-info"):
            match = re.fullmatch(r"torch-(.+)\.dist-info", metadata.name)
            if match:
                return match[1]
    return None


def profile_of_torch(version: str, book: ProfileBook, platform: str) -> Profile | None:
    """The profile that an installed torch version belongs to on a platform."""
    base, _, tag = version.partition("+")
    candidates = [p for p in book.for_platform(platform) if p.packages.get("torch") == base]
    exact = [p for p in candidates if p.local is not None and tag in p.local]
    if exact:
        return exact[0]
    return next((p for p in candidates if p.local is None), None)
