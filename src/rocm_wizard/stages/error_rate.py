"""Word and character error rates of a transcript, after a stated normalisation."""

import re
import tomllib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from rocm_wizard.assets import asset
from rocm_wizard.stages.languages import Unit, unit_of

_SPOKEN = {"mr": "mister", "mrs": "missus", "ms": "miss", "dr": "doctor", "st": "saint", "&": "and", "%": "percent"}


@dataclass(frozen=True, slots=True)
class ErrorRate:
    """Edits per reference unit: `value` 0.1 is 10 %, and may pass 1. `unit` is word or character."""

    value: float
    unit: Unit
    edits: int
    reference_units: int


def normalise(text: str) -> str:
    """Compatibility forms folded (NFKC), lower case, hyphens to spaces, punctuation away, titles as they are spoken."""
    text = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    text = re.sub(r"[-‐-―/]", " ", text)
    kept = "".join(c for c in text if c in "'&%" or not unicodedata.category(c).startswith(("P", "S", "C")))
    words = (word.strip("'") for word in kept.split())
    return " ".join(_SPOKEN.get(word, word) for word in words if word)


def units(text: str, language: str | None, unit: Unit) -> list[str]:
    """The normalised words or characters of a text, in order.

    Traditional Chinese characters are folded to simplified ones, except in Japanese: which script a recogniser writes
    says nothing about what it heard.
    """
    plain = normalise(text)
    if unit == "word":
        return plain.split()
    plain = plain.replace(" ", "")
    return list(plain if language == "Japanese" else plain.translate(_simplified()))


def error_rate(reference: str, heard: str, language: str | None) -> ErrorRate:
    """The error rate of what was heard; words or characters are counted as the language is written.

    `language`: a full English name, or None where nobody named it.

    Raises:
        ValueError: the reference is empty after normalisation.
    """
    from jiwer import process_words  # 0.2 s to import: not while the wizard opens

    unit = unit_of(language, reference)
    wanted, said = units(reference, language, unit), units(heard, language, unit)
    if not wanted:
        raise ValueError("the reference text is empty")
    counted = process_words(" ".join(wanted), " ".join(said))
    edits = counted.substitutions + counted.deletions + counted.insertions
    return ErrorRate(edits / len(wanted), unit, edits, len(wanted))


@cache
def _simplified() -> Mapping[int, str]:
    with asset("chinese_variants.toml").open("rb") as file:
        return {ord(pair[0]): pair[1] for pair in tomllib.load(file)["pairs"].split()}
