"""The footer: the keys that do something now; each can be clicked."""

from collections.abc import Sequence

from textual.content import Content
from textual.style import Style

from rocm_wizard.report.widths import cells
from rocm_wizard.tui.text import Paper
from rocm_wizard.tui.words import Words

_GAP = 2

type Key = tuple[str, str, str, bool]
"""Key, string key of its name, action, whether it does something now."""


class KeyLine(Paper):
    """One line of keys."""

    def update_keys(self, words: Words, keys: Sequence[Key]) -> None:
        """Shows the keys; those that do nothing now are left out when the line is short of room."""
        shown = tuple(keys)
        self.show(shown, lambda width: self._line(words, shown, width))

    @staticmethod
    def _line(words: Words, keys: Sequence[Key], width: int) -> Content:
        def needed(some: Sequence[Key]) -> int:
            return sum(cells(key) + 1 + cells(words.ui(name)) + _GAP for key, name, _, _ in some) - _GAP

        shown = list(keys)
        while needed(shown) > width and any(not active for *_, active in shown):
            shown.remove(next(key for key in reversed(shown) if not key[3]))
        parts: list[Content] = []
        for key, name, action, active in shown:
            sign, word = ("bold $accent", "$soft") if active else ("$muted", "$muted")
            part = Content.assemble((key, sign), (f" {words.ui(name)}", word))
            parts.append(part.stylize(Style.from_meta({"@click": action})) if active else part)
        return Content(" " * _GAP).join(parts)
