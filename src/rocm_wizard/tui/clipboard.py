"""Where a copied command can go from here."""

import os
import sys
from collections.abc import Callable, Mapping

_CF_UNICODETEXT = 13
_GMEM_MOVEABLE = 0x0002
_TRIES = 5


def is_remote(environment: Mapping[str, str]) -> bool:
    """Whether the person's clipboard is on another machine (SSH). RDP shares its clipboard with the session."""
    return any(environment.get(name) for name in ("SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY"))


def takes_osc52(environment: Mapping[str, str]) -> bool:
    """Whether the terminal may understand OSC 52; the ones known not to are Apple's and the bare consoles."""
    if environment.get("TERM_PROGRAM") == "Apple_Terminal" or environment.get("TERM") in ("dumb", "linux"):
        return False
    if sys.platform == "win32":  # the old console window ignores it; terminals that do not name themselves are it
        return bool(environment.get("WT_SESSION") or environment.get("TERM_PROGRAM") or is_remote(environment))
    return True


def copy(text: str, osc52: Callable[[str], object], environment: Mapping[str, str] = os.environ) -> str:
    """Copies and says where to: `windows`, `terminal` (sent; no terminal confirms it), or `nowhere`."""
    if sys.platform == "win32" and not is_remote(environment) and _copy_windows(text):
        return "windows"
    if takes_osc52(environment):
        osc52(text)
        return "terminal"
    return "nowhere"


if sys.platform == "win32":
    import ctypes
    import time
    from ctypes import wintypes

    def _copy_windows(text: str) -> bool:
        """Another program may hold the clipboard for a moment: a few tries, then not."""
        user32, kernel32 = ctypes.WinDLL("user32"), ctypes.WinDLL("kernel32")
        kernel32.GlobalAlloc.restype = kernel32.GlobalLock.restype = wintypes.LPVOID
        kernel32.GlobalAlloc.argtypes = [wintypes.UINT, ctypes.c_size_t]
        kernel32.GlobalLock.argtypes = kernel32.GlobalUnlock.argtypes = kernel32.GlobalFree.argtypes = [wintypes.LPVOID]
        user32.OpenClipboard.argtypes = [wintypes.HWND]
        user32.SetClipboardData.argtypes = [wintypes.UINT, wintypes.LPVOID]
        user32.SetClipboardData.restype = wintypes.LPVOID
        for attempt in range(_TRIES):
            if user32.OpenClipboard(None):
                break
            if attempt == _TRIES - 1:
                return False
            time.sleep(0.01)
        try:
            data = text.encode("utf-16-le") + b"\0\0"
            user32.EmptyClipboard()
            memory = kernel32.GlobalAlloc(_GMEM_MOVEABLE, len(data))
            address = kernel32.GlobalLock(memory) if memory else None
            if not address:
                return False
            ctypes.memmove(address, data, len(data))
            kernel32.GlobalUnlock(memory)
            if user32.SetClipboardData(_CF_UNICODETEXT, memory):
                return True  # the memory now belongs to the system
            kernel32.GlobalFree(memory)
            return False
        finally:
            user32.CloseClipboard()

else:

    def _copy_windows(text: str) -> bool:
        del text
        return False
