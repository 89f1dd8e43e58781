"""Write a value so that popular readers agree on it.

The forms are tried from the most portable to the least: unquoted (`docker run --env-file` keeps quotes as data), then
quotes around a value that needs no escape in them, then unquoted with blanks inside, and last double quotes with
`\\\\` and `\\"`, which Node's dotenv does not undo. python-dotenv reads each of them back as it was.
"""

import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from rocm_wizard.envfile.errors import BadKey, BadValue
from rocm_wizard.envfile.values import decode, references

_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:\\@%+,=~-")
_CONTROL_NAMES = {0: "NUL", 9: "tab", 10: "line feed", 13: "carriage return", 27: "escape", 127: "delete"}


@dataclass(frozen=True)
class Encoded:
    """A value as it goes into the file; `disagree` names the readers that would see something else."""

    text: str
    disagree: tuple[str, ...] = ()


def check_key(path: Path, key: str) -> None:
    """Raise `BadKey` for a name that is not `[A-Za-z_][A-Za-z0-9_]*`."""
    if _KEY.fullmatch(key):
        return
    if not key:
        raise BadKey(path, key, "an empty key cannot be set")
    if key[0].isdigit() and key.isascii():
        raise BadKey(path, key, f"the key {key!r} starts with the digit {key[0]}")
    wrong = next(character for character in key if not re.fullmatch(r"[A-Za-z0-9_]", character))
    raise BadKey(path, key, f"the key {key!r} holds {character_name(wrong)}; only A-Z, a-z, 0-9 and _ are allowed")


def check_value(path: Path, key: str, value: str) -> None:
    """Raise `BadValue` for a value with control characters, unpaired surrogates or a `${...}` that would expand."""
    for character in value:
        if unicodedata.category(character) in ("Cc", "Cs"):
            raise BadValue(path, key, f"holds {character_name(character)}, which a .env cannot carry")
    for _ in references(value):
        raise BadValue(path, key, "holds ${...}, which is expanded on reading, whatever the quotes")


def character_name(character: str) -> str:
    """A character in words, for a message: `line feed (U+000A)`."""
    code = ord(character)
    name = _CONTROL_NAMES.get(code) or unicodedata.name(character, "").lower() or "a control character"
    return f"{name} (U+{code:04X})"


def encode(value: str, *, avoid: frozenset[str] = frozenset()) -> Encoded:
    """The most portable form of `value` that holds none of the quotes in `avoid`, if there is one.

    `avoid` names quotes that stay open somewhere in the file: another one of the kind would close them.
    """
    forms = _forms(value)
    return next((form for form in forms if not avoid.intersection(form.text)), forms[0])


def _forms(value: str) -> list[Encoded]:
    forms: list[Encoded] = []
    if all(character in _PLAIN or (not character.isascii() and character.isalnum()) for character in value):
        # A shell that sources the file would take backslashes and a leading ~ for itself; no reader does.
        forms.append(Encoded(value, ("shell",) if "\\" in value or value.startswith("~") else ()))
    if not any(character in '"\\$`' for character in value):
        forms.append(Encoded(f'"{value}"'))
    # python-dotenv undoes `\\` and `\'` in single quotes; other readers do not, so neither may occur.
    if "'" not in value and "\\\\" not in value and not value.endswith("\\"):
        forms.append(Encoded(f"'{value}'"))
    if value and value[0] not in "'\"`#" and "#" not in value and "$" not in value and value == _trimmed(value):
        forms.append(Encoded(value, ("shell",)))
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    readers = ("node", "compose", "shell") if "$" in value else ("node", "shell") if "`" in value else ("node",)
    forms.append(Encoded(f'"{escaped}"', readers))
    return [form for form in forms if decode(form.text) == value]


def _trimmed(value: str) -> str:
    return value.strip().strip("\ufeff")
