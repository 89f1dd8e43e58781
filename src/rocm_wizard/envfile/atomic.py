"""Write a file so that at any moment it is whole: the old one, or the new one."""

import errno
import os
import re
import secrets
import stat
import sys
import time
from contextlib import suppress
from enum import StrEnum
from pathlib import Path

from rocm_wizard.envfile.errors import Busy, IsDirectory, ReadOnly, Stale, from_os_error
from rocm_wizard.envfile.filesystem import REAL, FileSystem
from rocm_wizard.envfile.snapshot import Fingerprint, read_state

# An editor or a virus scanner holds a file for a moment: five tries, a second in all.
RETRY_DELAYS = (0.05, 0.15, 0.3, 0.5)
_SHARING_ERRORS = frozenset({5, 32, 33})  # access denied, sharing violation, lock violation
_CANNOT_REPLACE = frozenset({errno.EBUSY, errno.EXDEV})
_CHUNK = 1 << 20
_LEFTOVER_AGE_S = 600.0


class Method(StrEnum):
    """How the new content got in place."""

    REPLACED = "replaced"
    IN_PLACE = "in_place"
    UNCHANGED = "unchanged"
    REMOVED = "removed"


def write_file(
    path: Path,
    target: Path,
    data: bytes,
    *,
    expected: Fingerprint | None,
    old: bytes,
    filesystem: FileSystem = REAL,
) -> Method:
    """Make `data` the content of `target`, which must still be as `expected` (`None`: must still be missing).

    The new file is written beside the old one, flushed, and put in its place; mode and owner stay, a new file is
    readable by its owner only. Where replacing is impossible (a bind mount) or would lose something (another owner,
    a hard link), the content is written over the old one in place, which a crash can tear: have a backup. `old` is
    the present content, put back if that fails. Errors name `path`.

    Raises:
        Stale, IsDirectory, ReadOnly, Busy, DiskFull, WriteFailed: nothing of ours stays behind.
    """
    facts = check_writable(path, target, filesystem)
    sweep(target, filesystem)
    temporary = target.with_name(f"{target.name}.tmp-{secrets.token_hex(4)}")
    try:
        _create(path, temporary, data, filesystem)
        in_place = facts is not None and not _dress(temporary, facts, filesystem)
        check_fresh(path, target, expected, filesystem)
        if not in_place:
            in_place = not _replace(path, temporary, target, data, old, filesystem)
        if in_place:
            _overwrite(path, target, data, old, filesystem)
    finally:
        with suppress(OSError):
            filesystem.unlink(temporary)
    with suppress(OSError):  # the content is in place; only its survival of a power cut is at stake
        filesystem.sync_folder(target.parent)
    return Method.IN_PLACE if in_place else Method.REPLACED


def check_writable(path: Path, target: Path, filesystem: FileSystem = REAL) -> os.stat_result | None:
    """The target's facts (`None`: missing), if it is a file that its owner may change.

    Raises:
        IsDirectory, ReadOnly, WriteFailed
    """
    try:
        facts = filesystem.stat(target)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise from_os_error(error, path, "looking at the file") from error
    if stat.S_ISDIR(facts.st_mode):
        raise IsDirectory(path, "a folder has this name; rename it, or name another file")
    if not facts.st_mode & 0o222:
        how = "clear the read-only mark in its properties" if sys.platform == "win32" else "chmod u+w"
        raise ReadOnly(path, f"the file is marked read-only ({how}), so it was left as it is")
    return facts


def check_fresh(path: Path, target: Path, expected: Fingerprint | None, filesystem: FileSystem = REAL) -> None:
    """Raise `Stale` unless `target` is as `expected` in size, time and content."""
    state = read_state(path, target, filesystem)
    found = state[1] if state else None
    if found == expected:
        return
    if expected is None:
        raise Stale(path, "the file has appeared since the plan was made; look at a new plan")
    if found is None:
        raise Stale(path, "the file has vanished since the plan was made; look at a new plan")
    raise Stale(path, "the file has changed since the plan was made; look at a new plan")


