"""What the ASR sidecar asks of a recogniser, and the rules that every recogniser keeps."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from rocm_wizard.speech.payload import Samples
from rocm_wizard.speech.serve import LoadFailure, Message

RATE = 16_000
WARM_UP_SECONDS = 2
FEWEST_TOKENS, MOST_TOKENS, TOKENS_PER_SECOND = 32, 256, 10


@dataclass(frozen=True)
class Heard:
    """What was heard. `language` is the English name, "" where none was told or detected.

    `encode_ms` ends when the encoder has finished, `decode_ms` is the rest; `tokens` counts what the decoder gave, the
    end token included. `gate_ms` and `speech_ratio` only where a voice gate stands before the network.
    """

    text: str
    language: str
    tokens: int
    encode_ms: float
    decode_ms: float
    gate_ms: float | None = None
    speech_ratio: float | None = None


class AsrEngine(Protocol):
    """A loaded recogniser. One utterance at a time, greedy: the same samples give the same text."""

    @property
    def language_names(self) -> Sequence[str]:
        """English names of the languages that may be asked for."""
        ...

    def facts(self) -> Message:
        """The engine's own fields of `ready`: `attn_impl`, `model`, `weights_sha256`, `dtype`."""
        ...

    def warm_up(self) -> int:
        """Pays for lazy initialisation before the first request; milliseconds, 0 where this device needs none."""
        ...

    def transcribe(self, samples: Samples, language: str | None, context: str) -> Heard:
        """Recognise 16 kHz mono samples, shape [n], at most 30 s. Raises RequestError.

        `language` is one of `language_names`, None for detection. `context`: words or text that are likely to occur.
        """
        ...


def token_limit(seconds: float) -> int:
    """Most tokens for an utterance: ten a second, between 32 and 256, as the host's own sidecar allows."""
    return min(MOST_TOKENS, max(FEWEST_TOKENS, math.floor(seconds * TOKENS_PER_SECOND)))


def attention_for(hip: bool) -> str:
    """transformers' name of the attention to ask for: eager on HIP, where fused kernels are not trusted, else SDPA."""
    return "eager" if hip else "sdpa"


def refuse_code(folder: Path) -> None:
    """Raises LoadFailure for a model folder with code in it.

    transformers 4.57.6 runs `custom_generate/generate.py` of a local folder without asking, `trust_remote_code=False`
    or not (`GenerationMixin.load_custom_generate`).
    """
    code = folder / "custom_generate"
    if code.exists():
        raise LoadFailure(
            f"{code} is code that loading the model would run; remove it if the weights are to be trusted"
        )
