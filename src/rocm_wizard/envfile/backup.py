"""Dated copies beside the file: `.env.bak-20260101T101500Z`, three at most."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

from rocm_wizard.envfile.atomic import write_new
from rocm_wizard.envfile.errors import from_os_error
from rocm_wizard.envfile.filesystem import REAL, FileSystem

KEPT = 3
_STAMP = "%Y%m%dT%H%M%SZ"
_DIGITS = re.compile(r"\d{8}T\d{6}Z", re.ASCII)


def backups(target: Path, filesystem: FileSystem = REAL) -> list[Path]:
    """Our backups of `target`, oldest first. A name whose digits are no date of this age is somebody else's."""
    names = [name for name in filesystem.names(target.parent) if _moment_of(target, name)]
    return [target.with_name(name) for name in sorted(names)]


def make_backup(
    path: Path, target: Path, data: bytes, *, now: datetime | None = None, filesystem: FileSystem = REAL
) -> Path:
    """Write `data` beside `target` under a name later than any backup there, for its owner only.

    Raises:
        ReadOnly, DiskFull, WriteFailed: naming `path`.
    """
    moment = (now or datetime.now(UTC)).astimezone(UTC).replace(microsecond=0)
    try:
        earlier = backups(target, filesystem)
        # Two writes in one second, or a clock set back, must not change which backup is the newest.
        while earlier and _name(target, moment) <= earlier[-1].name:
            moment = (_moment_of(target, earlier[-1].name) or moment) + timedelta(seconds=1)
        copy = target.with_name(_name(target, moment))
        write_new(copy, data, filesystem)
    except OSError as error:
        raise from_os_error(error, path, "writing a backup beside it", state="old") from error
    return copy


def prune(target: Path, filesystem: FileSystem = REAL) -> None:
    """Remove the oldest of our backups until three are left; one that cannot be removed stays."""
    try:
        for old in backups(target, filesystem)[:-KEPT]:
            filesystem.unlink(old)
    except OSError:
        return


def backup_name_example(target: Path) -> str:
    """What a backup of `target` is called, for a look at ignore rules."""
    return _name(target, datetime(2026, 1, 1, tzinfo=UTC))


def _name(target: Path, moment: datetime) -> str:
    return f"{target.name}.bak-{moment.strftime(_STAMP)}"


def _moment_of(target: Path, name: str) -> datetime | None:
    prefix = f"{target.name}.bak-"
    stamp = name.removeprefix(prefix)
    if not name.startswith(prefix) or not _DIGITS.fullmatch(stamp):
        return None
    try:
        moment = datetime.strptime(stamp, _STAMP).replace(tzinfo=UTC)
    except ValueError:
        return None
    return moment if 2000 <= moment.year < 2200 else None
