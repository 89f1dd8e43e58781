"""The 732 phoneme symbols of the v2 set, which v3 checkpoints share, in the order of the decoder's embedding rows.

Pauses and punctuation, pinyin initials and finals with tones 1 to 5, Japanese phonemes, ARPAbet with stress, the pitch
marks `[` and `]`; the last rows are Korean and Cantonese. Source of names and order: GPT-SoVITS `text/symbols2.py`.
"""

from collections.abc import Iterable
from functools import cache
from pathlib import Path

PUNCTUATION = "!?…,.-"
"""The marks that are phonemes themselves."""
UNKNOWN = "UNK"


@cache
def symbol_ids() -> dict[str, int]:
    """Each symbol's number."""
    lines = Path(__file__).with_name("symbols.txt").read_text(encoding="utf-8").split()
    return {symbol: number for number, symbol in enumerate(lines)}


def ids_of(phones: Iterable[str]) -> list[int]:
    """Numbers of phonemes; one outside the set is UNK, as it was when the public models were trained."""
    numbers = symbol_ids()
    return [numbers.get(phone, numbers[UNKNOWN]) for phone in phones]
