"""The operating-system calls of an atomic write, one method a call, so that a test can make any of them fail."""

import os
import sys
import time
from pathlib import Path

from rocm_wizard.envfile import windows

_BINARY = getattr(os, "O_BINARY", 0) | getattr(os, "O_NOINHERIT", 0) | getattr(os, "O_CLOEXEC", 0)


class FileSystem:
    """The real disk. Errors are the system's own `OSError`."""

    def lstat(self, path: Path) -> os.stat_result:
        """Facts of the path itself; a link is not followed."""
        return path.lstat()

    def stat(self, path: Path) -> os.stat_result:
        """Facts of what the path leads to."""
        return path.stat()

    def resolve(self, path: Path) -> Path:
        """The file that a link leads to; `FileNotFoundError` where it leads nowhere, `OSError` for a circle."""
        return path.resolve(strict=True)

    def read(self, path: Path) -> bytes:
        """The whole content."""
        return path.read_bytes()

    def names(self, folder: Path) -> list[str]:
        """The names in a folder."""
        return [entry.name for entry in folder.iterdir()]

    def create(self, path: Path, mode: int) -> int:
        """Open a file that must not exist yet; nobody but its owner may read it before its mode is widened."""
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, mode)

    def open_existing(self, path: Path) -> int:
        """Open for writing without emptying: Windows refuses to empty a hidden file."""
        return os.open(path, os.O_WRONLY | _BINARY)

    def write(self, descriptor: int, data: bytes | memoryview) -> int:
        """Write some of `data`; the number of bytes that went."""
        return os.write(descriptor, data)

    def truncate(self, descriptor: int, size: int) -> None:
        """Cut the open file to `size` bytes."""
        os.ftruncate(descriptor, size)

    def sync(self, descriptor: int) -> None:
        """Push the open file to the disk."""
        os.fsync(descriptor)

    def close(self, descriptor: int) -> None:
        """Close the open file."""
        os.close(descriptor)

    def chmod(self, path: Path, mode: int) -> None:
        """Set the permission bits."""
        path.chmod(mode)

    def chown(self, path: Path, user: int, group: int) -> None:
        """Set the owner (POSIX)."""
        if sys.platform != "win32":
            os.chown(path, user, group)

    def replace(self, source: Path, target: Path) -> None:
        """Put `source` in `target`'s place in one step. On Windows an existing target's access list is kept."""
        if sys.platform == "win32":
            windows.replace(source, target)
        else:
            source.replace(target)

    def unlink(self, path: Path) -> None:
        """Remove a file."""
        path.unlink()

    def sync_folder(self, folder: Path) -> None:
        """Push a folder's names to the disk; Windows has no such call and needs none."""
        if sys.platform == "win32":
            return
        descriptor = os.open(folder, os.O_RDONLY | _BINARY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def sleep(self, seconds: float) -> None:
        """Wait between two tries."""
        time.sleep(seconds)


REAL = FileSystem()
