"""Take a write back: the newest backup in the file's place, or a file that we made removed."""

import hashlib
from contextlib import suppress
from pathlib import Path

from rocm_wizard.envfile.apply import Receipt
from rocm_wizard.envfile.atomic import Method, check_fresh, check_writable, write_file
from rocm_wizard.envfile.backup import backups
from rocm_wizard.envfile.errors import NothingToUndo, Stale, Unreadable, from_os_error
from rocm_wizard.envfile.filesystem import REAL, FileSystem
from rocm_wizard.envfile.snapshot import find_target, read_state


def undo_write(receipt: Receipt, filesystem: FileSystem = REAL) -> Method:
    """Undo the write of `receipt`, bit for bit.

    Raises:
        Stale: the file has been edited since.
        NothingToUndo: the write changed nothing, or its backup is gone or is not the old content.
        EnvFileError: the file cannot be written.
    """
    path = Path(receipt.path)
    if receipt.method is Method.UNCHANGED:
        raise NothingToUndo(path, "nothing was written")
    if receipt.created:
        return _remove(path, receipt.after, filesystem)
    if receipt.backup is None:
        raise NothingToUndo(path, "the write left no backup")
    return _restore(path, Path(receipt.backup), receipt.after, receipt.before, filesystem)


def undo_newest(path: Path, *, written: str | None, filesystem: FileSystem = REAL) -> Method:
    """Put the newest backup beside the file back.

    `written` is the SHA-256 of what the last write left (`Receipt.after`), the guard against later edits; with `None`
    there is no guard: ask the person first.

    Raises:
        Stale, NothingToUndo, EnvFileError: as `undo_write`.
    """
    target = find_target(path, filesystem)
    try:
        found = backups(target, filesystem)
    except OSError as error:
        raise NothingToUndo(path, "its folder cannot be read") from error
    if not found:
        raise NothingToUndo(path, "no backup of it was found beside it")
    return _restore(path, found[-1], written, None, filesystem)


def _restore(path: Path, backup: Path, written: str | None, before: str | None, filesystem: FileSystem) -> Method:
    target = find_target(path, filesystem)
    state = read_state(path, target, filesystem)
    current, fingerprint = state or (b"", None)
    if written is not None and (fingerprint is None or fingerprint.sha256 != written):
        raise Stale(path, "the file was edited after our change; undo would lose that edit")
    try:
        old = filesystem.read(backup)
    except FileNotFoundError as error:
        raise NothingToUndo(path, f"its backup {backup.name} is gone") from error
    except OSError as error:
        raise Unreadable(path, f"its backup {backup.name} cannot be read: {error.strerror}") from error
    if before is not None and hashlib.sha256(old).hexdigest() != before:
        raise NothingToUndo(path, f"its backup {backup.name} is not the content it had before")
    method = write_file(path, target, old, expected=fingerprint, old=current, filesystem=filesystem)
    with suppress(OSError):  # its content is the file's again
        filesystem.unlink(backup)
    return method


def _remove(path: Path, written: str, filesystem: FileSystem) -> Method:
    target = find_target(path, filesystem)
    state = read_state(path, target, filesystem)
    if state is None:
        raise NothingToUndo(path, "the file we made is gone already")
    if state[1].sha256 != written:
        raise Stale(path, "the file was edited after we made it; removing it would lose that edit")
    check_writable(path, target, filesystem)
    check_fresh(path, target, state[1], filesystem)
    try:
        filesystem.unlink(target)
    except OSError as error:
        raise from_os_error(error, path, "removing the file") from error
    with suppress(OSError):
        filesystem.sync_folder(target.parent)
    return Method.REMOVED
