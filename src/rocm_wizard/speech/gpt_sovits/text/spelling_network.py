"""g2p-en's network for words that no dictionary has: a GRU over letters, then one over ARPAbet phonemes.

Only the package's weights are read. Importing `g2p_en` would try to download NLTK's data. Architecture and symbol
order: https://github.com/Kyubyong/g2p (Apache-2.0).
"""

import importlib.util
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from rocm_wizard.speech.serve import LoadFailure

_VOWELS = ("AA", "AE", "AH", "AO", "AW", "AY", "EH", "ER", "EY", "IH", "IY", "OW", "OY", "UH", "UW")
_CONSONANTS = (
    *("B", "CH", "D", "DH", "F", "G", "HH", "JH", "K", "L", "M", "N", "NG"),
    *("P", "R", "S", "SH", "T", "TH", "V", "W", "Y", "Z", "ZH"),
)
_STRESSED = (f"{vowel}{stress}" for vowel in _VOWELS for stress in range(3))
_PHONES = ["<pad>", "<unk>", "<s>", "</s>", *sorted([*_STRESSED, *_CONSONANTS, "UW"])]
_START, _END = 2, 3
_LETTERS = {letter: number for number, letter in enumerate("abcdefghijklmnopqrstuvwxyz", 3)}
_UNKNOWN_LETTER, _LAST_LETTER = 1, 2
_MOST_PHONES = 20


def g2p_en_folder() -> Path:
    """Where the g2p-en package lies. Raises LoadFailure where it is not installed."""
    spec = importlib.util.find_spec("g2p_en")
    if spec is None or not spec.submodule_search_locations:
        raise LoadFailure("package g2p-en is not installed; it pronounces English words that no dictionary has")
    return Path(next(iter(spec.submodule_search_locations)))


class SpellingNetwork:
    """Pronounces any word of the letters a to z; the same word always the same."""

    def __init__(self) -> None:
        with np.load(g2p_en_folder() / "checkpoint20.npz") as stored:
            weights = {name: torch.from_numpy(stored[name]).float() for name in stored.files}
        self._letters, self._phones = weights["enc_emb"], weights["dec_emb"]
        self._reader, self._writer = _gru(weights, "enc"), _gru(weights, "dec")
        self._out, self._bias = weights["fc_w"], weights["fc_b"]

    @torch.inference_mode()
    def pronounce(self, word: str) -> list[str]:
        """ARPAbet phonemes with stress, at most 20."""
        hidden = torch.zeros(1, self._reader.hidden_size)
        for number in [*(_LETTERS.get(letter, _UNKNOWN_LETTER) for letter in word.lower()), _LAST_LETTER]:
            hidden = self._reader(self._letters[number : number + 1], hidden)
        phones: list[str] = []
        number = _START
        while len(phones) < _MOST_PHONES:
            hidden = self._writer(self._phones[number : number + 1], hidden)
            number = int((hidden @ self._out.T + self._bias).argmax())
            if number == _END:
                break
            phones.append(_PHONES[number])
        # `UW` without stress and the network's own marks have no symbol in the decoder's set.
        return [f"{phone}0" if phone == "UW" else phone for phone in phones if not phone.startswith("<")]


def _gru(weights: dict[str, Tensor], side: str) -> nn.GRUCell:
    cell = nn.GRUCell(weights[f"{side}_w_ih"].shape[1], weights[f"{side}_w_hh"].shape[1])
    cell.load_state_dict(
        {
            "weight_ih": weights[f"{side}_w_ih"],
            "weight_hh": weights[f"{side}_w_hh"],
            "bias_ih": weights[f"{side}_b_ih"],
            "bias_hh": weights[f"{side}_b_hh"],
        }
    )
    return cell
