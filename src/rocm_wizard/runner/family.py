"""What a child has started, remembered while it lives: once it is gone, nobody can tell whose the orphans are."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import psutil

from rocm_wizard.runner import tree
from rocm_wizard.runner.job import Job

MARK = "ROCM_WIZARD_FAMILY"
"""The variable by which a child hands a word of its own on to all that it starts, wherever they go."""

_PERIOD = 1.0
_POLL = 0.05
_CONSOLE = "conhost.exe"
"""Serves the console of its clients and goes with the last of them: Windows starts it, not the child."""
_SERVERS = frozenset(
    ("pulseaudio", "pipewire", "pipewire-pulse", "wireplumber", "jackd", "dbus-daemon", "gpg-agent", "ssh-agent")
)
"""Serve the whole desktop, whoever needed them first and so happened to start them."""


class Family:
    """The processes below one child.

    A process can leave its parent, its session and its group. It is found if it was seen below the child, is in the
    child's session (POSIX) or job (Windows), or was started with the child's `word` in its environment (Linux).
    """

    def __init__(self, process: "subprocess.Popen[bytes]", word: str) -> None:
        self._pid = process.pid
        self._word = word
        self._looked = time.monotonic()
        self._period = _PERIOD
        self._seen: set[psutil.Process] = set()
        self._lock = threading.Lock()  # the end of the wizard may come while another thread talks to the child
        self._job = Job()
        self._in_job = self._job.take(process.pid)
        try:
            self._child: psutil.Process | None = psutil.Process(process.pid)
        except psutil.Error:  # gone already
            self._child = None
        for descendant in self.look():  # started before the job was there: a venv's python.exe on Windows starts python
            if self._in_job:
                self._job.take(descendant.pid)

    def look(self) -> set[psutil.Process]:
        """Remembers what is below the child, and below what was seen before; gives those that live.

        psutil compares creation times: a process whose number another one has now is not taken for it.
        """
        with self._lock:
            self._looked = time.monotonic()
            seen = {process for process in self._seen if tree.is_alive(process)}
            covered: set[psutil.Process] = set()
            for root in [self._child, *seen]:
                if root is not None and root not in covered:
                    covered.update(_below(root))
            self._seen = seen | covered
            return self._seen

    def watch(self) -> None:
        """The child is about to leave: looks now, and at every chance from now on."""
        self._period = 0.0
        self.look()

    def look_if_due(self) -> None:
        """Looks every second. A look takes a millisecond or so."""
        if time.monotonic() - self._looked >= self._period:
            self.look()

    def living(self) -> list[psutil.Process]:
        """All of the family but the child itself and servers of the desktop, as far as it lives."""
        found = set(self.look())
        for pid in {*self._job.members(), *_session(self._pid), *_marked(self._word)}:
            try:
                found.add(psutil.Process(pid))
            except psutil.Error:
                continue
        others = (process for process in found if process.pid != self._pid and tree.is_alive(process))
        return [process for process in others if _name(process) not in _SERVERS]

    def outlasting(self, ends: float) -> list[psutil.Process]:
        """Those that are still there at `ends` (`time.monotonic()`); none as soon as none is left."""
        while left := [process for process in self.living() if _name(process) != _CONSOLE]:
            while left and time.monotonic() < ends:
                time.sleep(_POLL)
                left = [process for process in left if tree.is_alive(process)]
            if left:
                break
        return left

    def close(self) -> None:
        """Lets go of the job, which ends what is still in it."""
        self._job.close()


def names(processes: Iterable[psutil.Process]) -> list[str]:
    """Their programs' names, in order, without what they were started with."""
    return sorted(_name(process) for process in processes)


def _name(process: psutil.Process) -> str:
    try:
        return process.name()
    except psutil.Error:
        return "?"


def _below(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.children(recursive=True)
    except (psutil.Error, OSError):
        return []


def _session(leader: int) -> Iterator[int]:
    """The processes of the session that `leader` began; its number is not given away while one of them lives."""
    if sys.platform != "win32":
        for pid in psutil.pids():
            try:
                if os.getsid(pid) == leader:
                    yield pid
            except OSError:
                continue


def _marked(word: str) -> Iterator[int]:
    """The processes that were started with the mark (proc(5): a process's first environment, to its own user)."""
    if sys.platform == "linux":
        mark = f"{MARK}={word}\0".encode("ascii")
        for pid in psutil.pids():
            try:
                if mark in Path(f"/proc/{pid}/environ").read_bytes():
                    yield pid
            except OSError:
                continue
