"""What a voice engine gives the TTS sidecar: parts of an utterance, each rendered block by block."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

from rocm_wizard.speech.payload import Samples
from rocm_wizard.speech.serve import Message
from rocm_wizard.speech.tts_request import TtsRequest


@dataclass
class StageTimes:
    """Milliseconds spent in each stage of one request, by the stage's name (`g2p`, `t2s`, `cfm` ...), and counts."""

    ms: dict[str, float] = field(default_factory=dict[str, float])
    counts: dict[str, int] = field(default_factory=dict[str, int])

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Adds the time spent inside to the stage."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.add(name, time.perf_counter() - started)

    def add(self, name: str, seconds: float) -> None:
        """Adds seconds to a stage."""
        self.ms[name] = self.ms.get(name, 0.0) + seconds * 1000

    def count(self, name: str, number: int) -> None:
        """Adds to a count, such as generated semantic tokens."""
        self.counts[name] = self.counts.get(name, 0) + number

    def fields(self) -> Message:
        """As fields of `done`: `<stage>_ms`, and each count by its name."""
        return {**{f"{name}_ms": round(ms, 2) for name, ms in self.ms.items()}, **self.counts}


@dataclass(frozen=True)
class Block:
    """Consecutive samples of a part, float32 [n]. `text` is the part's text on its first block, "" on the others.

    `timing`: what making this block took, where the engine was asked to measure it (`cfm_ms`, `bigvgan_ms` ...).
    """

    samples: Samples
    text: str
    timing: Mapping[str, float] | None = None


class Speaker(Protocol):
    """One voice, ready for one request. `note` is what a listener must know of it, "" when nothing."""

    engine: str
    voice: str
    sample_rate: int
    device: str
    note: str

    def parts(self, text: str, times: StageTimes) -> list[str]:
        """The text cut into sentences that this voice can say, in order. Raises RequestError where there is none."""
        ...

    def speak(self, part: str, speed: float, block_s: float, times: StageTimes) -> Iterator[Block]:
        """Blocks of one part as they are rendered; `block_s` 0 gives one block."""
        ...


class VoiceEngine(Protocol):
    """A loaded engine with one voice or several."""

    languages: ClassVar[Mapping[str, str]]
    """Accepted labels of the wire and the engine's name for each; `auto` where it tells languages apart itself."""

    def speaker(self, asked: TtsRequest) -> Speaker:
        """The voice for a request. Raises RequestError."""
        ...

    def facts(self) -> Message:
        """The engine's own fields of `ready`."""
        ...

    def warm_up(self) -> int:
        """Pays for lazy initialisation before the first request; returns milliseconds."""
        ...
