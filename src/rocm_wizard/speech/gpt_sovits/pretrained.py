"""Loads the two public transformers models that the engine needs: from a folder, offline, never executing a pickle."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from rocm_wizard.speech.serve import LoadFailure

if TYPE_CHECKING:
    from transformers import PreTrainedModel

WEIGHTS = ("model.safetensors", "pytorch_model.bin")


def load_pretrained[Model: "PreTrainedModel"](
    kind: type[Model], folder: Path, device: torch.device, dtype: torch.dtype, **options: Any
) -> Model:
    """A model of this kind in evaluation mode.

    `model.safetensors` is preferred; `pytorch_model.bin` is read as tensors only. Raises LoadFailure that names the
    folder, for missing files, broken ones, and weights of another architecture.
    """
    if not (folder / "config.json").is_file() or not any((folder / name).is_file() for name in WEIGHTS):
        raise LoadFailure(f"{folder}: config.json and {' or '.join(WEIGHTS)} must be in this folder")
    # With `output_loading_info` it returns a pair, which its annotation does not say.
    load: Any = kind.from_pretrained
    try:
        model, info = load(
            folder,
            local_files_only=True,
            weights_only=True,
            trust_remote_code=False,
            dtype=dtype,
            output_loading_info=True,
            **options,
        )
    except Exception as error:
        raise LoadFailure(f"{folder}: {type(error).__name__}: {str(error).splitlines()[0][:300]}") from error
    if info["missing_keys"] or info["mismatched_keys"]:
        missing = sorted([*info["missing_keys"], *(str(key[0]) for key in info["mismatched_keys"])])
        raise LoadFailure(f"{folder}: {len(missing)} weights are missing or misshapen, the first is {missing[0]}")
    return model.eval().to(device)
