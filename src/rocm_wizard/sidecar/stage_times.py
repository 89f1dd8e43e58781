"""What the stages of a synthesis took: from our engine's messages, or from the log of the host project's sidecar."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rocm_wizard.sidecar.client import Block

_NUMBER = r"\d{1,9}(?:\.\d{1,6})?"
_BLOCK = re.compile(
    rf"\[v3-stream\] chunk=\d+ cfm=(?P<cfm>{_NUMBER})ms denorm=[\d.]+ms bigvgan=(?P<bigvgan>{_NUMBER})ms "
    r"mel_T=(?P<mel>\d{1,9})"
)
_WHOLE = re.compile(
    rf"\[sovits-timing\] cfm=(?P<cfm>{_NUMBER})ms\s+denorm=[\d.]+ms\s+bigvgan=(?P<bigvgan>{_NUMBER})ms\s+"
    r"mel_T=(?P<mel>\d{1,9})"
)
_COMPUTED = re.compile(r"\[v3-stream\] chunk=(\d+) (?:\S+ ){0,3}mel_T=\d{1,9}(?!\d)")
"""A streamed block, timed or not."""
_T2S = re.compile(rf"\[t2s\] tokens=(?P<tokens>\d{{1,9}}) elapsed=(?P<elapsed>{_NUMBER})s")
_TOTALS = ("t2s_ms", "t2s_tokens", "encoder_ms", "cfm_ms", "bigvgan_ms", "g2p_ms", "reference_ms")


@dataclass(frozen=True, slots=True)
class BlockTimes:
    """One block: milliseconds of flow matching (CFM) and vocoder (BigVGAN), and mel frames (256 samples each)."""

    cfm_ms: float
    bigvgan_ms: float
    mel_frames: int


@dataclass(frozen=True, slots=True)
class StageTimes:
    """An utterance: its blocks, and totals in milliseconds (`t2s_tokens`: a count) under the wire's names."""

    blocks: tuple[BlockTimes, ...]
    totals: Mapping[str, float]


def times_from_messages(blocks: Sequence[Block], done: Mapping[str, Any]) -> StageTimes | None:
    """The times that the messages carry; None when they carry none."""
    found: list[BlockTimes] = []
    for block in blocks:
        said = block.chunk.timing
        if "cfm_ms" in said and "bigvgan_ms" in said:
            found.append(BlockTimes(said["cfm_ms"], said["bigvgan_ms"], int(said.get("mel_frames", 0))))
    totals = {name: float(done[name]) for name in _TOTALS if _is_number(done.get(name))}
    return StageTimes(tuple(found), totals) if found or totals else None


def times_from_log(stderr_lines: Sequence[str]) -> StageTimes | None:
    """The times in the lines that the host project's sidecar logged during one utterance; None when there are none.

    CFM and vocoder are measured only with `TTS_SOVITS_SYNC_TIMING=1`, which slows the synthesis down; without it the
    lines of streamed blocks have no times (`blocks_computed` counts them) and those of whole utterances a CFM time of
    0, which is left out here. T2S is logged only with the option `collect_t2s_stats`.
    """
    found: list[BlockTimes] = []
    tokens, t2s_ms = 0, 0.0
    for line in stderr_lines:
        if (block := _BLOCK.search(line) or _WHOLE.search(line)) is not None:
            found.append(BlockTimes(float(block["cfm"]), float(block["bigvgan"]), int(block["mel"])))
        elif (semantic := _T2S.search(line)) is not None:
            tokens += int(semantic["tokens"])
            t2s_ms += float(semantic["elapsed"]) * 1000
    totals: dict[str, float] = {}
    if found:
        totals |= {
            "cfm_ms": sum(block.cfm_ms for block in found),
            "bigvgan_ms": sum(block.bigvgan_ms for block in found),
        }
    if tokens:
        totals |= {"t2s_ms": t2s_ms, "t2s_tokens": float(tokens)}
    return StageTimes(tuple(found), totals) if totals else None


def blocks_computed(stderr_lines: Sequence[str]) -> int:
    """How many blocks of an utterance's first item the host project's sidecar logged, timed or not; 0 for any other.

    An item is what is cut from the text at a time; its blocks are counted from 0. Its onset gate keeps blocks back
    until one is voiced, so more may be computed than are sent.
    """
    numbers = [int(found[1]) for line in stderr_lines if (found := _COMPUTED.search(line)) is not None]
    second = next((at for at, number in enumerate(numbers) if at and number == 0), len(numbers))
    return len(numbers[:second])


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e12
