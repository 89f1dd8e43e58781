"""Text to what the networks read: phoneme numbers, and BERT features where there is Chinese."""

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import torch
from torch import Tensor

from rocm_wizard.speech.gpt_sovits.text.chinese import chinese_phones
from rocm_wizard.speech.gpt_sovits.text.chinese_numbers import normalise_chinese
from rocm_wizard.speech.gpt_sovits.text.english import English
from rocm_wizard.speech.gpt_sovits.text.english_numbers import normalise_english
from rocm_wizard.speech.gpt_sovits.text.japanese import japanese_phones, normalise_japanese
from rocm_wizard.speech.gpt_sovits.text.languages import MAIN, spans
from rocm_wizard.speech.gpt_sovits.text.marks import closed
from rocm_wizard.speech.gpt_sovits.text.symbols import PUNCTUATION, ids_of
from rocm_wizard.speech.serve import LoadFailure, RequestError

BERT_WIDTH = 1024
FEWEST_PHONES = 6
"""A text of fewer phonemes gets a leading `.`: the decoder stumbles over shorter ones."""
_FEWEST_ENGLISH = 4
_PACKAGES = {
    "pyopenjtalk": "pyopenjtalk-plus",
    "hibari": "hibari-tts",
    "g2p_en": "g2p-en",
    "pypinyin": "pypinyin",
    "jieba": "jieba",
}
_NO_CMUDICT = (
    "English is pronounced without NLTK's cmudict, by hibari's lexicon and g2p-en's network: some vowels differ from "
    "those that the model was trained with"
)


class Characters(Protocol):
    """What the front end needs of a Chinese BERT (see `bert.Bert`)."""

    @property
    def width(self) -> int:
        """The length of a feature vector."""
        ...

    def features(self, text: str, counts: list[int]) -> Tensor:
        """[width, sum(counts)] for a text whose character i is repeated counts[i] times."""
        ...


@dataclass(frozen=True)
class Phones:
    """A text as the decoder reads it.

    `ids`: P phoneme numbers below 732. `word_to_phones`: how many phonemes each character of `normalised` has, where
    all of it is Chinese; else None. `bert`: float32 [1024, P] on the CPU, zeros where no Chinese is.
    """

    ids: list[int]
    word_to_phones: list[int] | None
    normalised: str
    bert: Tensor


@dataclass(frozen=True)
class _Spelt:
    phones: list[str]
    counts: list[int] | None
    normalised: str


class FrontEnd:
    """Spells texts in Japanese, English and Chinese. Nothing is downloaded; dictionaries load at their first use."""

    def __init__(self, nltk_data: Path | None, bert: Characters | None, bert_width: int = BERT_WIDTH) -> None:
        """`nltk_data`: a folder with `corpora/cmudict` or None. `bert_width`: the decoder's.

        Raises LoadFailure where a package is missing or the BERT has another width.
        """
        missing = [name for module, name in _PACKAGES.items() if importlib.util.find_spec(module) is None]
        if missing:
            raise LoadFailure(f"packages of the extra `engines` are not installed: {', '.join(missing)}")
        if bert is not None and bert.width != bert_width:
            raise LoadFailure(f"the Chinese BERT gives {bert.width} features, the GPT checkpoint takes {bert_width}")
        self._english = English(nltk_data)
        self._bert = bert
        self._width = bert_width

    @property
    def note(self) -> str:
        """What a listener must know of the pronunciation, "" when nothing."""
        return "" if self._english.has_cmudict else _NO_CMUDICT

    def phones(self, text: str, language: str) -> Phones:
        """Phonemes of a text, a closing mark added to each line.

        Args:
            text: one item.
            language: `ja`, `all_ja`, `zh`, `all_zh` (each with English inside), `en`, `auto`.

        Raises RequestError for other labels, for Chinese without a BERT and where nothing can be spoken.
        """
        main = MAIN.get(language, language)
        lines = (line.strip() for line in text.splitlines())
        whole = (" " if main == "en" else "").join(closed(line, main) for line in lines if line)
        found = self._phones(whole, language)
        return self._phones(f".{whole}", language) if len(found.ids) < FEWEST_PHONES else found

    def _phones(self, text: str, language: str) -> Phones:
        parts = [(kind, self._spelt(stretch, kind)) for kind, stretch in spans(text, language)]
        phones = [phone for _, spelt in parts for phone in spelt.phones]
        if all(phone in PUNCTUATION for phone in phones):
            raise RequestError(f"nothing in the text can be spoken as {language}: {text[:80]!r}")
        counts: list[int] | None = []
        for _, spelt in parts:
            counts = None if counts is None or spelt.counts is None else counts + spelt.counts
        features = [self._features(spelt) for _, spelt in parts if spelt.phones]
        return Phones(ids_of(phones), counts, "".join(spelt.normalised for _, spelt in parts), torch.cat(features, 1))

    def _spelt(self, stretch: str, language: str) -> _Spelt:
        if language == "zh":
            normalised = normalise_chinese(stretch)
            phones, counts = chinese_phones(normalised)
            return _Spelt(phones, counts, normalised)
        if language == "ja":
            normalised = normalise_japanese(stretch)
            return _Spelt(japanese_phones(normalised), None, normalised)
        normalised = normalise_english(stretch)
        phones = self._english.phones(normalised)
        # The public front end begins very short English so, in training too.
        return _Spelt([",", *phones] if 0 < len(phones) < _FEWEST_ENGLISH else phones, None, normalised)

    def _features(self, spelt: _Spelt) -> Tensor:
        if spelt.counts is None:
            return torch.zeros(self._width, len(spelt.phones))
        if self._bert is None:
            raise RequestError("Chinese needs the folder chinese-roberta-wwm-ext-large beside the pretrained models")
        return self._bert.features(spelt.normalised, spelt.counts)
