"""Ends a process with everything it started, on both platforms."""

import os
import signal
import subprocess
import sys
import time

import psutil

if sys.platform == "win32":
    CREATION_FLAGS = subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP
else:
    CREATION_FLAGS = 0
"""`Popen` flags: a process group of its own (POSIX: `start_new_session`), and no console window that flashes up."""


_KILLED = 1.0


def is_alive(process: psutil.Process) -> bool:
    """Whether it runs; a zombie does not, whoever is to read its exit code."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def terminate(process: "subprocess.Popen[bytes]") -> None:
    """Asks the process, and on POSIX its whole group, to end."""
    if sys.platform == "win32":
        process.terminate()
    else:
        _signal_group(process.pid, signal.SIGTERM)


def kill_tree(process: "subprocess.Popen[bytes]", known: list[psutil.Process]) -> None:
    """Kills the process, its group, and those in `known`. Never raises or waits long."""
    if sys.platform != "win32":
        _signal_group(process.pid, signal.SIGKILL)
    try:
        process.kill()
    except OSError:
        pass
    for victim in known:
        try:
            victim.kill()  # psutil compares creation times: a reused pid is never hit
        except psutil.Error:
            pass
    deadline = time.monotonic() + _KILLED
    while any(is_alive(victim) for victim in known) and time.monotonic() < deadline:
        time.sleep(0.01)


def wait_bounded(process: "subprocess.Popen[bytes]", seconds: float) -> int | None:
    """The exit code, or None when it still runs after `seconds`: on Windows `Popen.wait` may never return."""
    deadline = time.monotonic() + seconds
    while (code := process.poll()) is None and time.monotonic() < deadline:
        time.sleep(0.01)
    return code


if sys.platform != "win32":

    def _signal_group(pid: int, number: int) -> None:
        try:
            os.killpg(pid, number)
        except (ProcessLookupError, PermissionError):
            pass
