"""What a dead child's last words say: `faulthandler`'s headline, the Python line it died in, the native module."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PureWindowsPath

_HEADLINE = re.compile(r"(?:Windows fatal exception|Fatal Python error): ?(.+)|^Timeout \(.+\)!")
_FRAME = re.compile(r'File "(?P<file>.+)", line (?P<line>\d+) in (?P<function>\S+)')
_C_FRAME = re.compile(r'Binary file "(?P<file>[^"]*)"')
_WINDOWS_MODULE = re.compile(
    r"(?:Faulting module (?:name|path)|fault(?:ing)? in)[:\s]+(?P<file>[^\s,;]+)", re.IGNORECASE
)
_NEVER_THE_CULPRIT = ("libc.so", "libpthread", "ld-linux", "libpython", "python3", "ntdll.dll", "kernelbase.dll")


@dataclass(frozen=True, slots=True)
class LastWords:
    """What is known of a death beyond its exit code; None where nothing is.

    Attributes:
        fatal: `access violation`, `Segmentation fault`, `Aborted` as `faulthandler` calls it.
        frame: `conv.py:310 in _conv_forward`, the innermost Python line of the thread that died.
        module: the native library, where the system or a C stack names one.
    """

    fatal: str | None = None
    frame: str | None = None
    module: str | None = None


def last_words(lines: Iterable[str]) -> LastWords:
    """Reads stderr lines; only what follows the last headline counts.

    Python names the crashing library itself from 3.14 on (`Current thread's C stack trace`); before that only a
    Windows report that quotes "Faulting module name" does.
    """
    fatal = frame = module = None
    in_thread = False
    for line in lines:
        if match := _HEADLINE.search(line):
            fatal, frame, in_thread = (match[1] or "hang").strip(), None, False
        elif line.startswith(("Current thread", "Thread ")):
            in_thread = line.startswith("Current thread") or fatal == "hang"
        elif (match := _FRAME.search(line)) and in_thread and frame is None:
            frame = f"{_name(match['file'])}:{match['line']} in {match['function']}"
        elif match := _C_FRAME.search(line) or _WINDOWS_MODULE.search(line):
            name = _name(match["file"])
            if module is None and not name.lower().startswith(_NEVER_THE_CULPRIT):
                module = name
    return LastWords(fatal, frame, module)


def _name(path: str) -> str:
    """The last part of a path of either system."""
    return PureWindowsPath(path).name or path
