"""What can go wrong with a `.env`, as types. Every message names the file, never a value."""

import errno
from pathlib import Path


class EnvFileError(Exception):
    """The `.env` at `path` could not be read, planned for or written.

    `state` says what the file holds after the failure, read back from the disk: `old`, `new`, `other`, `missing`,
    or `""` where the failure came before any write.
    """

    code = "failed"

    def __init__(self, path: Path, message: str, *, state: str = "") -> None:
        super().__init__(f"{path}: {message}")
        self.path = path
        self.message = message
        self.state = state


class Unreadable(EnvFileError):
    """The file exists and cannot be read (rights, a device, too large)."""

    code = "unreadable"


class NotText(EnvFileError):
    """The bytes are UTF-16 or UTF-32, which no `.env` reader accepts."""

    code = "not_text"

    def __init__(self, path: Path, encoding: str) -> None:
        super().__init__(path, f"the file is saved as {encoding}; save it as UTF-8 first")
        self.encoding = encoding


class IsDirectory(EnvFileError):
    """A folder has the file's name."""

    code = "is_directory"


class DanglingLink(EnvFileError):
    """The file is a symbolic link that leads nowhere, or round in a circle."""

    code = "dangling_link"


class Stale(EnvFileError):
    """The file is not the one that was planned for."""

    code = "stale"


class ReadOnly(EnvFileError):
    """The file or its folder is marked read-only, or we have no right to change it."""

    code = "read_only"


class Busy(EnvFileError):
    """Another program holds the file; several tries did not help."""

    code = "busy"


class DiskFull(EnvFileError):
    """No room for the new file beside the old one."""

    code = "disk_full"


class WriteFailed(EnvFileError):
    """Any other refusal of the operating system."""

    code = "write_failed"


class VerificationFailed(EnvFileError):
    """The planned text would not read back as planned, so nothing was written. `key` is the first that differs."""

    code = "verification_failed"

    def __init__(self, path: Path, key: str, message: str) -> None:
        super().__init__(path, f"{key}: {message}")
        self.key = key


class BadKey(EnvFileError):
    """A wanted key that not every reader accepts."""

    code = "bad_key"

    def __init__(self, path: Path, key: str, message: str) -> None:
        super().__init__(path, message)
        self.key = key


class BadValue(EnvFileError):
    """A wanted value that a `.env` cannot carry. The message names the character, not the value."""

    code = "bad_value"

    def __init__(self, path: Path, key: str, message: str) -> None:
        super().__init__(path, f"the value for {key} {message}")
        self.key = key


class NothingToUndo(EnvFileError):
    """No backup of ours lies beside the file."""

    code = "nothing_to_undo"


_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_DENIED = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})


def from_os_error(error: OSError, path: Path, doing: str, *, state: str = "") -> EnvFileError:
    """The typed form of what the operating system said while we were `doing` something to `path`."""
    reason = error.strerror or type(error).__name__
    if error.errno in _FULL:
        return DiskFull(path, f"{doing}: no room left on the disk", state=state)
    if error.errno in _DENIED:
        return ReadOnly(path, f"{doing}: {reason}; check that the file and its folder may be changed", state=state)
    return WriteFailed(path, f"{doing}: {reason}", state=state)
