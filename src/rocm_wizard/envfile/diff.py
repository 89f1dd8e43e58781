"""The change as rows for two columns, before and after, with secrets masked."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import zip_longest

from rocm_wizard.envfile.document import Document
from rocm_wizard.envfile.edits import Edit
from rocm_wizard.envfile.plan import Plan
from rocm_wizard.envfile.rendering import render
from rocm_wizard.envfile.secrets import masked_text
from rocm_wizard.envfile.tokens import tokenise


class RowKind(StrEnum):
    """What a row shows."""

    SAME = "same"
    CHANGED = "changed"
    ADDED = "added"
    REMOVED = "removed"
    GAP = "gap"


@dataclass(frozen=True)
class Row:
    """One line of both columns; `None` where a column has no line. A `GAP` stands for lines left out, both `None`.

    A changed secret shows the same mask twice: the kind says that it changes.
    """

    kind: RowKind
    before_line: int | None
    before: str | None
    after_line: int | None
    after: str | None


def diff_rows(document: Document, plan: Plan, *, context: int | None = 3) -> list[Row]:
    """What `plan` changes in `document`, with `context` unchanged statements around it (`None`: the whole file).

    Raises:
        Stale: the plan was made for another content.
    """
    after = Document.parse(render(document, plan), document.path)
    edits = plan.edits
    shown = _shown(len(document.statements), edits, context)
    rows: list[Row] = []
    for kind, old, new in _pairs(document, edits):
        if kind is not RowKind.SAME or old in shown:
            rows += _rows(kind, _side(document, old), _side(after, new))
        elif not rows or rows[-1].kind is not RowKind.GAP:
            rows.append(Row(RowKind.GAP, None, None, None, None))
    return rows


def _shown(count: int, edits: tuple[Edit, ...], context: int | None) -> range | set[int]:
    if context is None:
        return range(count)
    return {
        index for edit in edits for index in range(max(0, edit.after - context), min(count, edit.after + context + 1))
    }


def _pairs(document: Document, edits: tuple[Edit, ...]) -> Iterator[tuple[RowKind, int | None, int | None]]:
    """The indices of the statements that stand side by side: an edit changes one statement, or adds some behind it."""
    changed = {edit.after for edit in edits if edit.rank == 0}
    texts: dict[int, str] = {}
    for edit in edits:
        if edit.rank > 0:
            texts[edit.after] = texts.get(edit.after, "") + edit.text
    position = 0
    for index in range(-1, len(document.statements)):
        if index >= 0:
            yield (RowKind.CHANGED if index in changed else RowKind.SAME), index, position
            position += 1
        for _ in range(_statements_in(document, index, texts[index]) if index in texts else 0):
            yield RowKind.ADDED, None, position
            position += 1


def _statements_in(document: Document, after: int, text: str) -> int:
    count = len(tokenise(text))
    ended = after < 0 or document.text[document.statements[after].end - 1] in "\r\n"
    return count if ended else count - 1  # the first line end completes the statement before


def _side(document: Document, index: int | None) -> list[tuple[int, str]]:
    if index is None:
        return []
    statement = document.statements[index]
    first = document.line(statement.start)
    return list(enumerate(masked_text(document, statement).split("\n"), first))


def _rows(kind: RowKind, before: list[tuple[int, str]], after: list[tuple[int, str]]) -> Iterator[Row]:
    for old, new in zip_longest(before, after):
        each = kind
        if kind is RowKind.CHANGED:
            each = RowKind.ADDED if old is None else RowKind.REMOVED if new is None else kind
        before_line, before_text = old or (None, None)
        after_line, after_text = new or (None, None)
        yield Row(each, before_line, before_text, after_line, after_text)
