"""Masks what names a person: home folder, user name, host name."""

import getpass
import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from rocm_wizard.qualification.finding import Finding

_SHORTEST = 3


@dataclass(frozen=True, slots=True)
class Mask:
    """What to look for (longest first) and what to put in its place."""

    pairs: tuple[tuple[str, str], ...]

    def text(self, value: str) -> str:
        """The text with every occurrence masked, whatever the case and the slashes."""
        for word, shown in self.pairs:
            pattern = re.escape(word).replace(r"\\", "/").replace("/", r"[\\/]")
            value = re.sub(rf"(?<![A-Za-z0-9]){pattern}(?![A-Za-z0-9])", shown, value, flags=re.IGNORECASE)
        return value

    def value(self, value: Any) -> Any:
        """The same for strings inside lists and mappings."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {str(key): self.value(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(item) for item in value]
        return value

    def finding(self, finding: Finding) -> Finding:
        """The finding as a report may show it: every string masked, private or not."""
        return Finding(finding.id, finding.outcome, self.value(finding.facts), finding.private)


@cache
def machine_mask() -> Mask:
    """The mask for the person and computer that run this process."""
    words: list[tuple[str, str]] = []
    try:
        home = Path.home()
        words += [(str(home), "~"), (str(home.resolve()), "~"), (home.name, "<user>")]
    except (RuntimeError, OSError):
        pass
    try:
        words.append((getpass.getuser(), "<user>"))
    except (OSError, KeyError):
        pass
    words.append((socket.gethostname(), "<host>"))
    unique = {word: shown for word, shown in words if len(word) >= _SHORTEST and word.strip("/\\.")}
    return Mask(tuple(sorted(unique.items(), key=lambda pair: -len(pair[0]))))
