"""Which values of an environment nobody may be told, whatever a child prints."""

import os
import re
from collections.abc import Collection, Mapping
from pathlib import Path

from rocm_wizard.envfile.secrets import is_secret
from rocm_wizard.qualification.clean import SHORTEST_HIDDEN

_TRIVIAL = re.compile(
    r"true|false|none|null|auto|default|(?:en|dis)abled|required|(?:cpu|cuda|hip|mps|xpu)(?::\d+)?", re.IGNORECASE
)
_PASSWORD = re.compile(r"://[^/\s:@]*:([^/\s@]+)@")
_RELATIVE = re.compile(r"~[\\/]|\.{1,2}[\\/]|\\\\|[A-Za-z]:[\\/]?$")
_SHORT_NUMBER = re.compile(r"[-+.\d]{1,8}")


def secret_values(variables: Mapping[str, str | None], unknown: Collection[str] = ()) -> frozenset[str]:
    """The values of secrets, by their names and looks, and of `unknown` variables where they could be one.

    Never switches, devices, paths and what is shorter than six characters: a log without these words helps nobody.
    Of an unknown variable single words and short numbers are told too.
    """
    found: set[str] = set()
    for name, value in variables.items():
        text = (value or "").strip()
        secret = is_secret(name, text)
        if not secret and (name not in unknown or text.isalpha() or _SHORT_NUMBER.fullmatch(text)):
            continue
        if len(text) >= SHORTEST_HIDDEN and not _TRIVIAL.fullmatch(text) and not _is_path(text):
            found |= {text, *_PASSWORD.findall(text)}
    return frozenset(found)


def _is_path(text: str) -> bool:
    """Whether it names a place: one of the topmost folders must be there, for keys in base64 may begin with `/` too."""
    if _RELATIVE.match(text):
        return True
    first = Path(text.split(os.pathsep)[0] if os.pathsep == ":" else text)
    try:
        return first.is_absolute() and Path(*first.parts[:2]).exists()
    except (OSError, ValueError):  # too long or unfit for a name
        return False
