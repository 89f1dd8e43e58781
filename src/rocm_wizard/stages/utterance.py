"""An utterance: the request that asks for it, and its blocks as they arrived."""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from rocm_wizard.assets import asset
from rocm_wizard.sidecar.client import Block, SidecarClient
from rocm_wizard.sidecar.messages import LANGUAGE_LABELS, Chunk, Samples
from rocm_wizard.stages.session import Session
from rocm_wizard.stages.speech_children import tts_language, voice_reference

PAUSE_SECONDS = 0.41
"""Always sent, so that zeros of just this length are known to be a pause and not speech. The host asks for 0.4 s, which
a block of dead zeros may have too."""


def default_text(language: str, id: str = "sentence") -> str:
    """A text of `assets/texts.toml`.

    Raises:
        KeyError: there is none for this language.
    """
    return speech_texts()["text"][id][language]


@cache
def speech_texts() -> Mapping[str, Any]:
    """All of `assets/texts.toml`: texts, and how the host asks for them."""
    with asset("texts.toml").open("rb") as file:
        return tomllib.load(file)


def stream_request(
    session: Session, text: str, chunk_seconds: float, speed: float = 1.0, **more: Any
) -> dict[str, Any]:
    """The `request` object of an `infer_stream` message; `more` joins its `options`.

    A checkout's voice knows no reference but the request's, and takes its words for Japanese where nobody says.
    """
    language = tts_language(session)
    label = LANGUAGE_LABELS[language]
    request: dict[str, Any] = {
        "text": text,
        "language": language,
        "speed": speed,
        "chunk_size_seconds": chunk_seconds,
        "options": {"text_language": label, "pause_second": PAUSE_SECONDS, **more},
    }
    reference, said = voice_reference(session)
    if reference is not None:
        request |= {"reference_audio": str(reference.absolute()), "reference_text": said}
        request["options"] |= {"prompt_language": label}
    return request


class Utterance:
    """The blocks of one utterance in the order of their arrival.

    Pauses (blocks of zeros, exactly as long as the pause that was asked for) belong to the sound but are no speech:
    durations, the real-time factor and block counts leave them out. `log`: what the sidecar logged meanwhile.
    """

    def __init__(self, pause_seconds: float = PAUSE_SECONDS) -> None:
        self.blocks: list[Block] = []
        self.done: Mapping[str, Any] = {}
        self.log: Sequence[str] = ()
        self._pause_seconds = pause_seconds

    def add(self, block: Block) -> None:
        """Takes one block."""
        self.blocks.append(block)

    def is_pause(self, block: Block) -> bool:
        """Whether the block is the pause after a sentence."""
        chunk = block.chunk
        return len(chunk.samples) == int(chunk.sample_rate * self._pause_seconds) and not chunk.samples.any()

    @property
    def speech(self) -> list[Block]:
        """The blocks without the pauses."""
        return [block for block in self.blocks if not self.is_pause(block)]

    @property
    def chunks(self) -> list[Chunk]:
        """The wire's chunks, pauses too."""
        return [block.chunk for block in self.blocks]

    @property
    def rate(self) -> int:
        """Samples a second."""
        return self.blocks[0].chunk.sample_rate

    @property
    def seconds(self) -> float:
        """The length of the speech."""
        return sum(len(block.chunk.samples) for block in self.speech) / self.rate

    @property
    def seconds_with_pauses(self) -> float:
        """The length of the sound."""
        return sum(len(block.chunk.samples) for block in self.blocks) / self.rate

    @property
    def first_audio(self) -> float:
        """Seconds from the request to the first block."""
        return self.blocks[0].seconds

    @property
    def first_voiced(self) -> float | None:
        """Seconds from the request until a listener of the host, who hears from the first block on, hears a voice.

        The host counts what reaches -45 dBFS for 10 ms as a voice. None: there is nothing of the kind.
        """
        from rocm_wizard.audio.signal import first_voiced

        ends = 0.0
        for block in self.blocks:
            begins = max(ends, block.seconds)
            ends = begins + len(block.chunk.samples) / self.rate
            found = first_voiced(block.chunk.samples, self.rate)
            if found is not None:
                return begins + found / self.rate
        return None

    @property
    def synthesis(self) -> float:
        """Seconds from the request to the last block of speech."""
        return (self.speech or self.blocks)[-1].seconds

    @property
    def real_time_factor(self) -> float:
        """Seconds of work a second of speech: below 1 is faster than real time."""
        return self.synthesis / self.seconds if self.seconds else float("inf")

    def samples(self) -> Samples:
        """All blocks, pauses too, as one float32 array."""
        import numpy as np

        return np.concatenate([block.chunk.samples for block in self.blocks])


def speak(
    client: SidecarClient, request: Mapping[str, Any], on_block: Callable[[Block], None] | None = None
) -> Utterance:
    """One whole utterance; `on_block` is told each block as it arrives. Raises `SidecarError`."""
    utterance = Utterance(float(request["options"]["pause_second"]))
    for item in client.speak(request):
        if isinstance(item, Block):
            utterance.add(item)
            if on_block is not None:
                on_block(item)
        else:
            utterance.done = item
    utterance.log = client.request_log()
    return utterance
