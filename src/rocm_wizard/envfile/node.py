"""What Node's `dotenv` reads from a `.env`, and where that is not what the host reads.

The desktop shell of a voice application is a Node program, and many other tools read a `.env` with the npm package.
Its parser is one regular expression over the whole text, the same in versions 16, 17 and 18; this is the same grammar
with JavaScript's meaning of blank, word character and line. Tests hold it to the package itself.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum

from rocm_wizard.envfile.document import Document
from rocm_wizard.envfile.errors import Unreadable
from rocm_wizard.envfile.tokens import Kind
from rocm_wizard.envfile.values import read_values

LARGEST = 1 << 20
"""Characters. An open quote makes that parser look through the rest of the file once per line."""

_BLANK = r"[\t\n\v\f\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]"
_LINE_START = r"(?:\A|(?<=[\n\r\u2028\u2029]))"
_LINE_END = r"(?=[\n\r\u2028\u2029]|\Z)"
_BLANKS = re.compile(f"{_BLANK}*")
_NEXT_LINE = re.compile(r"[\n\r\u2028\u2029]")
_LINE = re.compile(
    rf"(?:export{_BLANK}+)?([A-Za-z0-9_.-]+)(?:{_BLANK}*={_BLANK}*?|:{_BLANK}+?)"
    rf"({_BLANK}*'(?:\\'|[^'])*'|{_BLANK}*\"(?:\\\"|[^\"])*\"|{_BLANK}*`(?:\\`|[^`])*`|[^#\r\n]+)?"
    rf"{_BLANK}*(?:\#[^\n\r\u2028\u2029]*)?{_LINE_END}"
)
_QUOTED = re.compile(rf"{_LINE_START}(['\"`])([\s\S]*)\1{_LINE_END}")
_ENDS = "\t\n\v\f\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"  # noqa: E501


class Difference(StrEnum):
    """How Node's reading of a key differs from the host's."""

    CUT_AT_HASH = "cut_at_hash"
    OTHER_VALUE = "other_value"
    NOT_SEEN = "not_seen"
    ONLY_THERE = "only_there"


@dataclass(frozen=True)
class Disagreement:
    """One key that the two readers disagree about; `line` is its effective line, `None` where the host sees none."""

    key: str
    line: int | None
    difference: Difference


def read_as_node(text: str) -> dict[str, str]:
    """All keys and values that `dotenv.parse` gives for `text` (a byte order mark may stand at its start)."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    found: dict[str, str] = {}
    position = 0  # always the start of a line
    while position < len(text):
        # The package's own expression looks at a run of blank lines again from each of them; once is enough.
        position = _end(_BLANKS.match(text, position), position)
        match = _LINE.match(text, position)
        if match is not None:
            found[match[1]] = _value(match[2] or "")
            position = max(match.end(), position + 1)
        line = _NEXT_LINE.search(text, position)
        if line is None:
            break
        position = line.end()
    return found


def _end(match: re.Match[str] | None, otherwise: int) -> int:
    return match.end() if match else otherwise


def _value(raw: str) -> str:
    value = raw.strip(_ENDS)
    double = value.startswith('"')
    value = _QUOTED.sub(lambda quoted: quoted[2], value)
    return value.replace("\\n", "\n").replace("\\r", "\r") if double else value


def disagreements(
    document: Document, keys: Collection[str] | None = None, environment: Mapping[str, str] | None = None
) -> tuple[Disagreement, ...]:
    """The keys (of `keys`, or all) that Node's `dotenv` and the host read differently, in file order.

    Both expansions count: Node's package expands no `${...}`, the host does, with `environment`.

    Raises:
        Unreadable: the file is too large for Node's parser to be followed, or its references blow up.
    """
    if len(document.text) > LARGEST:
        raise Unreadable(document.path, f"more than {LARGEST >> 20} MiB; Node's parser is not followed that far")
    host = read_values(document, environment or {})
    node = read_as_node(("\ufeff" if document.bom else "") + document.text)
    found: list[Disagreement] = []
    for key, value in host.items():
        wanted = keys is None or key in keys
        if wanted and value is not None and value != node.get(key):
            found.append(_disagreement(document, key, node.get(key)))
    extra = (key for key in node if key not in host and (keys is None or key in keys))
    return (*found, *(Disagreement(key, None, Difference.ONLY_THERE) for key in extra))


def _disagreement(document: Document, key: str, node: str | None) -> Disagreement:
    statement = document.effective(key)
    line = document.line(statement.start) if statement else None
    if node is None:
        return Disagreement(key, line, Difference.NOT_SEEN)
    raw = document.text[statement.value_start : statement.value_end] if statement else ""
    cut = statement is not None and statement.kind is Kind.ASSIGNMENT and raw[:1] not in ("'", '"', "`", "")
    hashed = cut and "#" in raw and raw.partition("#")[0].strip(_ENDS) == node
    return Disagreement(key, line, Difference.CUT_AT_HASH if hashed else Difference.OTHER_VALUE)
