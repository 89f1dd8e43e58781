"""Read a `.env` from the disk, with all that a later write must know about it."""

import hashlib
import stat
from dataclasses import dataclass
from pathlib import Path

from rocm_wizard.envfile.document import Document
from rocm_wizard.envfile.errors import DanglingLink, EnvFileError, IsDirectory, Unreadable
from rocm_wizard.envfile.filesystem import REAL, FileSystem

# A `.env` is a few kilobytes; anything like this is another file by mistake.
_LARGEST = 256 << 20


@dataclass(frozen=True)
class Fingerprint:
    """What tells one state of a file from another."""

    size: int
    modified_ns: int
    sha256: str


@dataclass(frozen=True)
class Snapshot:
    """One reading of the file that `path` names.

    `target` is the file itself, other than `path` where that is a symbolic link: show it before writing.
    `fingerprint` is `None` for a file that is not there.
    """

    path: Path
    target: Path
    document: Document
    fingerprint: Fingerprint | None

    @property
    def through_link(self) -> bool:
        """Whether `path` is a link to `target`."""
        return self.path != self.target


def take_snapshot(path: Path, filesystem: FileSystem = REAL) -> Snapshot:
    """Read `path`, which may be missing.

    Raises:
        IsDirectory, DanglingLink, Unreadable, NotText: there is something there that is not a `.env`.
    """
    target = find_target(path, filesystem)
    found = read_state(path, target, filesystem)
    if found is None:
        return Snapshot(path, target, Document.missing(path), None)
    data, fingerprint = found
    return Snapshot(path, target, Document.parse(data, path), fingerprint)


def find_target(path: Path, filesystem: FileSystem = REAL) -> Path:
    """The file that `path` leads to: itself, unless it is a symbolic link.

    Raises:
        DanglingLink: the link leads nowhere.
    """
    try:
        if not stat.S_ISLNK(filesystem.lstat(path).st_mode):
            return path
    except (FileNotFoundError, NotADirectoryError):
        return path
    except OSError as error:
        raise _unreadable(path, error) from error
    try:
        return filesystem.resolve(path)
    except FileNotFoundError as error:
        raise DanglingLink(path, f"the link leads to {path.readlink()}, which does not exist") from error
    except (OSError, RuntimeError) as error:
        raise DanglingLink(path, "the link leads round in a circle or cannot be followed") from error


def read_state(path: Path, target: Path, filesystem: FileSystem = REAL) -> tuple[bytes, Fingerprint] | None:
    """The bytes of `target` and their fingerprint; `None` if there is no such file. Errors name `path`.

    Raises:
        IsDirectory, Unreadable: it is not a file, or may not be read.
    """
    try:
        facts = filesystem.stat(target)
        if stat.S_ISDIR(facts.st_mode):
            raise IsDirectory(path, "a folder has this name; rename it, or name another file")
        if not stat.S_ISREG(facts.st_mode):
            raise Unreadable(path, "this is a device or a pipe, not a file")
        if facts.st_size > _LARGEST:
            raise Unreadable(path, f"{facts.st_size} bytes are too many for a .env")
        data = filesystem.read(target)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _unreadable(path, error) from error
    return data, Fingerprint(len(data), facts.st_mtime_ns, hashlib.sha256(data).hexdigest())


def _unreadable(path: Path, error: OSError) -> EnvFileError:
    return Unreadable(path, f"cannot be read: {error.strerror or type(error).__name__}")
