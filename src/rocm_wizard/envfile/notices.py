"""What a person should know about a `.env` before anybody edits it: traps that readers fall into silently."""

import re
from dataclasses import dataclass
from enum import StrEnum

from rocm_wizard.envfile.document import Document
from rocm_wizard.envfile.placeholders import is_placeholder
from rocm_wizard.envfile.tokens import Kind, Statement
from rocm_wizard.envfile.values import decode


class NoticeCode(StrEnum):
    """The kinds of trap."""

    BYTE_ORDER_MARK = "byte_order_mark"  # older python-dotenv loses the first key
    MIXED_LINE_ENDS = "mixed_line_ends"  # shell tools take the carriage return as data
    UNDECODABLE = "undecodable"  # the host refuses the whole file
    BAD_LINE = "bad_line"  # dropped with a log line
    DUPLICATE = "duplicate"  # only the last one counts
    COMMENT_AS_VALUE = "comment_as_value"  # `KEY=   # note` has the value `# note`
    ESCAPE_IN_PATH = "escape_in_path"  # `"D:\vad\v2"` gains control characters
    DOLLAR = "dollar"  # readers differ about `$NAME`
    NODE_CUTS = "node_cuts"  # Node's dotenv cuts an unquoted value at any `#`
    PLACEHOLDER = "placeholder"  # still the template's stand-in


@dataclass(frozen=True)
class Notice:
    """One trap: where it is and which key it concerns (`""`: the whole file or a broken line)."""

    code: NoticeCode
    line: int
    key: str = ""


_BARE_DOLLAR = re.compile(r"\$(?!\{)[A-Za-z_]")
_LOOKS_LIKE_PATH = re.compile(r'"(?:[A-Za-z]:|\\\\|\.{0,2})\\')


def find_notices(document: Document) -> list[Notice]:
    """All traps in file order."""
    found: list[Notice] = []
    if document.bom:
        found.append(Notice(NoticeCode.BYTE_ORDER_MARK, 1))
    if len(document.newlines) > 1:
        found.append(Notice(NoticeCode.MIXED_LINE_ENDS, 1))
    found += (Notice(NoticeCode.UNDECODABLE, line) for line in document.undecodable_lines)
    for index, statement in enumerate(document.statements):
        line = document.line(statement.start)
        if statement.kind is Kind.BAD:
            found.append(Notice(NoticeCode.BAD_LINE, line))
        elif statement.kind is Kind.ASSIGNMENT:
            found += (Notice(code, line, statement.key) for code in _codes(document.text, statement))
        if statement.key and document.assignments[statement.key][-1] != index:
            found.append(Notice(NoticeCode.DUPLICATE, line, statement.key))
    return sorted(found, key=lambda notice: notice.line)


def _codes(text: str, statement: Statement) -> list[NoticeCode]:
    raw = text[statement.value_start : statement.value_end]
    value = decode(raw)
    quoted = raw[:1] in ("'", '"')
    codes: list[NoticeCode] = []
    if raw.startswith("#") and text[statement.value_start - 1] != "=":
        codes.append(NoticeCode.COMMENT_AS_VALUE)
    elif "#" in raw and not quoted:
        codes.append(NoticeCode.NODE_CUTS)
    if _LOOKS_LIKE_PATH.match(raw) and any(character < " " for character in value):
        codes.append(NoticeCode.ESCAPE_IN_PATH)
    if _BARE_DOLLAR.search(value) and not raw.startswith("'"):
        codes.append(NoticeCode.DOLLAR)
    if is_placeholder(value):
        codes.append(NoticeCode.PLACEHOLDER)
    return codes
