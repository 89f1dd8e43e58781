"""Cut a `.env` into statements that together are the whole text.

The grammar is that of python-dotenv 1.2.3 (`parser.py`), the reader that the host application pins, written as one
expression so that a file is read in linear time. Nothing is thrown away: blank lines, comments and lines that no
reader understands are statements too.
"""

import re
from enum import StrEnum
from typing import NamedTuple


class Kind(StrEnum):
    """What a statement is."""

    BLANK = "blank"
    COMMENT = "comment"
    ASSIGNMENT = "assignment"
    BARE = "bare"  # a key without `=`: present, and without a value
    BAD = "bad"


class Statement(NamedTuple):
    """A slice of the text. Offsets count characters of `Document.text`; `-1` where the kind has no such part.

    The value span holds the quotes and stops before the blanks and the comment that follow. A `BARE` statement has
    an empty value span behind its key.
    """

    kind: Kind
    start: int
    end: int
    key: str = ""
    value_start: int = -1
    value_end: int = -1


# Every repeat is possessive: the reference parser never gives back what a step has taken.
_STATEMENT = re.compile(
    r"""
    [^\S\r\n]*+ (?:export[^\S\r\n]++)?+
      ('[^']++' | (?!')[^=\#\s]++)                                             # 1: the key
      [^\S\r\n]*+
      (?: = [^\S\r\n]*+
        ( '(?:[^'\\]++|\\[\s\S])*+' | "(?:[^"\\]++|\\[\s\S])*+" | (?!['"])[^\r\n]*+ )  # 2: the value
      )?+
      (?:[^\S\r\n]*+ \#[^\r\n]*+)?+ [^\S\r\n]*+ (?:\r\n|\n|\r|\Z)
  | [^\S\r\n]*+ (?:export[^\S\r\n]++)?+ (\#)[^\r\n]*+ (?:\r\n|\n|\r|\Z)         # 3: a comment
  | ((?:[^\S\r\n]*+ (?:\r\n|\n|\r)) | (?:[^\S\r\n]++\Z))                       # 4: a blank line
  | [^\S\r\n]*+ (?:export[^\S\r\n]++)?+                                        # what is left is bad:
      (?: ('[^']++' | (?!')[^=\#\s]++) [^\S\r\n]*+                             # it goes on to the end of the line
          (?: = [^\S\r\n]*+ (?:'(?:[^'\\]++|\\[\s\S])*+'|"(?:[^"\\]++|\\[\s\S])*+")?+ )?+ )?+
      ([^\r\n]*+) (?:\r\n|\n|\r)?+                                             # in which it broke off
    """,
    re.VERBOSE,
)
_KEY, _VALUE, _COMMENT, _BLANK = 1, 2, 3, 4


def unquoted_end(text: str, start: int, end: int) -> int:
    """Where an unquoted value that starts at `start` ends: before a `#` that follows a blank, blanks trimmed.

    A `#` at the very start is data, even after `=` and blanks: `A=   # c` has the value `# c`.
    """
    mark = text.find("#", start + 1, end)
    while mark >= 0:
        if text[mark - 1].isspace():
            end = mark
            break
        mark = text.find("#", mark + 1, end)
    if end > start and text[end - 1].isspace():
        end = start + len(text[start:end].rstrip())
    return end


def tokenise(text: str) -> list[Statement]:
    """All statements of `text`, in order and without a gap (`text` is without byte order mark)."""
    statements: list[Statement] = []
    append = statements.append
    assignment, bare, comment, blank, bad = Kind.ASSIGNMENT, Kind.BARE, Kind.COMMENT, Kind.BLANK, Kind.BAD
    new = tuple.__new__  # half the time of the named constructor, on the path of every line
    for match in _STATEMENT.finditer(text):
        start, end = match.span()
        which = match.lastindex
        if which == _VALUE:
            value_start, value_end = match.span(_VALUE)
            if value_end > value_start and text[value_start] not in "'\"":
                value_end = unquoted_end(text, value_start, value_end)
            key = match[_KEY]
            append(
                new(Statement, (assignment, start, end, _key(key) if key[0] == "'" else key, value_start, value_end))
            )
        elif which == _KEY:
            behind = match.end(_KEY)
            append(Statement(bare, start, end, _key(match[_KEY]), behind, behind))
        elif which == _COMMENT:
            append(new(Statement, (comment, start, end, "", -1, -1)))
        elif which == _BLANK:
            append(new(Statement, (blank, start, end, "", -1, -1)))
        elif end > start:
            append(Statement(bad, start, end))
    return statements


def _key(raw: str) -> str:
    if raw[0] == "'":
        return universal_newlines(raw[1:-1])
    return raw


def universal_newlines(raw: str) -> str:
    """Line ends as the host sees them: it opens the file in text mode."""
    return raw.replace("\r\n", "\n").replace("\r", "\n") if "\r" in raw else raw
