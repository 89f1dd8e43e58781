"""Whether a path in a `.env` can be what its key needs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LFS_POINTER = b"version https://git-lfs.github.com/spec/"
REFERENCE_SECONDS = (3.0, 10.0)
"""GPT-SoVITS refuses reference recordings outside of 3 to 10 s (`inference_webui.py` of RVC-Boss/GPT-SoVITS)."""


@dataclass(frozen=True)
class PathFault:
    """Why a path is no good: `missing`, `no_folder`, `no_file`, `suffix`, `empty`, `lfs_pointer`, `unreadable`,
    `no_sound`, `too_short` or `too_long`."""

    code: str
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])


def check_path(
    path: Path, kind: str, suffixes: tuple[str, ...] = (), seconds_of: Callable[[Path], float | None] | None = None
) -> PathFault | None:
    """`kind` is folder, file, interpreter or audio; `seconds_of` measures sound (`None`: it is not listened to)."""
    try:
        if not path.exists():
            return PathFault("missing")
        if kind == "folder":
            return None if path.is_dir() else PathFault("no_folder")
        if not path.is_file():
            return PathFault("no_file")
        if kind == "interpreter":
            return None
        if suffixes and path.suffix.casefold() not in suffixes:
            return PathFault("suffix", {"suffixes": list(suffixes)})
        with path.open("rb") as file:
            head = file.read(len(LFS_POINTER))
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        return PathFault("unreadable", {"reason": getattr(error, "strerror", None) or type(error).__name__})
    if not head:
        return PathFault("empty")
    if head == LFS_POINTER:
        return PathFault("lfs_pointer")
    return _check_sound(path, seconds_of) if kind == "audio" and seconds_of is not None else None


def _check_sound(path: Path, seconds_of: Callable[[Path], float | None]) -> PathFault | None:
    seconds = seconds_of(path)
    if seconds is None:
        return PathFault("no_sound")
    low, high = REFERENCE_SECONDS
    facts = {"seconds": round(seconds, 2), "low": low, "high": high}
    return PathFault("too_short", facts) if seconds < low else PathFault("too_long", facts) if seconds > high else None
