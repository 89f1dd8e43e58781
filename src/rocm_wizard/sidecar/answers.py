"""What a client of a sidecar gives: a recognised text, a block of speech, the rest of an interrupted utterance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rocm_wizard.sidecar.messages import Chunk


@dataclass(frozen=True, slots=True)
class Transcript:
    """A recogniser's answer; `seconds` is request written to answer read."""

    text: str
    seconds: float
    extra: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Block:
    """One block of speech as it arrived, `seconds` after the request was written."""

    index: int
    chunk: Chunk
    seconds: float


@dataclass(frozen=True, slots=True)
class Drained:
    """The rest of an interrupted utterance, which nobody wanted any more.

    Attributes:
        seconds: from the interruption to the utterance's end.
        blocks: how many came.
        last: the last of them; None where none came.
        error: what the sidecar said where the utterance ended with an `error`; None when it ended well.
        log: the cleaned lines that the sidecar logged during the whole utterance.
    """

    seconds: float
    blocks: int
    last: Chunk | None
    error: str | None
    log: Sequence[str]
