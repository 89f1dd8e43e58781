"""One crash has many spellings: every form of an exit code brought to the numbers that it can mean.

A Windows status stands for itself, unsigned; a POSIX signal is a small negative number. A signal also stands for the
Windows statuses that the same fault gives there, so that an entry about `0xC0000005` recognises a SIGSEGV. The other
way round it does not: a status is the more exact of the two.

Sources: MS-ERREF 2.3.1 for the statuses (`assets/ntstatus.toml`); Python's `subprocess` gives the unsigned status on
Windows and the negative signal elsewhere; PowerShell shows the signed form (ROCm/TheRock#3892), Git Bash 128 plus the
signal (ROCm/TheRock#4958).
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache

from rocm_wizard.assets import asset

_SIGNALS = {"SIGILL": 4, "SIGTRAP": 5, "SIGABRT": 6, "SIGBUS": 7, "SIGFPE": 8, "SIGKILL": 9, "SIGSEGV": 11}
_WINDOWS_KIN: dict[int, tuple[int, ...]] = {
    4: (0xC000001D,),
    5: (0x80000003,),
    6: (0xC0000409, 0xC0000374),
    7: (0xC0000006,),
    8: (0xC0000094,),
    11: (0xC0000005, 0xC00000FD),
}
_LOWEST_STATUS = 0x40000000
_SHELL_BASE = 128
_CODE_FACTS = ("code", "exit_code", "returncode")
_WORDS = re.compile(r"0x[0-9a-f]{8}(?![0-9a-f])|(?<![\w-])-?\d{9,10}(?!\d)|\b(?:STATUS|SIG)_?[A-Z_]+\b", re.IGNORECASE)
_PHRASES = {"access violation": 0xC0000005, "segmentation fault": -11, "illegal instruction": -4}


@cache
def _statuses() -> dict[str, int]:
    """Windows statuses by upper-case name."""
    with asset("ntstatus.toml").open("rb") as file:
        return {row["name"].upper(): int(row["hex"], 16) for row in tomllib.load(file)["code"]}


def forms_of_number(code: int) -> frozenset[int]:
    """What a numeric exit code can mean, whoever reported it."""
    if -64 <= code < 0:
        return frozenset((code, *_WINDOWS_KIN.get(-code, ())))
    if _SHELL_BASE < code <= _SHELL_BASE + 64:
        return forms_of_number(_SHELL_BASE - code) | {code}
    unsigned = code & 0xFFFFFFFF
    return frozenset((unsigned,)) if unsigned >= _LOWEST_STATUS else frozenset((code,))


def exit_forms(text: str) -> frozenset[int]:
    """What one written exit code means: `0xC0000005`, `-1073741819`, `139`, `SIGSEGV`, `STATUS_ACCESS_VIOLATION`.

    Raises:
        ValueError: the text is no exit code.
    """
    name = text.strip().upper()
    if name in _SIGNALS:
        return forms_of_number(-_SIGNALS[name])
    if name in _statuses():
        return frozenset((_statuses()[name],))
    return forms_of_number(int(name, 16 if name.startswith("0X") else 10))


def exits_in(facts: Mapping[str, object], texts: Iterable[str]) -> frozenset[int]:
    """All exit codes that a finding's facts speak of; in running text only known ones count."""
    found: set[int] = set()
    for name in _CODE_FACTS:
        value = facts.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            found |= forms_of_number(value)
    for text in texts:
        for word in _WORDS.findall(text):
            found |= _known(word)
        lowered = text.casefold()
        for phrase, code in _PHRASES.items():
            if phrase in lowered:
                found |= forms_of_number(code)
    return frozenset(found)


def _known(word: str) -> frozenset[int]:
    try:
        forms = exit_forms(word)
    except ValueError:
        return frozenset()
    known = set(_statuses().values())
    return forms if any(form < 0 or form in known for form in forms) else frozenset()
