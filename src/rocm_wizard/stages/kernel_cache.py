"""MIOpen's caches before a sidecar starts: whether cold numbers include its search for kernels and their compilation.

Folders and variables: MIOpen's db_path.cpp.in and binary_cache.cpp; AMD's Windows packages are built with
`$USERPROFILE/.miopen`. For a home folder on a network drive MIOpen uses the temporary folder, which is not looked into.
"""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from weakref import WeakSet

from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import StageContext
from rocm_wizard.runner.spec import ChildSpec
from rocm_wizard.stages.session import Session

MOST_FILES = 20_000
"""More are not counted."""
DATABASE, CACHE = "MIOPEN_USER_DB_PATH", "MIOPEN_CUSTOM_CACHE_DIR"

_DISABLE = "MIOPEN_DISABLE_CACHE"
_ON = ("1", "yes", "on", "true", "enable", "enabled")
_told: "WeakSet[StageContext]" = WeakSet()


@dataclass(frozen=True, slots=True)
class Content:
    """What a folder holds. `whole`: False where counting stopped at `MOST_FILES`."""

    files: int = 0
    size: int = 0
    whole: bool = True


def tell_kernel_cache(context: StageContext, session: Session, spec: ChildSpec) -> None:
    """The state that this child will find, once a stage and on HIP only. No folder is named: it would name a person."""
    if session.chosen.device_kind != "hip" or context in _told:
        return
    _told.add(context)
    environment = spec.full_environment()
    variables = [name for name in (DATABASE, CACHE) if environment.get(name)]
    with context.check("kernel_cache"):
        try:
            database, cache = (content(spec.cwd / folder) for folder in cache_folders(environment))
        except OSError as error:
            reason = error.strerror or type(error).__name__
            context.finding("sidecar.kernel_cache_unread", Outcome.WARNING, reason=reason, variables=variables or None)
            return
        off = environment.get(_DISABLE, "").lower() in _ON
        kept = database.size + (0 if off else cache.size)
        state = "off" if off else "kept" if kept else "fresh"
        context.finding(
            f"sidecar.kernel_cache_{state}",
            Outcome.PASSED,
            state=state,
            database_files=_shown(database),
            database_bytes=database.size,
            database_mib=round(database.size / 2**20, 1),
            cache_files=_shown(cache),
            cache_bytes=cache.size,
            cache_mib=round(cache.size / 2**20, 1),
            variables=variables or None,
        )


def _shown(found: Content) -> int | str:
    return found.files if found.whole else f"{found.files}+"


def cache_folders(environment: Mapping[str, str], system: str = sys.platform) -> tuple[Path, Path]:
    """MIOpen's user database and its cache of compiled kernels, in a child with this environment."""
    home = Path(environment.get("USERPROFILE" if system == "win32" else "HOME") or Path.home())
    if system == "win32":
        usual = home / ".miopen" / "db", home / ".miopen" / "cache"
    else:
        usual = home / ".config" / "miopen", home / ".cache" / "miopen"
    database, cache = (
        _chosen(environment[name], home) if environment.get(name) else folder
        for name, folder in zip((DATABASE, CACHE), usual, strict=True)
    )
    return database, cache


def _chosen(value: str, home: Path) -> Path:
    path = Path(value)
    return home.joinpath(*path.parts[1:]) if path.parts[:1] == ("~",) else path


def content(folder: Path) -> Content:
    """All files below a folder; one that is not there holds nothing. Links are not followed.

    Raises:
        OSError: the folder, or one in it, cannot be read.
    """
    files = size = 0
    folders = [folder]
    while folders:
        try:
            entries = os.scandir(folders.pop())
        except FileNotFoundError:
            continue
        with entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(Path(entry.path))
                elif files == MOST_FILES:
                    return Content(files, size, whole=False)
                else:
                    files += 1
                    size += _size(entry)
    return Content(files, size)


def _size(entry: "os.DirEntry[str]") -> int:
    try:
        return entry.stat(follow_symlinks=False).st_size
    except FileNotFoundError:  # MIOpen may put it aside just now
        return 0
