"""A `.env` as bytes in, the same bytes out."""

import codecs
import hashlib
import re
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from rocm_wizard.envfile.errors import NotText
from rocm_wizard.envfile.tokens import Kind, Statement, tokenise
from rocm_wizard.envfile.values import value_of

_WIDE_MARKS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)
_EXAMPLE = re.compile(r"[^\S\r\n]*+#[#\s]*?(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)[ \t]*=")
_NEWLINE = re.compile(r"\r\n|\n|\r")
_UNDECODABLE = re.compile("[\udc80-\udcff]")


@dataclass(frozen=True)
class Document:
    """The statements of one `.env`, in order and without a gap.

    `text` is the file without its byte order mark; bytes that are not UTF-8 live in it as surrogate escapes, so that
    it turns back into the same bytes. `exists` is false for a file that a plan would create.
    """

    path: Path
    data: bytes = field(repr=False)
    text: str = field(repr=False)
    bom: bool
    exists: bool
    statements: list[Statement] = field(repr=False)

    @classmethod
    def parse(cls, data: bytes, path: Path = Path(".env")) -> "Document":
        """Read `data`; any bytes will do.

        Raises:
            NotText: UTF-16 or UTF-32, with or without a byte order mark.
        """
        if wide := _wide_encoding(data):
            raise NotText(path, wide)
        # The mark goes before decoding: a later byte that is not UTF-8 must not drag it into the first key.
        bom = data.startswith(codecs.BOM_UTF8)
        body = data[len(codecs.BOM_UTF8) :] if bom else data
        text = body.decode("utf-8", "surrogateescape")
        return cls(path, data, text, bom, True, tokenise(text))

    @classmethod
    def missing(cls, path: Path = Path(".env")) -> "Document":
        """The document of a file that is not there yet."""
        return cls(path, b"", "", False, False, [])

    def encode(self, text: str) -> bytes:
        """The bytes of `text` with this file's byte order mark."""
        body = text.encode("utf-8", "surrogateescape")
        return codecs.BOM_UTF8 + body if self.bom else body

    def raw(self, statement: Statement) -> bytes:
        """The exact bytes of one statement (the byte order mark belongs to none)."""
        return self.text[statement.start : statement.end].encode("utf-8", "surrogateescape")

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the bytes, in hex; of nothing at all for a missing file."""
        return hashlib.sha256(self.data).hexdigest() if self.exists else ""

    @cached_property
    def assignments(self) -> dict[str, list[int]]:
        """For each key the indices of its statements, in order; the last one is effective."""
        found: dict[str, list[int]] = {}
        for index, statement in enumerate(self.statements):
            if statement.kind is Kind.ASSIGNMENT or statement.kind is Kind.BARE:
                found.setdefault(statement.key, []).append(index)
        return found

    @cached_property
    def examples(self) -> dict[str, int]:
        """For each key in a commented example (`# KEY=value`) the index of its last one."""
        found: dict[str, int] = {}
        for index, statement in enumerate(self.statements):
            if statement.kind is Kind.COMMENT and (match := _EXAMPLE.match(self.text, statement.start, statement.end)):
                found[match[1]] = index
        return found

    def effective(self, key: str) -> Statement | None:
        """The assignment that readers use: the last one."""
        indices = self.assignments.get(key)
        return self.statements[indices[-1]] if indices else None

    def value(self, key: str) -> str | None:
        """The effective value as written, nothing expanded; `None` where there is none."""
        statement = self.effective(key)
        return value_of(self.text, statement) if statement else None

    @cached_property
    def newlines(self) -> Counter[str]:
        """How often each line end occurs."""
        both = self.text.count("\r\n")
        counts = {"\r\n": both, "\n": self.text.count("\n") - both, "\r": self.text.count("\r") - both}
        return Counter({style: count for style, count in counts.items() if count})

    @cached_property
    def newline(self) -> str:
        """The line end for new lines: the file's most frequent one; of equals, the one that comes first."""
        if not self.newlines:
            return "\n"
        most = max(self.newlines.values())
        styles = [style for style, count in self.newlines.items() if count == most]
        if len(styles) == 1:
            return styles[0]
        return next(match[0] for match in _NEWLINE.finditer(self.text) if match[0] in styles)

    def line(self, offset: int) -> int:
        """The line number (from 1) of a character offset."""
        return bisect_right(self._line_starts, offset)

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in _NEWLINE.finditer(self.text))]

    @cached_property
    def undecodable_lines(self) -> tuple[int, ...]:
        """Lines with bytes that are not UTF-8; the host application refuses the whole file over one of them."""
        return tuple(sorted({self.line(match.start()) for match in _UNDECODABLE.finditer(self.text)}))


def _wide_encoding(data: bytes) -> str:
    for mark, name in _WIDE_MARKS:
        if data.startswith(mark):
            return name
    head = data[:4096]
    if len(head) < 4:
        return ""
    # ASCII keys and `=` in UTF-16 without a mark leave a zero in every second byte and none in the others.
    first, second = head[0::2].count(0), head[1::2].count(0)
    few, many = sorted((first, second))
    return "UTF-16" if many * 10 >= len(head) // 2 * 3 and few * 10 <= many else ""
