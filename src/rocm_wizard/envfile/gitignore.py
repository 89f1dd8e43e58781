"""Whether git would leave our backups alone: they hold the same secrets as the file. Reads text, runs no git."""

from fnmatch import fnmatchcase
from pathlib import Path

from rocm_wizard.envfile.backup import backup_name_example


def backups_ignored(target: Path) -> bool | None:
    """Whether a `.gitignore` (or `.git/info/exclude`) covers backups of `target`; `None` outside a repository.

    Patterns without a folder in them are understood, and those anchored at the file's own folder; where in doubt, the
    answer is no.
    """
    folder, name = target.parent.absolute(), backup_name_example(target)
    root = next((place for place in (folder, *folder.parents) if (place / ".git").exists()), None)
    if root is None:
        return None
    ignored = False
    chain = [place for place in (folder, *folder.parents) if place == root or root in place.parents]
    for source in (root / ".git" / "info" / "exclude", *(place / ".gitignore" for place in reversed(chain))):
        anchored = source.parent == folder
        for pattern, wanted in _patterns(source):
            if _matches(pattern, name, anchored):
                ignored = wanted
    return ignored


def _patterns(source: Path) -> list[tuple[str, bool]]:
    try:
        lines = source.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    found: list[tuple[str, bool]] = []
    for line in lines:
        pattern = line.rstrip(" ")
        if pattern and not pattern.startswith("#"):
            found.append((pattern.removeprefix("!"), not pattern.startswith("!")))
    return found


def _matches(pattern: str, name: str, anchored: bool) -> bool:
    plain = pattern.removeprefix("**/")
    if plain.startswith("/"):
        return anchored and "/" not in plain[1:] and fnmatchcase(name, plain[1:])
    return "/" not in plain and fnmatchcase(name, plain)
