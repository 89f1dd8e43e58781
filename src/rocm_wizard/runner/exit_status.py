"""What a child's exit code means, in words: NTSTATUS names on Windows, signal names elsewhere."""

import signal
import sys
import tomllib
from dataclasses import dataclass
from functools import cache

from rocm_wizard.assets import asset


@dataclass(frozen=True, slots=True)
class ExitMeaning:
    """An exit code's name and sentence. `crashed`: native code died, as opposed to a program that chose its code."""

    code: int | None
    name: str
    meaning: str
    crashed: bool

    def __str__(self) -> str:
        return f"{self.name} ({self.meaning})" if self.meaning else self.name


@cache
def _windows_codes() -> dict[int, tuple[str, str]]:
    with asset("ntstatus.toml").open("rb") as file:
        rows = tomllib.load(file)["code"]
    return {int(row["hex"], 16): (row["name"], row["meaning"]) for row in rows}


def explain_exit(code: int | None) -> ExitMeaning:
    """Explains a `returncode` of either platform.

    Negative small numbers are POSIX signals (Python's convention); codes from 0x40000000 up, in signed or unsigned
    form, are Windows statuses.
    """
    if code is None:
        return ExitMeaning(None, "still running", "it survived every attempt to end it", True)
    if -64 <= code < 0:
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        return ExitMeaning(code, name, _SIGNALS.get(name, "ended by a signal"), name not in _ASKED_TO_END)
    unsigned = code & 0xFFFFFFFF
    if unsigned >= 0x40000000:
        name, meaning = _windows_codes().get(unsigned, ("unknown status", ""))
        return ExitMeaning(code, f"0x{unsigned:08X} {name}", meaning, name != "STATUS_CONTROL_C_EXIT")
    small = _SMALL | _SMALL_ON_WINDOWS if sys.platform == "win32" else _SMALL
    return ExitMeaning(code, f"exit code {code}", small.get(code, ""), False)


_ASKED_TO_END = {"SIGTERM", "SIGINT", "SIGHUP"}
_SIGNALS = {
    "SIGSEGV": "segmentation fault: native code touched memory that is not its own",
    "SIGABRT": "native code gave up (abort)",
    "SIGILL": "illegal instruction: the processor lacks one the program uses",
    "SIGBUS": "bus error: a mapped file or memory page could not be read",
    "SIGFPE": "arithmetic fault in native code",
    "SIGTRAP": "trap in native code",
    "SIGKILL": "killed from outside, for want of memory or by somebody",
    "SIGTERM": "asked to end",
    "SIGINT": "interrupted",
}
_SMALL = {
    0: "",
    1: "an uncaught error, or ended from outside",
    2: "wrong command line or script not found",
    127: "command or shared library not found",
}
_SMALL_ON_WINDOWS = {
    3: "abort() of the C runtime, for instance two copies of OpenMP",
    139: "access violation as Git Bash shows it",
}
