"""Which parts of a command line nobody may be told."""

import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from rocm_wizard.runner.hidden import secret_values

_PARTS = re.compile(r"[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])")
_PASSWORDS = frozenset(("password", "passwd", "passphrase", "pass", "pwd", "secret"))
_SECRETS = _PASSWORDS | frozenset(
    ("token", "key", "apikey", "auth", "authorization", "bearer", "credential", "credentials", "cookie", "dsn")
)
_WORDS = re.compile(r"[\s'\"{}\[\](),;&?]+")
_STATED = re.compile(
    r"(?<![\w.])(?=(?P<name>[A-Za-z][\w.-]{0,60})[\"']?\s{0,4}[=:]\s{0,4}[\"']?(?P<scheme>(?:Bearer|Basic)\s+)?"
    r"(?P<value>[^\s\"'{}\[\](),;&]+))"
)
"""Looked for from every word on: the name may stand within the value of another one, as in an address."""
_OPTION = re.compile(r"--[A-Za-z]|-[A-Za-z]$")
_NUMBER = re.compile(r"[-+.\d]{1,8}")


def argument_secrets(argv: Sequence[str], folder: Path) -> frozenset[str]:
    """The secrets on a command line: behind a name that says so, or by their looks.

    `folder`: where it is started; the name of a file there is no secret, whatever flag stands before it.
    """
    found: set[str] = set()
    for option, value in pairwise(argv):
        if _OPTION.match(option) and "=" not in option and not _OPTION.match(value) and not _is_file(folder, value):
            found |= _of(option, value)
    for argument in argv[1:]:
        for word in _WORDS.split(argument):
            found |= secret_values({"": word})
        for stated in _STATED.finditer(argument):
            value = stated["value"]
            # In code a colon stands before a type, and a name may be given to another one.
            if stated["scheme"] or any(map(str.isdigit, value)):
                found |= _of(stated["name"], value)
    return frozenset(found)


def _of(name: str, value: str) -> frozenset[str]:
    """The value, if a part of the name says that it is a secret."""
    parts = {part.lower() for part in _PARTS.split(name)}
    if "no" in parts or not parts & _SECRETS or (_NUMBER.fullmatch(value) and not parts & _PASSWORDS):
        return frozenset()
    return secret_values({"secret": value})


def _is_file(folder: Path, value: str) -> bool:
    try:
        return (folder / value).exists()
    except (OSError, ValueError):  # too long or unfit for a name
        return False
