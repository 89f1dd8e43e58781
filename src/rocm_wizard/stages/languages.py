"""Languages as people name them, and the names that go over the wire."""

import tomllib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import Literal, NotRequired, TypedDict

from rocm_wizard.assets import asset

type Unit = Literal["word", "character"]

AUTOMATIC = frozenset({"", "auto", "detect"})
"""What the host takes for "find out by yourself" (`docs/wire.md`)."""
_CLOSE = 0.6


class _Entry(TypedDict):
    name: str
    codes: list[str]
    own: list[str]
    unit: NotRequired[Unit]


@dataclass(frozen=True, slots=True)
class Language:
    """`name` goes over the wire, `code` is its first ISO code, `unit` is what errors are counted in."""

    name: str
    code: str
    unit: Unit


class UnknownLanguage(ValueError):
    """No language is called like that. `closest`: the name, code or `auto` that looks most like it, if any."""

    def __init__(self, wanted: str, closest: str | None) -> None:
        super().__init__(wanted)
        self.wanted = wanted
        self.closest = closest


def find_language(wanted: str) -> Language | None:
    """The language of a name or an ISO code, in any case; None: the recogniser is to detect it.

    Raises:
        UnknownLanguage: nothing is called like that.
    """
    key = _key(wanted)
    if key in AUTOMATIC:
        return None
    known = _by_key()
    found = known.get(key) or known.get(key.partition("-")[0])
    if found is None:
        raise UnknownLanguage(wanted, _closest(key))
    return found


def language_names() -> list[str]:
    """Every name that goes over the wire."""
    return [language.name for language in _languages()]


def unit_of(language: str | None, text: str) -> Unit:
    """What errors of `text` are counted in: as its language says, or (None, unknown) by its letters."""
    for known in _languages():
        if known.name == language:
            return known.unit
    return "character" if any(_without_blanks(letter) for letter in text) else "word"


def _key(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().replace("_", "-").split())


def _closest(key: str) -> str | None:
    shown = {_key(language.name): language.name for language in _languages()}
    near = get_close_matches(key, [*_by_key(), "auto"], n=1, cutoff=_CLOSE)
    if not near:
        return None
    found = _by_key().get(near[0])
    return shown[_key(found.name)] if found is not None else near[0]


def _without_blanks(letter: str) -> bool:
    """Han, Hiragana, Katakana, Thai: scripts that set no blanks between words."""
    return "\u3040" <= letter <= "\u30ff" or "\u3400" <= letter <= "\u9fff" or "\u0e00" <= letter <= "\u0e7f"


@cache
def _languages() -> tuple[Language, ...]:
    return tuple(Language(entry["name"], entry["codes"][0], entry.get("unit", "word")) for entry in _entries())


@cache
def _by_key() -> Mapping[str, Language]:
    return {
        _key(word): language
        for language, entry in zip(_languages(), _entries(), strict=True)
        for word in (entry["name"], *entry["codes"], *entry["own"])
    }


@cache
def _entries() -> list[_Entry]:
    with asset("languages.toml").open("rb") as file:
        return tomllib.load(file)["language"]
