"""Runs the command as a person would, and watches its process."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

COMMAND = [sys.executable, "-m", "rocm_wizard"]
MIB = 2**20


@dataclass(slots=True)
class Done:
    """An ended command; `peak` is its own largest resident memory in bytes, `torch` whether it had it."""

    code: int
    out: str
    err: str
    peak: int
    torch: bool


def environment(changes: Mapping[str, str] | None = None) -> dict[str, str]:
    """This process's environment without what would change the face."""
    return {k: v for k, v in os.environ.items() if k not in ("CI", "ACCESSIBLE", "NO_COLOR")} | dict(changes or {})


def run(*arguments: str, env: Mapping[str, str] | None = None, timeout: float = 240) -> Done:
    """Runs to the end with no stdin."""
    with started(*arguments, env=env) as (process, watch):
        out, err = process.communicate(timeout=timeout)
    return Done(process.returncode, out.decode("utf-8"), err.decode("utf-8"), watch.peak, watch.torch)


@contextmanager
def started(
    *arguments: str, env: Mapping[str, str] | None = None
) -> Iterator[tuple["subprocess.Popen[bytes]", "Watch"]]:
    """A running command, killed at the end if it still runs."""
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(env) if env is not None else environment(),
    )
    watch = Watch(process.pid)
    watch.start()
    try:
        yield process, watch
    finally:
        if process.poll() is None:
            process.kill()
            process.wait(10)
        watch.join(5)


class Watch(threading.Thread):
    """Samples a process's memory and loaded libraries until it ends."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._process = psutil.Process(pid)
        self.peak = 0
        self.torch = False

    def run(self) -> None:
        """Samples ten times a second."""
        try:
            while self._process.is_running() and self._process.status() != psutil.STATUS_ZOMBIE:
                self.peak = max(self.peak, self._process.memory_info().rss)
                if sys.platform == "linux":
                    maps = Path(f"/proc/{self._process.pid}/maps").read_text(encoding="utf-8", errors="replace")
                    self.torch = self.torch or "libtorch" in maps
                time.sleep(0.1)
        except (psutil.Error, OSError):
            return


def only_run(folder: Path) -> Path:
    """The one run folder in a runs folder."""
    (found,) = [path for path in folder.iterdir() if path.is_dir()]
    return found
