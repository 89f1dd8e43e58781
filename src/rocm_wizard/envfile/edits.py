"""Where the characters of a planned change go. Everything outside an edit keeps its bytes."""

from dataclasses import dataclass, field

from rocm_wizard.envfile.document import Document
from rocm_wizard.envfile.quoting import Encoded, encode
from rocm_wizard.envfile.tokens import Kind, Statement

MARKER = "# Added by rocm-wizard"


@dataclass(frozen=True)
class Edit:
    """Replace `text[start:end]` of the document by `text`; an insertion where both are equal.

    `after` is the index of the statement that the edit changes or follows, `-1` for the top of the file. `rank` orders
    edits at one place: a change of the last line's value comes before lines that follow it.
    """

    start: int
    end: int
    text: str = field(repr=False)
    after: int
    rank: int


def set_edit(document: Document, index: int, value: str, avoid: frozenset[str]) -> tuple[Edit, Encoded]:
    """Replace the value span of statement `index`; its prefix, blanks and inline comment stay."""
    statement = document.statements[index]
    start, end = _span(document.text, statement)
    behind = document.text[end : statement.end]
    encoded = encode(value, avoid=avoid)
    if not encoded.text and behind.strip():
        # An empty unquoted value would hand the comment behind it to the reader as the value.
        encoded = Encoded('""')
    text = encoded.text
    if statement.kind is Kind.BARE:
        text = "=" + text
    if behind.startswith("#"):
        text += " "
    return Edit(start, end, text, index, 0), encoded


def _span(text: str, statement: Statement) -> tuple[int, int]:
    start, end = statement.value_start, statement.value_end
    if statement.kind is Kind.ASSIGNMENT and text.startswith("#", start) and text[start - 1] != "=":
        # `KEY=   # note` has the value `# note` by the letter; what its author meant is an empty value and a comment.
        while text[start - 1] != "=":
            start -= 1
        return start, start
    return start, end


def line_edit(document: Document, index: int, line: str, *, rank: int, lead: str = "") -> Edit:
    """A new line behind statement `index` (`-1`: at the top), with the file's own line end.

    A statement without one gets it first, else the new key would be glued to the old value.
    """
    end = document.statements[index].end if index >= 0 else 0
    newline = document.newline
    if newline == "\r" and document.text.startswith("\n", end):
        newline = "\r\n"  # in a file of mixed line ends: a lone one would merge with the blank line below
    glue = "" if end == 0 or document.text[end - 1] in "\r\n" else newline
    return Edit(end, end, f"{glue}{lead}{line}{newline}", index, rank)


def blank_line(document: Document) -> str:
    """An empty line to set our block apart; nothing where one is there already, or where the file is empty."""
    if not document.statements or document.statements[-1].kind is Kind.BLANK:
        return ""
    # A line feed behind a lone carriage return would be one line end, not two.
    return "\r" if document.text.endswith("\r") and document.newline == "\n" else document.newline


def block_end(document: Document) -> tuple[int, bool]:
    """The statement after which appended lines go, and whether our marker stands above that place already."""
    statements = document.statements
    for index in range(len(statements) - 1, -1, -1):
        statement = statements[index]
        if statement.kind is Kind.COMMENT and document.text.startswith(MARKER, statement.start):
            while index + 1 < len(statements) and statements[index + 1].kind in (Kind.ASSIGNMENT, Kind.BARE):
                index += 1
            return index, True
    return len(statements) - 1, False


def open_quotes(document: Document) -> frozenset[str]:
    """Quotes that a broken line opens and that nothing closes."""
    found: set[str] = set()
    for statement in document.statements:
        if statement.kind is Kind.BAD:
            found.update(quote for quote in "'\"" if quote in document.text[statement.start : statement.end])
    return frozenset(found)
