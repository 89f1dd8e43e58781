"""Features of speech from `chinese-hubert-base`, of which the semantic codes are made."""

from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from rocm_wizard.speech.gpt_sovits.pretrained import load_pretrained

if TYPE_CHECKING:
    from transformers import HubertModel

RATE = 16_000


class Hubert:
    """Chinese HuBERT base: 768 features 50 times a second."""

    def __init__(self, model: "HubertModel") -> None:
        self._model = model

    @torch.inference_mode()
    def ssl(self, wav: Tensor) -> Tensor:
        """[1, n] samples at 16 kHz to [1, 768, T], T about n / 320.

        The samples go in as they are: the folder's preprocessor settings ask for zero mean and unit variance, but the
        public models' semantic codes were trained without.
        """
        weight = next(self._model.parameters())
        return self._model(wav.to(weight.device, weight.dtype)).last_hidden_state.transpose(1, 2)


def load_hubert(folder: Path, device: torch.device, dtype: torch.dtype) -> Hubert:
    """The HuBERT of a folder with config.json and weights. Raises LoadFailure."""
    from transformers import HubertModel

    return Hubert(load_pretrained(HubertModel, folder, device, dtype))
