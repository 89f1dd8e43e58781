"""The symbol table: order is the meaning of a checkpoint's embedding rows."""

import zlib

from rocm_wizard.speech.gpt_sovits.text.chinese import _parts
from rocm_wizard.speech.gpt_sovits.text.symbols import PUNCTUATION, ids_of, symbol_ids


def test_732_symbols_in_the_order_of_the_public_v2_set() -> None:
    numbers = symbol_ids()
    assert len(numbers) == 732
    assert list(numbers.values()) == list(range(732))
    # The checksum of the names joined by line ends, taken from GPT-SoVITS's `symbols2.symbols`.
    assert zlib.crc32("\n".join(numbers).encode("utf-8")) == 2697687221


def test_the_places_of_symbols_that_every_language_begins_with() -> None:
    assert ids_of(["!", ",", "-", ".", "?"]) == [0, 1, 2, 3, 4]
    assert ids_of(["zh", "…", "[", "]"]) == [320, 321, 322, 323]
    assert ids_of(["no such phoneme", "#"]) == [symbol_ids()["UNK"]] * 2


def test_every_syllable_of_pinyin_has_symbols_in_all_five_tones() -> None:
    numbers = symbol_ids()
    assert len(_parts()) == 429
    for initial, final in _parts().values():
        assert initial in numbers
        assert all(f"{final}{tone}" in numbers for tone in range(1, 6)), final


def test_every_arpabet_vowel_has_symbols_for_all_three_stresses() -> None:
    vowels = ("AA", "AE", "AH", "AO", "AW", "AY", "EH", "ER", "EY", "IH", "IY", "OW", "OY", "UH", "UW")
    assert all(f"{vowel}{stress}" in symbol_ids() for vowel in vowels for stress in range(3))
    assert all(mark in symbol_ids() for mark in PUNCTUATION)
