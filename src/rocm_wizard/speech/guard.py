"""Keeps descriptor 1 for the protocol alone.

Libraries print, and native code writes to descriptor 1 without asking Python. A sidecar therefore takes a private
duplicate of descriptor 1 before it imports anything heavy, and points descriptor 1 itself at standard error.
"""

import errno
import json
import os
import sys
from collections.abc import Mapping
from typing import BinaryIO

STDOUT_FD = 1
STDERR_FD = 2


class ProtocolWriter:
    """Writes one ASCII-escaped JSON object a line and flushes after each."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def send(self, message: Mapping[str, object]) -> None:
        """Send one message.

        Raises ValueError for NaN or infinity anywhere in it (JSON has neither), BrokenPipeError when nobody reads.
        """
        line = json.dumps(message, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
        try:
            self._stream.write(line.encode("ascii") + b"\n")
            self._stream.flush()
        except OSError as error:
            if error.errno == errno.EINVAL:  # what Windows says of a pipe that nobody reads (python/cpython#63811)
                raise BrokenPipeError(errno.EPIPE, "nobody reads the protocol pipe") from error
            raise


def claim_stdout() -> ProtocolWriter:
    """Move the protocol to a private descriptor and send everything else that goes to stdout to stderr.

    Call it once, first thing in the program. Text that waits in `sys.stdout`'s buffer ends on stderr too.
    """
    if not _is_open(STDERR_FD):
        # A parent may start us without stderr; printing must then vanish instead of failing.
        null = os.open(os.devnull, os.O_WRONLY)
        if null != STDERR_FD:  # the lowest free descriptor, which it may well be
            os.dup2(null, STDERR_FD)
            os.close(null)
        sys.stderr = open(STDERR_FD, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    wire = os.dup(STDOUT_FD)
    os.set_inheritable(wire, False)
    os.dup2(STDERR_FD, STDOUT_FD)
    if sys.stdout is not None:
        sys.stdout.flush()
    sys.stdout = sys.stderr
    if sys.platform == "win32":
        _follow_on_windows(wire)
    return ProtocolWriter(os.fdopen(wire, "wb"))


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def _follow_on_windows(wire: int) -> None:
    if sys.platform != "win32":  # the type checker reads the calls below on Windows only
        return
    import ctypes
    import msvcrt

    msvcrt.setmode(wire, os.O_BINARY)
    # A DLL with a C runtime of its own, or one that calls WriteFile, asks Windows for the handle and not the CRT.
    std_output_handle = -11
    ctypes.windll.kernel32.SetStdHandle(std_output_handle, ctypes.c_void_p(msvcrt.get_osfhandle(STDOUT_FD)))