def write_new(path: Path, data: bytes, filesystem: FileSystem = REAL) -> None:
    """Write a file that must not exist, for its owner only, and flush it. On an error it is removed again.

    Raises:
        OSError
    """
    descriptor = filesystem.create(path, 0o600)
    try:
        try:
            _write_all(descriptor, data, filesystem)
            filesystem.sync(descriptor)
        finally:
            filesystem.close(descriptor)
    except OSError:
        with suppress(OSError):
            filesystem.unlink(path)
        raise


def sweep(target: Path, filesystem: FileSystem = REAL) -> None:
    """Remove temporary files of ours that a killed run left beside `target`, once they are ten minutes old."""
    ours = re.compile(re.escape(target.name) + r"\.tmp-[0-9a-f]{8}")
    with suppress(OSError):
        for name in filesystem.names(target.parent):
            leftover = target.with_name(name)
            if ours.fullmatch(name) and time.time() - filesystem.lstat(leftover).st_mtime > _LEFTOVER_AGE_S:
                filesystem.unlink(leftover)


def _create(path: Path, temporary: Path, data: bytes, filesystem: FileSystem) -> None:
    try:
        write_new(temporary, data, filesystem)
    except OSError as error:
        raise from_os_error(error, path, "writing the new file beside it", state="old") from error


def _write_all(descriptor: int, data: bytes, filesystem: FileSystem) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[filesystem.write(descriptor, rest[:_CHUNK]) :]


def _dress(temporary: Path, facts: os.stat_result, filesystem: FileSystem) -> bool:
    """Give the new file the old one's owner and mode; false where replacing would lose something."""
    if facts.st_nlink > 1:
        return False
    try:
        if sys.platform != "win32":
            made = filesystem.stat(temporary)
            if (made.st_uid, made.st_gid) != (facts.st_uid, facts.st_gid):
                filesystem.chown(temporary, facts.st_uid, facts.st_gid)
            filesystem.chmod(temporary, stat.S_IMODE(facts.st_mode))
    except OSError:
        return False
    return True


def _replace(path: Path, temporary: Path, target: Path, data: bytes, old: bytes, filesystem: FileSystem) -> bool:
    """Put the new file in place; false where this target can only be written over."""
    for delay in (*RETRY_DELAYS, None):
        try:
            filesystem.replace(temporary, target)
            return True
        except OSError as error:
            state = _state(target, data, old, filesystem)
            if state == "new":  # some network shares report a failure for a move that they have made
                return True
            if error.errno in _CANNOT_REPLACE:
                return False
            held = isinstance(error, PermissionError) or getattr(error, "winerror", None) in _SHARING_ERRORS
            if not held:
                raise from_os_error(error, path, "putting the new file in place", state=state) from error
            if delay is None:
                raise Busy(
                    path,
                    "another program holds the file, or you may not change its folder; "
                    "close editors and the voice application, wait for the virus scanner, then try again",
                    state=state,
                ) from error
            filesystem.sleep(delay)
    raise AssertionError("the last try returns or raises")


def _overwrite(path: Path, target: Path, data: bytes, old: bytes, filesystem: FileSystem) -> None:
    try:
        _pour(target, data, filesystem)
    except OSError as error:
        with suppress(OSError):
            _pour(target, old, filesystem)
        raise from_os_error(error, path, "writing over it", state=_state(target, data, old, filesystem)) from error


def _pour(target: Path, data: bytes, filesystem: FileSystem) -> None:
    descriptor = filesystem.open_existing(target)
    try:
        _write_all(descriptor, data, filesystem)
        filesystem.truncate(descriptor, len(data))
        filesystem.sync(descriptor)
    finally:
        filesystem.close(descriptor)


def _state(target: Path, data: bytes, old: bytes, filesystem: FileSystem) -> str:
    try:
        found = filesystem.read(target)
    except FileNotFoundError:
        return "missing"
    except OSError:
        return "other"
    return "new" if found == data else "old" if found == old else "other"
