"""What a voice engine gives the TTS sidecar: parts of an utterance, each rendered block by block."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from rocm_wizard.speech.payload import Samples

# Below this a block is a click in the host's player, not sound; it joins its neighbour.
SHORTEST_BLOCK_S = 0.05


@dataclass
class StageTimes:
    """Milliseconds spent in each stage of one request; engines add to it as they go."""

    g2p_ms: float = 0.0
    network_ms: float = 0.0
    render_ms: float = 0.0


@dataclass(frozen=True)
class Block:
    """Consecutive samples of a part, float32 [n]. `text` is the part's text on its first block, "" on the others."""

    samples: Samples
    text: str


class Speaker(Protocol):
    """One voice."""

    engine: str
    voice: str
    sample_rate: int
    device: str

    def parts(self, text: str, times: StageTimes) -> list[str]:
        """The text cut into sentences that this voice can say, in order. Raises RequestError where there is none."""
        ...

    def speak(self, part: str, speed: float, block_s: float, times: StageTimes) -> Iterator[Block]:
        """Blocks of one part as they are rendered; `block_s` 0 gives one block."""
        ...
