"""What waits in a pipe that nobody reads, and a pipe as small as on Windows."""

import sys

WINDOWS_CAPACITY = 4096
"""Bytes that a pipe of `CreatePipe` without a size holds: those of the host's children, and of ours on Windows."""

if sys.platform == "win32":
    import ctypes
    import msvcrt
    from ctypes import wintypes

    def narrow(descriptor: int) -> None:
        """Nothing to do: it is small already."""
        del descriptor

    def waiting(descriptor: int) -> int:
        """The bytes in the pipe; 0 where it is broken and empty. Blocks while another thread reads the pipe."""
        kernel32 = ctypes.WinDLL("kernel32")
        pointers = [wintypes.LPVOID, wintypes.DWORD, wintypes.LPVOID, wintypes.LPVOID, wintypes.LPVOID]
        kernel32.PeekNamedPipe.argtypes = [wintypes.HANDLE, *pointers]
        count = wintypes.DWORD(0)
        kernel32.PeekNamedPipe(msvcrt.get_osfhandle(descriptor), None, 0, None, ctypes.byref(count), None)
        return count.value

else:
    import fcntl
    import struct
    import termios

    def narrow(descriptor: int) -> None:
        """Makes it as small as on Windows, where the system can (Linux, fcntl(2): F_SETPIPE_SZ)."""
        if sys.platform == "linux":
            try:
                fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, WINDOWS_CAPACITY)
            except OSError:  # more than that is in it already
                pass

    def waiting(descriptor: int) -> int:
        """The bytes in the pipe."""
        answer = fcntl.ioctl(descriptor, termios.FIONREAD, b"\0" * 4)
        return struct.unpack("i", answer)[0]
