"""Features of Chinese characters from `chinese-roberta-wwm-ext-large`."""

from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from rocm_wizard.speech.gpt_sovits.pretrained import load_pretrained
from rocm_wizard.speech.serve import LoadFailure

if TYPE_CHECKING:
    from transformers import BertModel, BertTokenizerFast

_UNUSED_LAYERS = 2


class Bert:
    """A BERT cut at its third last hidden layer, which is what the GPT decoder was trained on."""

    def __init__(self, model: "BertModel", tokenizer: "BertTokenizerFast") -> None:
        """`model` as stored; its last two layers are dropped."""
        # transformers counts the embedding as a hidden layer too: the third last is what layer N - 2 gives.
        model.encoder.layer = model.encoder.layer[:-_UNUSED_LAYERS]
        self._model = model
        self._tokenizer = tokenizer
        self._most = model.config.max_position_embeddings - 2

    @property
    def width(self) -> int:
        """The length of a feature vector."""
        return self._model.config.hidden_size

    @torch.inference_mode()
    def features(self, text: str, counts: list[int]) -> Tensor:
        """Features for each phoneme: float32 [width, sum(counts)] on the CPU.

        Args:
            text: Han characters and marks, each a token of its own.
            counts: phonemes of each character.
        """
        if len(text) != len(counts):
            raise ValueError(f"{len(text)} characters and {len(counts)} counts")
        rows = [self._characters(text[at : at + self._most]) for at in range(0, len(text), self._most)]
        repeats = torch.tensor(counts)
        return torch.cat(rows).repeat_interleave(repeats, dim=0).T.contiguous()

    def _characters(self, text: str) -> Tensor:
        """[n, width] of at most 510 characters, the sentence's own begin and end tokens left out."""
        tokenizer = self._tokenizer
        tokens = [str(tokenizer.cls_token), *text, str(tokenizer.sep_token)]
        ids = torch.tensor([tokenizer.convert_tokens_to_ids(tokens)], device=self._model.device)
        hidden = self._model.forward(input_ids=ids, return_dict=False)[0]
        return hidden[0, 1:-1].float().cpu()


def load_bert(folder: Path, device: torch.device, dtype: torch.dtype) -> Bert:
    """The BERT of a folder with config.json, weights and tokenizer.json or vocab.txt. Raises LoadFailure."""
    from transformers import BertModel, BertTokenizerFast

    if not any((folder / name).is_file() for name in ("tokenizer.json", "vocab.txt")):
        raise LoadFailure(f"{folder}: tokenizer.json or vocab.txt must be in this folder")
    model = load_pretrained(BertModel, folder, device, dtype, add_pooling_layer=False)
    if model.config.num_hidden_layers <= _UNUSED_LAYERS:
        raise LoadFailure(f"{folder}: a BERT of {model.config.num_hidden_layers} layers has no third last hidden layer")
    return Bert(model, BertTokenizerFast.from_pretrained(folder, local_files_only=True))
