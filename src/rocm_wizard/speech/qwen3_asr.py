"""Qwen3-ASR through the package `qwen-asr` 0.0.6, set up as the host's own sidecar sets it up (`docs/engines.md`).

No voice gate stands before it: the host's sidecar has none, and what the host would hear is what is measured.
"""

import hashlib
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from qwen_asr import Qwen3ASRModel
from transformers.modeling_utils import PreTrainedModel
from transformers.models.auto.modeling_auto import AutoModel
from transformers.models.auto.processing_auto import AutoProcessor
from transformers.utils import logging as transformers_logging

from rocm_wizard.speech.asr_engine import (
    FEWEST_TOKENS,
    RATE,
    WARM_UP_SECONDS,
    Heard,
    attention_for,
    token_limit,
)
from rocm_wizard.speech.devices import is_hip, synchronise
from rocm_wizard.speech.payload import Samples
from rocm_wizard.speech.qwen3_asr_folder import ModelFolder
from rocm_wizard.speech.serve import LoadFailure, Message, RequestError

# The mel spectrogram reflects half of its 400-sample window at each end, which needs one sample more.
FEWEST_SAMPLES = 201
WARM_UP_VARIABLE = "QWEN3_ASR_WARMUP"
FALSE_WORDS = frozenset({"0", "false", "no", "off"})


class Qwen3Asr:
    """See `asr_engine.AsrEngine`. bfloat16 on a GPU, float32 on the CPU and on mps."""

    def __init__(self, device: torch.device, folder: ModelFolder, environment: Mapping[str, str]) -> None:
        """Load the network. Raises LoadFailure where weights and configuration do not belong together."""
        transformers_logging.set_verbosity_error()  # a host may never read stderr, and a full pipe would stop us
        self._device = device
        self._hip = is_hip() and device.type == "cuda"
        self._warms_up = warm_up_wanted(device.type, environment.get(WARM_UP_VARIABLE), hip=self._hip)
        self._name, self._sha256 = folder.path.name, _joined_sha256(folder.weights)
        dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
        network = load_network(folder.path, device, dtype, attention_for(self._hip))
        self._attention = settle_attention(network, hip=self._hip)
        self._dtype = str(network.dtype).removeprefix("torch.")
        processor = AutoProcessor.from_pretrained(
            str(folder.path), fix_mistral_regex=True, local_files_only=True, trust_remote_code=False
        )
        self._model = Qwen3ASRModel("transformers", network, processor, max_inference_batch_size=1)
        self._steps = _Steps(network, device)

    @property
    def language_names(self) -> Sequence[str]:
        """See `asr_engine.AsrEngine.language_names`: the thirty that qwen-asr takes."""
        return self._model.get_supported_languages()

    def facts(self) -> Message:
        """See `asr_engine.AsrEngine.facts`."""
        return {
            "attn_impl": self._attention,
            "model": self._name,
            "weights_sha256": self._sha256,
            "dtype": self._dtype,
        }

    def warm_up(self) -> int:
        """See `asr_engine.AsrEngine.warm_up`: 2 s of zeros on a GPU, where QWEN3_ASR_WARMUP allows it."""
        if not self._warms_up:
            return 0
        started = time.perf_counter()
        self._recognise(torch.zeros(WARM_UP_SECONDS * RATE).numpy(), "Chinese", "", FEWEST_TOKENS)
        return round((time.perf_counter() - started) * 1000)

    def transcribe(self, samples: Samples, language: str | None, context: str) -> Heard:
        """See `asr_engine.AsrEngine.transcribe`. Raises RequestError for fewer than 201 samples."""
        if samples.size < FEWEST_SAMPLES:
            raise RequestError(
                f"the audio has {samples.size} samples at {RATE} Hz; at least {FEWEST_SAMPLES} are needed"
            )
        return self._recognise(samples, language, context, token_limit(samples.size / RATE))

    def _recognise(self, samples: Samples, language: str | None, context: str, most_tokens: int) -> Heard:
        started = time.perf_counter()
        self._steps.restart()
        self._model.max_new_tokens = most_tokens
        found = self._model.transcribe((samples, RATE), context=context, language=language)[0]
        synchronise(self._device)
        done = time.perf_counter()
        encoded = self._steps.encoded_at
        return Heard(
            text=found.text.strip(),
            language=found.language,
            tokens=self._steps.tokens,
            encode_ms=(encoded - started) * 1000,
            decode_ms=(done - encoded) * 1000,
        )


class _Steps:
    """Counts the decoder's passes, one a token, and notes when the encoder has ended: qwen-asr tells neither."""

    def __init__(self, network: Any, device: torch.device) -> None:
        self._device = device
        self.tokens, self.encoded_at = 0, 0.0
        network.thinker.audio_tower.register_forward_hook(self._encoded)
        network.thinker.model.register_forward_hook(self._stepped)

    def restart(self) -> None:
        """Before each utterance."""
        self.tokens = 0

    def _encoded(self, *_: object) -> None:
        synchronise(self._device)
        self.encoded_at = time.perf_counter()

    def _stepped(self, *_: object) -> None:
        self.tokens += 1


def load_network(folder: Path, device: torch.device, dtype: torch.dtype, attention: str) -> Any:
    """The network of a checked folder, safetensors only. Raises LoadFailure for weights that leave it with gaps."""
    loaded: Any = AutoModel.from_pretrained(
        str(folder),
        dtype=dtype,
        device_map=str(device),
        attn_implementation=attention,
        use_safetensors=True,
        local_files_only=True,
        trust_remote_code=False,
        output_loading_info=True,
    )
    network, report = loaded
    gaps = sorted(report["missing_keys"])
    if gaps or report["mismatched_keys"]:
        raise LoadFailure(
            f"the weights in {folder} do not fit its config.json: {gaps[:5]} {report['mismatched_keys'][:5]}"
        )
    return network


def settle_attention(network: Any, *, hip: bool) -> str:
    """Puts a loaded network on HIP wholly on eager attention; returns how attention is computed, in the host's words.

    qwen-asr 0.0.6 builds its nested configurations after transformers has handed down the attention asked for, so only
    the outermost network follows; transformers' setter reaches all. Without it the inner ones stay on SDPA, of which
    `devices.prepare_torch` leaves only the math kernel on HIP. Raises LoadFailure where the setter fails.
    """
    setter = getattr(network, "set_attn_implementation", None)
    name = attention_name(hip=hip, setter=callable(setter))
    if hip and callable(setter):
        setter("eager")
        used = attention_used(network)
        if used != {"eager"}:
            raise LoadFailure(f"attention is {', '.join(sorted(used))} though eager was set")
    return name


def attention_name(*, hip: bool, setter: bool) -> str:
    """The host's name for the attention: by device, and whether transformers' setter is there."""
    if not hip:
        return attention_for(hip)
    return "eager_recursive" if setter else "eager+math_sdp"


def attention_used(network: Any) -> set[str]:
    """The attention of the network and of every network inside it."""
    parts = (part for part in network.modules() if isinstance(part, PreTrainedModel))
    return {str(part.config._attn_implementation) for part in parts}


def warm_up_wanted(device_kind: str, setting: str | None, *, hip: bool) -> bool:
    """Whether to warm up before `ready`: a GPU only, and by QWEN3_ASR_WARMUP; where that is not set, on HIP only."""
    on = hip if setting is None else setting.strip().lower() not in FALSE_WORDS
    return on and device_kind == "cuda"


def _joined_sha256(files: Sequence[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        with file.open("rb") as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()
