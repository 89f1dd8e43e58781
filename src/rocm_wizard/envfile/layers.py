"""Which layer a key's value comes from when the application starts, and whether an edit of the file has any effect.

The host loads its `.env` with `override=False`: a name that the process environment has, even with an empty value,
beats the file, and the file beats the application's default. On Windows the user's own variables become part of the
environment of every program started anew.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from rocm_wizard.envfile.windows import user_environment

DISABLED = "PYTHON_DOTENV_DISABLED"
_TRUE = frozenset({"1", "true", "t", "yes", "y"})


class Layer(StrEnum):
    """Where a value comes from, strongest first."""

    PROCESS = "process"
    USER = "user"
    FILE = "file"
    DEFAULT = "default"
    NONE = "none"


@dataclass(frozen=True)
class KeyLayers:
    """One key in all layers; `None` where a layer does not have it. Values are not in the `repr`.

    `default` is what the application uses by itself. `file_shadowed`: the file has the key, or is about to get it, and
    another layer hides what it says. `same_value`: the stronger layer says what the file says, so it does no harm.
    """

    key: str
    process: str | None = field(repr=False)
    user: str | None = field(repr=False)
    file: str | None = field(repr=False)
    default: str | None = field(repr=False)
    winner: Layer
    file_shadowed: bool
    same_value: bool

    @property
    def value(self) -> str | None:
        """The effective value."""
        return None if self.winner is Layer.NONE else getattr(self, self.winner.value)


def dotenv_disabled(process: Mapping[str, str]) -> bool:
    """Whether python-dotenv is told to ignore every `.env`."""
    return process.get(DISABLED, "").casefold() in _TRUE


def key_layers(
    keys: Iterable[str],
    *,
    process: Mapping[str, str],
    file: Mapping[str, str | None],
    default: Mapping[str, str] | None = None,
    user: Mapping[str, str] | None = None,
    ignore_case: bool = False,
) -> tuple[KeyLayers, ...]:
    """The layers of each of `keys`.

    `file` is what `read_values` gave (of the planned document, to see whether the plan has an effect). `user` is
    `user_environment()` of the Windows registry. `ignore_case`: names of variables as Windows treats them.
    """
    outer = _Names(process, ignore_case), _Names(user or {}, ignore_case)
    disabled = dotenv_disabled(process)
    return tuple(_layers_of(key, outer, file.get(key), (default or {}).get(key), disabled) for key in keys)


class _Names:
    def __init__(self, values: Mapping[str, str], ignore_case: bool) -> None:
        self._fold = str.upper if ignore_case else str
        self._values = {self._fold(name): value for name, value in values.items()}

    def get(self, name: str) -> str | None:
        return self._values.get(self._fold(name))


def _layers_of(
    key: str, outer: tuple[_Names, _Names], file: str | None, default: str | None, disabled: bool
) -> KeyLayers:
    process, user = outer[0].get(key), outer[1].get(key)
    in_file = None if disabled else file
    ordered = ((Layer.PROCESS, process), (Layer.USER, user), (Layer.FILE, in_file), (Layer.DEFAULT, default))
    winner, value = next(((layer, value) for layer, value in ordered if value is not None), (Layer.NONE, None))
    shadowed = file is not None and winner is not Layer.FILE
    return KeyLayers(key, process, user, file, default, winner, shadowed, shadowed and value == file)


__all__ = ["KeyLayers", "Layer", "dotenv_disabled", "key_layers", "user_environment"]
