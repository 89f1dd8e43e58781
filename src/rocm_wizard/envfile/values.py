"""Read values the way python-dotenv 1.2.3 does, in linear time.

python-dotenv copies the whole environment once for each key while it expands `${...}`, which is quadratic; this reader
is the same dialect without the copy. Property tests hold it to python-dotenv.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from rocm_wizard.envfile.errors import Unreadable
from rocm_wizard.envfile.tokens import Kind, Statement, universal_newlines

if TYPE_CHECKING:
    from rocm_wizard.envfile.document import Document

_DOUBLE_ESCAPE = re.compile(r"\\([\\'\"abfnrtv])")
_SINGLE_ESCAPE = re.compile(r"\\([\\'])")
_ESCAPED = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_NAME_END = re.compile(r"[}:]")

# References can double a value per line; no operating system takes a variable of this length.
_LONGEST_EXPANSION = 1 << 20


def decode(raw: str) -> str:
    """The value that a raw value (with its quotes, if any) stands for; `${...}` stays as it is."""
    if not raw or raw[0] not in "'\"":
        return raw
    inner = universal_newlines(raw[1:-1])
    if "\\" not in inner:
        return inner
    escape = _DOUBLE_ESCAPE if raw[0] == '"' else _SINGLE_ESCAPE
    return escape.sub(lambda match: _ESCAPED.get(match[1], match[1]), inner)


def value_of(text: str, statement: Statement) -> str | None:
    """The decoded value of an assignment; `None` for a key without `=`."""
    if statement.kind is Kind.BARE:
        return None
    return decode(text[statement.value_start : statement.value_end])


def references(value: str) -> Iterator[tuple[int, int, str, str]]:
    """Each `${NAME}` and `${NAME:-default}` in `value`: start, end, name, default."""
    search = 0
    while (start := value.find("${", search)) >= 0:
        stop = _NAME_END.search(value, start + 2)
        if stop is None:
            return
        name = value[start + 2 : stop.start()]
        if stop[0] == "}":
            search = stop.end()
            yield start, search, name, ""
        elif value.startswith(":-", stop.start()):
            close = value.find("}", stop.start() + 2)
            if close < 0:
                return
            search = close + 1
            yield start, search, name, value[stop.start() + 2 : close]
        else:
            # Any `${` before this colon would run into the same colon.
            search = stop.end()


def expand(value: str, lookup: Callable[[str, str], str]) -> str:
    """`value` with each reference replaced by `lookup(name, default)`."""
    if "${" not in value:
        return value
    parts: list[str] = []
    cursor = 0
    for start, end, name, default in references(value):
        parts += value[cursor:start], lookup(name, default)
        cursor = end
    parts.append(value[cursor:])
    return "".join(parts)


def bindings(document: "Document") -> list[tuple[str, str | None]]:
    """Every `(key, value)` in file order, duplicates included, nothing expanded."""
    text = document.text
    return [
        (statement.key, value_of(text, statement))
        for statement in document.statements
        if statement.kind is Kind.ASSIGNMENT or statement.kind is Kind.BARE
    ]


def read_values(
    document: "Document", environment: Mapping[str, str] | None = None, *, override: bool = False
) -> dict[str, str | None]:
    """What python-dotenv reads from the file: last assignment wins, `${...}` expanded in file order.

    With `override` off (as the host calls it) a name in `environment` beats the file inside `${...}`; with it on, the
    file's earlier lines beat `environment`. A key without `=` has the value `None`.

    Raises:
        Unreadable: references blow a value up beyond 1 MiB.
    """
    return expand_all(document.path, bindings(document), environment or {}, override=override)


def expand_all(
    path: Path, pairs: list[tuple[str, str | None]], environment: Mapping[str, str], *, override: bool = False
) -> dict[str, str | None]:
    """`read_values` of bindings that are already there."""
    values: dict[str, str | None] = {}

    def lookup(name: str, default: str) -> str:
        first, second = (values, environment) if override else (environment, values)
        if name in first:
            return first[name] or ""
        return second.get(name, default) or ""

    for key, value in pairs:
        if value is not None and "${" in value:
            expanded = expand(value, lookup)
            if len(expanded) > max(_LONGEST_EXPANSION, len(value)):
                raise Unreadable(path, f"the references in {key} expand to more than 1 MiB")
            value = expanded
        values[key] = value
    return values
