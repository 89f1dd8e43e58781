"""English words to ARPAbet with stress: CMUdict where the person has it, hibari's lexicon, g2p-en's network.

Nothing is downloaded and NLTK's own loader is not used: it would try to.
"""

import re
import zipfile
import zlib
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from rocm_wizard.speech.gpt_sovits.text.marks import mark_of
from rocm_wizard.speech.gpt_sovits.text.spelling_network import SpellingNetwork, g2p_en_folder
from rocm_wizard.speech.gpt_sovits.text.symbols import PUNCTUATION
from rocm_wizard.speech.serve import RequestError

if TYPE_CHECKING:
    from hibari.g2p import G2P
    from hibari.g2p.token import Tok

# A mark, unless it is inside an abbreviation like A.M.
_MARK = re.compile(r"(\b(?:[A-Za-z]\.){2,})|([!?…,.\-])")

type Pronunciations = dict[str, list[str]]

_ZIP = Path("corpora/cmudict.zip")
_FILE = Path("corpora/cmudict/cmudict")
_VOWELS = {
    **{"A": "EY", "I": "AY", "O": "OW", "W": "AW", "Y": "OY", "i": "IY", "u": "UW", "æ": "AE", "ɑ": "AA", "ɐ": "AH"},
    **{"ə": "AH", "ᵊ": "AH", "ʌ": "AH", "ɔ": "AO", "ɛ": "EH", "ɜ": "ER", "ɪ": "IH", "ʊ": "UH", "ᵻ": "IH"},
}
_CONSONANTS = {
    **dict(zip("bdfhklmnpstvwz", ("B", "D", "F", "HH", "K", "L", "M", "N", "P", "S", "T", "V", "W", "Z"), strict=True)),
    **{"j": "Y", "ŋ": "NG", "ɡ": "G", "ɹ": "R", "ð": "DH", "θ": "TH", "ʃ": "SH", "ʒ": "ZH", "ʤ": "JH", "ʧ": "CH"},
    **{"T": "T", "ɾ": "T", "ʔ": "T"},
}
_STRESSES = {"ˈ": "1", "ˌ": "2"}
_HISSING = ("S", "Z", "SH", "ZH", "CH", "JH")
_VOICELESS = ("P", "T", "K", "F", "TH", "HH")


def cmudict_path(nltk_data: Path | None) -> Path | None:
    """CMUdict inside a folder of NLTK's data, unpacked or as the archive that NLTK downloads; None where it is not."""
    if nltk_data is None:
        return None
    return next((nltk_data / inner for inner in (_FILE, _ZIP) if (nltk_data / inner).is_file()), None)


def read_cmudict(path: Path) -> Pronunciations:
    """The first pronunciation of every word, in lower case. Raises OSError, zipfile.BadZipFile, KeyError."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            content = archive.read("cmudict/cmudict").decode("utf-8", "replace")
    else:
        content = path.read_text(encoding="utf-8", errors="replace")
    found: Pronunciations = {}
    for line in content.splitlines():
        word, _, rest = line.partition(" ")
        found.setdefault(word.lower(), rest.split()[1:])
    return found


def to_arpabet(phonemes: str) -> list[str]:
    """hibari's phonemes of a word as ARPAbet; a stress mark belongs to the next vowel."""
    phones: list[str] = []
    stress = "0"
    for character in phonemes:
        if character in _STRESSES:
            stress = _STRESSES[character]
        elif character in _VOWELS:
            phones.append(_VOWELS[character] + stress)
            stress = "0"
        # The vowels of `bird` and `letter` take their R in.
        elif character == "ɹ" and phones and phones[-1][:2] == "ER":
            continue
        elif character == "ɹ" and phones and phones[-1] == "AH0":
            phones[-1] = "ER0"
        elif character in _CONSONANTS:
            phones.append(_CONSONANTS[character])
    return _stressed(phones)


