"""Laying out text in a given width. Everything is plain text: what a child printed is never read as markup."""

from collections.abc import Callable, Iterable
from typing import ClassVar

from textual.content import Content
from textual.scrollbar import ScrollBarRender
from textual.style import Style
from textual.widget import Widget
from textual.widgets import Static

from rocm_wizard.qualification.clean import clean_line
from rocm_wizard.report.widths import cells, wrap

type Line = Content


def plain(text: str) -> str:
    """Text without control sequences; line breaks stay."""
    return "\n".join(clean_line(line) for line in text.splitlines())


def paragraph(text: str, width: int, style: str | Style = "", *, indent: int = 0, first: str = "") -> list[Line]:
    """Wrapped lines, the later ones indented below the first, which begins with `first` (`indent` cells wide)."""
    lines: list[Line] = []
    if not text:
        return lines
    for piece in plain(text).split("\n"):
        lines += [Content.styled(line, style) for line in wrap(piece, max(8, width - indent))]
    head = Content(first.ljust(indent))
    return [(head if number == 0 else Content(" " * indent)) + line.rstrip() for number, line in enumerate(lines)]


def fit(text: str, width: int) -> str:
    """One line, cut to `width` cells with an ellipsis; terminals do not agree on marks, so the wider count holds."""
    line = Content(clean_line(text).expandtabs(1))
    if max(line.cell_length, cells(line.plain)) <= width:
        return line.plain
    kept = line.truncate(max(1, width), ellipsis=True).plain.removesuffix("…")
    while kept and cells(kept) >= width:
        kept = kept[:-1]
    return f"{kept}…".rstrip()


def spread(left: Content, right: Content, width: int) -> Content:
    """Two pieces at the ends of one line; the left one gives way."""
    room = max(1, width - right.cell_length - 1)
    if left.cell_length > room:
        left = left.truncate(room, ellipsis=True)
    gap = max(1, width - left.cell_length - right.cell_length)
    return Content.assemble(left, " " * gap, right)


def named_values(rows: Iterable[tuple[str, str]], width: int) -> list[Line]:
    """Names in a column, values wrapped beside them."""
    table = [(clean_line(name), value) for name, value in rows]
    if not table:
        return []
    column = min(max(cells(name) for name, _ in table), max(10, width // 3))
    lines: list[Line] = []
    for name, value in table:
        values = paragraph(value, max(8, width - column - 2)) or [Content("")]
        label = Content.styled(fit(name, column), "$muted")
        for number, line in enumerate(values):
            lead = label.pad_right(column - label.cell_length + 2) if number == 0 else Content(" " * (column + 2))
            lines.append(lead + line)
    return lines


def stack(lines: Iterable[Line]) -> Content:
    """Lines below each other."""
    return Content("\n").join(lines)


class _PlainBar(ScrollBarRender):
    """A scroll bar of blank cells with a background: no block characters."""

    VERTICAL_BARS: ClassVar[list[str]] = [" "] * 8
    HORIZONTAL_BARS: ClassVar[list[str]] = [" "] * 8


def use_plain_scrollbars(screen: Widget) -> None:
    """Gives everything on a screen that can scroll a scroll bar without characters beyond ASCII."""
    for widget in [screen, *screen.query(Widget)]:
        if widget.is_scrollable:
            for scrollbar in (widget.vertical_scrollbar, widget.horizontal_scrollbar):
                scrollbar.renderer = _PlainBar  # pyright: ignore[reportAttributeAccessIssue]  as its docs propose


class Paper(Static):
    """Text that is laid out again only when what it shows, or its width, has changed."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes, markup=False)
        self._key: object = None
        self._build: Callable[[int], Content] | None = None
        self._drawn_width = 0
        self._drawn_height = -1

    def show(self, key: object, build: Callable[[int], Content]) -> None:
        """Draws `build(width)` unless `key` equals the one drawn last."""
        if self._build is not None and key == self._key:
            return
        self._key, self._build = key, build
        self._drawn_width = 0
        self._draw()

    def on_resize(self) -> None:
        """Lays out anew for another width."""
        self._draw()

    def _draw(self) -> None:
        width = self.content_size.width
        if width and self._build is not None and width != self._drawn_width:
            self._drawn_width = width
            content = self._build(width)
            height = content.plain.count("\n")
            self.update(content, layout=height != self._drawn_height)  # a new layout costs ten times the redraw
            self._drawn_height = height
