"""Word and character error rates of a transcript, after a stated normalisation."""

import re
import unicodedata
from dataclasses import dataclass

CHARACTER_LANGUAGES = frozenset({"Chinese", "Cantonese", "Japanese"})
"""Languages written without spaces: compared character by character."""

_SPOKEN = {"mr": "mister", "mrs": "missus", "ms": "miss", "dr": "doctor", "st": "saint", "&": "and", "%": "percent"}


@dataclass(frozen=True, slots=True)
class ErrorRate:
    """Edits per reference unit: `value` 0.1 is 10 %, and may pass 1. `unit` is word or character."""

    value: float
    unit: str
    edits: int
    reference_units: int


def normalise(text: str) -> str:
    """Compatibility forms folded (NFKC), lower case, hyphens to spaces, punctuation away, titles as they are spoken."""
    text = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    text = re.sub(r"[-‐-―/]", " ", text)
    kept = "".join(c for c in text if c in "'&%" or not unicodedata.category(c).startswith(("P", "S", "C")))
    words = (word.strip("'") for word in kept.split())
    return " ".join(_SPOKEN.get(word, word) for word in words if word)


def error_rate(reference: str, heard: str, language: str) -> ErrorRate:
    """The error rate of what was heard.

    Raises:
        ValueError: the reference is empty after normalisation.
    """
    from jiwer import process_characters, process_words  # 0.2 s to import: not while the wizard opens

    wanted, said = normalise(reference), normalise(heard)
    if language in CHARACTER_LANGUAGES:
        wanted, said, unit, process = wanted.replace(" ", ""), said.replace(" ", ""), "character", process_characters
    else:
        unit, process = "word", process_words
    if not wanted:
        raise ValueError("the reference text is empty")
    counted = process(wanted, said)
    edits = counted.substitutions + counted.deletions + counted.insertions
    units = counted.hits + counted.substitutions + counted.deletions
    return ErrorRate(edits / units, unit, edits, units)