def _stressed(phones: list[str]) -> list[str]:
    """A word of one full vowel with its stress, as CMUdict has it: hibari leaves `my` and `you` without."""
    vowels = [at for at, phone in enumerate(phones) if phone[-1].isdecimal()]
    if len(vowels) == 1 and phones[vowels[0]] not in ("AH0", "ER0"):
        phones[vowels[0]] = phones[vowels[0]][:2] + "1"
    return phones


class English:
    """Pronounces normalised text. Dictionaries and networks are loaded by the first English words."""

    def __init__(self, nltk_data: Path | None) -> None:
        self._cmudict_path = cmudict_path(nltk_data)

    @property
    def has_cmudict(self) -> bool:
        """Whether words are looked up in the dictionary that the public models learnt from."""
        return self._cmudict_path is not None

    @cached_property
    def _cmudict(self) -> Pronunciations:
        if self._cmudict_path is None:
            return {}
        try:
            return read_cmudict(self._cmudict_path)
        except (OSError, EOFError, zipfile.BadZipFile, zlib.error, KeyError) as error:
            raise RequestError(
                f"NLTK's cmudict cannot be read from {self._cmudict_path}: {error}. Download it again or remove it"
            ) from error

    @cached_property
    def _network(self) -> SpellingNetwork:
        return SpellingNetwork()

    @cached_property
    def _lexicon(self) -> "G2P":
        from hibari.g2p import G2P

        return G2P(oov=False)

    @cached_property
    def _homographs(self) -> dict[str, tuple[list[str], list[str], str]]:
        """Words with two readings: the first is the one of the part of speech that is named."""
        lines = (g2p_en_folder() / "homographs.en").read_text(encoding="utf-8").splitlines()
        rows = (line.strip().split("|") for line in lines if line.strip() and not line.startswith("#"))
        return {word.lower(): (first.split(), second.split(), part) for word, first, second, part in rows}

    def phones(self, text: str) -> list[str]:
        """ARPAbet phonemes and marks of text that `normalise_english` returned.

        Raises RequestError for a broken CMUdict.
        """
        phones: list[str] = []
        lexicon = self._lexicon
        apart = _MARK.sub(lambda found: found[1] or f" {found[2]} ", text)
        for token in lexicon.phonemize_tokens(lexicon.tokenize(apart)):
            if any(character.isalpha() for character in token.text):
                phones.extend(self._word(token))
            else:
                phones.extend(mark for character in token.text if (mark := mark_of(character)) is not None)
        if phones and phones[-1] not in PUNCTUATION and text[-1:] in tuple(PUNCTUATION):
            phones.append(text[-1])
        return phones

    def _word(self, token: "Tok") -> list[str]:
        word = token.text.lower()
        # Capitals are an abbreviation more often than the word of the same letters (US, IT).
        if len(word) > 1 and token.text.isupper() and token.phonemes:
            return to_arpabet(token.phonemes)
        if self.has_cmudict:
            if word in self._homographs:
                first, second, part = self._homographs[word]
                return first if token.tag.startswith(part) else second
            if word in self._cmudict:
                return self._cmudict[word]
        if token.phonemes:
            return to_arpabet(token.phonemes)
        return self._unknown(word)

    def _unknown(self, word: str) -> list[str]:
        stem, apostrophe, ending = word.partition("'")
        if apostrophe and ending == "s" and stem:
            return _with_s(self._known(stem) or self._network.pronounce(stem))
        return self._network.pronounce(word.replace("'", ""))

    def _known(self, word: str) -> list[str]:
        if word in self._cmudict:
            return list(self._cmudict[word])
        token = self._lexicon.phonemize_tokens(self._lexicon.tokenize(word))[0]
        return to_arpabet(token.phonemes or "")


def _with_s(phones: list[str]) -> list[str]:
    last = phones[-1] if phones else ""
    if last in _HISSING:
        return [*phones, "IH0", "Z"]
    return [*phones, "S" if last in _VOICELESS else "Z"]
