"""Where this interpreter finds its packages, and what else could be found first."""

import os
import site
import sys
import sysconfig
from pathlib import Path
from typing import Any


def _same(path: str | Path) -> str:
    """A path in the one form in which two names of one folder are equal."""
    return os.path.normcase(os.path.realpath(path))


def _below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _standard_library() -> set[str]:
    own = {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"), sys.base_prefix}
    archive = f"python{sys.version_info.major}{sys.version_info.minor}.zip"
    for folder in (*own, str(Path(sys.base_prefix) / "lib"), str(Path(sys.base_prefix) / "Lib")):
        own |= {str(Path(folder) / name) for name in ("lib-dynload", "DLLs", archive)}
    return {_same(folder) for folder in own | {str(Path(sys.base_prefix) / "DLLs")}}


def outside(entries: list[str], prefix: str, standard: set[str]) -> list[str]:
    """The search path's entries that are neither the environment's nor the standard library's."""
    home = _same(prefix)
    return [entry for entry in entries if entry and not _below(_same(entry), home) and _same(entry) not in standard]


def holders(folders: list[str], packages: list[str]) -> list[str]:
    """`<folder>: torch, numpy` for each folder that holds one of the packages."""
    found: list[str] = []
    for folder in folders:
        names = [name for name in packages if (Path(folder) / name / "__init__.py").is_file()]
        if names:
            found.append(f"{folder}: {', '.join(names)}")
    return found


def running_pth(folders: list[str]) -> list[str]:
    """The `.pth` files of the folders that run code at every start of the interpreter."""
    found: list[str] = []
    for folder in folders:
        for file in sorted(Path(folder).glob("*.pth")):
            try:
                lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
            except OSError:
                continue
            if any(line.startswith(("import ", "import\t")) for line in lines):
                found.append(file.name)
    return found


def describe_paths(packages: list[str]) -> dict[str, Any]:
    """What a package could come from.

    `outside`: entries beyond the environment; `shadowing`: those that hold one of the packages and are asked before the
    environment (or would be, by PYTHONPATH, in a program that is not started in isolated mode); `user_site`: the same
    of the person's own site folder, where a base interpreter looks.
    """
    beyond = outside(sys.path, sys.prefix, _standard_library())
    own = [number for number, entry in enumerate(sys.path) if _same(entry) in map(_same, site.getsitepackages())]
    first = [entry for entry in beyond if sys.path.index(entry) < (own[0] if own else len(sys.path))]
    variable = [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
    sees_system = sys.prefix == sys.base_prefix or any("site-packages" in entry for entry in beyond)
    user = site.getusersitepackages()
    return {
        "outside": beyond,
        "shadowing": holders([*first, *variable], packages),
        "user_site": holders([user], packages) if sees_system else [],
        "pth": running_pth(site.getsitepackages()),
        "system_site": _system_site(),
    }


def _system_site() -> bool:
    """Whether `pyvenv.cfg` lets the base interpreter's packages in."""
    try:
        text = (Path(sys.prefix) / "pyvenv.cfg").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    settings = (line.partition("=") for line in text.splitlines())
    return any(
        name.strip().lower() == "include-system-site-packages" and value.strip().lower() == "true"
        for name, _, value in settings
    )
