"""The log of the child processes: plain lines, ten writes a second at most, never more than 2,000 lines."""

from textual.selection import Selection
from textual.widgets import Log

from rocm_wizard.qualification.clean import clean_line
from rocm_wizard.report.widths import cells
from rocm_wizard.tui.feed import LOG_LINES_KEPT, LogRing

_WIDEST = 500


class LogPane(Log):
    """Follows the end only while the person looks at the end."""

    def __init__(self, ring: LogRing, *, id: str) -> None:
        super().__init__(id=id, max_lines=LOG_LINES_KEPT, highlight=False)
        self._ring = ring
        self._seen = 0

    def pull(self) -> None:
        """Takes over what the ring got since the last time."""
        lines, self._seen = self._ring.since(self._seen)
        if not lines:
            return
        at_end, kept = self.is_vertical_scroll_end, max(0, LOG_LINES_KEPT - len(lines))
        gone = max(0, self.line_count - kept)
        self.write_lines(lines)
        if gone and not at_end:  # what the person reads stays in place while lines above it go
            self.scroll_to(y=max(0, self.scroll_offset.y - gone), animate=False, immediate=True)
        self.refresh()  # a full log keeps its height, and then the base class redraws nothing

    @classmethod
    def _process_line(cls, line: str) -> str:
        """Cleaned when it is drawn: of a flood only the visible lines ever are."""
        return clean_line(line.expandtabs())

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """See `Widget.get_selection`."""
        return selection.extract("\n".join(self._process_line(line) for line in self._lines)), "\n"

    def _update_size(self, updates: int, lines: list[str]) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """In place: the base class starts a thread for every write, and leaving would wait for it."""
        del updates
        widest = max((len(line) if line.isascii() else cells(line) for line in lines), default=0)
        self._width = max(self._width, min(widest, _WIDEST))
