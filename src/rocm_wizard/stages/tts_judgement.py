"""An utterance judged as sound, before anybody asks what words it says: its signal and the seams of its blocks."""

from itertools import accumulate
from typing import Any

from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import StageContext
from rocm_wizard.stages.tts_presets import Plan, plausible_seconds
from rocm_wizard.stages.utterance import Utterance

SILENT_DBFS = -60.0
CLIPPED_SHARE = 1e-4
DC_OFFSET = 0.01
LEAST_VOICED = 0.3
"""Share of 10 ms windows above -50 dBFS. Embedded voices: 0.61 to 0.82."""
LEADING_SILENCE = 0.5
"""Seconds. The host's onset gate lets 0.05 s through; without it generated leads are 0.8 to 1.0 s."""
_SHOWN = 5


def judge_signal(context: StageContext, utterance: Utterance, plan: Plan, language: str) -> bool:
    """Level, length, clipping, offset and silence, pauses left out. False: this cannot be the text."""
    import numpy as np

    from rocm_wizard.audio.signal import measure_signal

    blocks = [block.chunk.samples for block in utterance.speech or utterance.blocks]
    signal = measure_signal(np.concatenate(blocks), utterance.rate)
    shortest, longest = plausible_seconds(plan.text, language, plan.speed)
    voiced = 1 - signal.silent_ratio
    facts: dict[str, Any] = {
        "rms_dbfs": round(signal.rms_dbfs, 1),
        "peak": round(signal.peak, 3),
        "seconds": round(utterance.seconds, 2),
        "characters": len(plan.text),
        "dc_offset": round(signal.dc_offset, 5),
        "voiced": round(voiced, 3),
        "leading": round(signal.leading_silence_ms / 1000, 3),
    }
    if signal.rms_dbfs < SILENT_DBFS:
        context.finding("tts.silent", Outcome.FAILED, limit=SILENT_DBFS, **facts)
        return False
    if not shortest <= utterance.seconds <= longest:
        context.finding("tts.duration_absurd", Outcome.FAILED, shortest=shortest, longest=longest, **facts)
        return False
    flaws = {
        "tts.clipped": signal.clipped > CLIPPED_SHARE * signal.frames,
        "tts.dc_offset": abs(signal.dc_offset) > DC_OFFSET,
        "tts.mostly_silence": voiced < LEAST_VOICED,
        "tts.leading_silence": signal.leading_silence_ms / 1000 > LEADING_SILENCE,
    }
    limits = {
        "tts.clipped": CLIPPED_SHARE,
        "tts.dc_offset": DC_OFFSET,
        "tts.mostly_silence": LEAST_VOICED,
        "tts.leading_silence": LEADING_SILENCE,
    }
    facts |= {"clipped": signal.clipped, "share": signal.clipped / signal.frames}
    for id, flawed in flaws.items():
        if flawed:
            context.finding(id, Outcome.WARNING, limit=limits[id], **facts)
    if not any(flaws.values()):
        context.finding("tts.signal", Outcome.PASSED, **facts)
    return True


def judge_seams(context: StageContext, utterance: Utterance) -> None:
    """Clicks where blocks meet, and blocks that came twice."""
    from rocm_wizard.audio.joins import CLICK_JUMP, CLICK_SURPRISE, find_repeats, judge_joins

    blocks = utterance.blocks
    if len(blocks) < 2:
        context.finding("tts.joins_none", Outcome.SKIPPED)
        return
    ends = list(accumulate(len(block.chunk.samples) for block in blocks))
    joins = judge_joins(utterance.samples(), ends[:-1], utterance.rate)
    for number, join in enumerate(joins, start=1):
        context.measure("tts.join_jump", join.jump, "", number)
    clicks = [(number, join) for number, join in enumerate(joins, start=1) if join.click]
    said = _items(utterance)
    repeats = [
        repeat
        for repeat in find_repeats([chunk.samples for chunk in utterance.chunks], utterance.rate)
        if not _said_again(said[repeat.block], said[repeat.of])
    ]
    if clicks:
        worst = max((join for _, join in clicks), key=lambda join: join.jump)
        context.finding(
            "tts.clicks",
            Outcome.WARNING,
            clicks=len(clicks),
            joins=len(joins),
            places=[f"{join.index / utterance.rate:.2f} s" for _, join in clicks[:_SHOWN]],
            jump=round(worst.jump, 3),
            surprise=round(worst.surprise, 1),
            least_jump=CLICK_JUMP,
            least_surprise=CLICK_SURPRISE,
        )
    if repeats:
        context.finding(
            "tts.blocks_repeated",
            Outcome.FAILED,
            repeats=len(repeats),
            blocks=len(blocks),
            pairs=[f"{repeat.block + 1} = {repeat.of + 1}" for repeat in repeats[:_SHOWN]],
            correlation=round(max(repeat.correlation for repeat in repeats), 4),
        )
    if not clicks and not repeats:
        largest = max((join.jump for join in joins), default=0.0)
        context.finding("tts.joins", Outcome.PASSED, joins=len(joins), jump=round(largest, 4))


def _items(utterance: Utterance) -> list[tuple[int, str]]:
    """For each block the number and the text of the item that it belongs to; a text marks an item's first block."""
    items: list[tuple[int, str]] = []
    for chunk in utterance.chunks:
        number, text = items[-1] if items else (0, "")
        items.append((number + 1, chunk.text) if chunk.text else (number, text))
    return items


def _said_again(one: tuple[int, str], other: tuple[int, str]) -> bool:
    """Whether both blocks are of items with the same words ("No. No."), which a voice may say alike."""
    return one[0] != other[0] and one[1] == other[1]
