"""Which parts of a command line nobody may be told."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from rocm_wizard.runner.hidden import secret_values

_PARTS = re.compile(r"[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])")
_SECRET_PART = re.compile(
    r".*(?:token|key|secret|password|passwd|pwd|credential)s?|pass|passphrase|auth|authorization|bearer|cookies?|dsn"
    r"|webhook|private"
)
_HARMLESS = frozenset(("no", "pad", "eos", "bos", "unk", "monkey", "hotkey", "sort", "env"))
_HARMLESS_END = frozenset(
    ("type", "mode", "url", "dtype", "limit", "count", "path", "file", "name", "bits", "cache", "size", "id", "length")
)
_WORDS = re.compile(r"[\s'\"{}\[\](),;&?]+")
_WHOLE = re.compile(r"-{0,2}(?P<name>[\w.-]{1,80})=(?P<value>.+)", re.DOTALL)
_HINT = r"(?:token|key|secret|pass|pwd|credential|auth|bearer|cookie|dsn|webhook)"
_STATED = re.compile(
    rf"(?P<name>[\w.-]{{0,40}}{_HINT}[\w.-]{{0,40}})(?:"
    r"\\?[\"']?\]?\s{0,4}[=:]\s{0,4}[fbru]?\\?[\"'](?P<quoted>[^\"'\\]{1,512})"  # in code and in JSON
    r"|\s{0,4}[=:]\s{0,4}(?:Bearer|Basic|Token)\s+(?P<scheme>\S{1,512})"  # in a header
    r"|=(?P<query>[^\s&#\"']{1,512}))",  # in an address
    re.IGNORECASE,
)
_INNER = re.compile(rf"--?(?P<name>[\w-]{{0,40}}{_HINT}[\w-]{{0,40}})[ =](?P<value>[^\s\"']{{1,512}})", re.IGNORECASE)
_OPTION = re.compile(r"-{1,2}[A-Za-z_]")
_FLAG = re.compile(r"-{1,2}[A-Za-z][A-Za-z_-]*")
_COUNT = re.compile(r"[-+.\d]{1,8}")
_LONGEST = 1 << 15
"""All that a command line of Windows can hold."""


def argument_secrets(argv: Sequence[str], folder: Path) -> frozenset[str]:
    """The secrets on a command line: behind a name that says so, or by their looks.

    `folder`: where it is started; the name of a file there is no secret, whatever flag stands before it.
    """
    found: set[str] = set()
    for option, value in pairwise(argv):
        if _OPTION.match(option) and "=" not in option and not _FLAG.fullmatch(value) and not _is_file(folder, value):
            found |= _of(option, value)
    for argument in argv[1:]:
        argument = argument[:_LONGEST]
        for word in {*_WORDS.split(argument), *argument.split()}:
            if not _FLAG.match(word):
                found |= secret_values({"": word})
        for name, value in _stated(argument):
            found |= _of(name, value)
    return frozenset(found)


def _stated(argument: str) -> Iterator[tuple[str, str]]:
    """Each name with its value: of the whole argument, and within it."""
    whole = _WHOLE.fullmatch(argument)
    if whole is not None:
        yield whole["name"], whole["value"]
    for one in _STATED.finditer(argument):
        value = one["quoted"] or one["scheme"]
        if value is None and argument[max(0, one.start() - 1) : one.start()] in ("?", "&"):
            value = one["query"]
        if value:
            yield one["name"], value
    if " " in argument:
        yield from ((one["name"], one["value"]) for one in _INNER.finditer(argument))


def _of(name: str, value: str) -> frozenset[str]:
    """The value, if a part of the name says that it is a secret."""
    parts = [part.lower() for part in _PARTS.split(name) if part]
    secret = [part for part in parts if _SECRET_PART.fullmatch(part)]
    if not secret or _HARMLESS & set(parts) or parts[-1] in _HARMLESS_END:
        return frozenset()
    if _COUNT.fullmatch(value) and all(part.endswith("s") and part != "pass" for part in secret):  # max-tokens
        return frozenset()
    return secret_values({"secret": value})


def _is_file(folder: Path, value: str) -> bool:
    try:
        return (folder / value).exists()
    except (OSError, ValueError):  # too long or unfit for a name
        return False
