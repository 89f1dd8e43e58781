"""Completion of a path while it is typed."""

from pathlib import Path

from textual.suggester import Suggester


def complete(root: Path, typed: str) -> str | None:
    """The first entry that continues what was typed, relative to `root` or absolute; folders end with a slash."""
    if not typed:
        return None
    slash = max(typed.rfind("/"), typed.rfind("\\"))
    head, start = typed[: slash + 1], typed[slash + 1 :].casefold()
    try:
        entries = sorted((root / head).iterdir(), key=lambda entry: entry.name.casefold())
        for entry in entries:
            if entry.name.casefold().startswith(start):
                # What the person typed stays as typed: a suggestion has to begin with it.
                rest = entry.name[len(start) :]
                return typed + rest + ("/" if entry.is_dir() else "")
    except (OSError, ValueError):
        return None
    return None


class PathSuggester(Suggester):
    """Suggests files and folders below a root."""

    def __init__(self, root: Path) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._root = root

    async def get_suggestion(self, value: str) -> str | None:
        """See `Suggester.get_suggestion`."""
        return complete(self._root, value)
