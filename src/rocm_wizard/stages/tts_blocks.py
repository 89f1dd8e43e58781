"""When blocks arrive, and whether a listener would hear gaps between them: playback worked out from arrival times."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import StageContext
from rocm_wizard.stages.tts_presets import Plan
from rocm_wizard.stages.utterance import Utterance

AUDIBLE_GAP = 0.010
"""Seconds. The host writes to its device in windows of 10 ms; what is shorter the device's own buffer bridges."""
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Gap:
    """Silence in front of block `block` (from 0), after `at` seconds of sound; `seconds` long."""

    block: int
    at: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Playback:
    """What a listener hears whose player starts with `prebuffer` seconds of sound in hand.

    `start`: seconds from the request. `least_lead`: how early the latest block came, in seconds, of those that were not
    there at the start; negative is late, None where all were there.
    """

    prebuffer: float
    start: float
    gaps: Sequence[Gap]
    least_lead: float | None


def simulate_playback(
    arrivals: Sequence[float], durations: Sequence[float], prebuffer: float = 0.0, longest_wait: float = float("inf")
) -> Playback:
    """Plays blocks that arrive at `arrivals` (seconds, ascending) and last `durations` seconds.

    The player starts when `prebuffer` seconds are there, when the last block is, or `longest_wait` after the first. A
    block that is late is played when it comes, as the host does; no further cushion is gathered.

    Raises:
        ValueError: there are no blocks.
    """
    if not arrivals:
        raise ValueError("an utterance has blocks")
    start, gathered = arrivals[-1], 0.0
    for arrived, seconds in zip(arrivals, durations, strict=True):
        gathered += seconds
        if gathered >= prebuffer:
            start = arrived
            break
    start = min(start, arrivals[0] + longest_wait)
    gaps: list[Gap] = []
    due, at, least = start, 0.0, None
    for block, (arrived, seconds) in enumerate(zip(arrivals, durations, strict=True)):
        if arrived > start:
            lead = due - arrived
            least = lead if least is None else min(least, lead)
            if lead < 0:
                gaps.append(Gap(block, at, -lead))
                due = arrived
        due += seconds
        at += seconds
    return Playback(prebuffer, start, gaps, least)


def playback_of(utterance: Utterance, prebuffer: float = 0.0) -> Playback:
    """How an utterance would have played, pauses included; a player with a prebuffer waits for it as ours does."""
    from rocm_wizard.audio.policy import PREBUFFER_LIMIT_SECONDS

    arrivals = [block.seconds for block in utterance.blocks]
    durations = [len(block.chunk.samples) / utterance.rate for block in utterance.blocks]
    return simulate_playback(arrivals, durations, prebuffer, PREBUFFER_LIMIT_SECONDS)


def judge_gaps(context: StageContext, plan: Plan, utterances: Sequence[Utterance]) -> None:
    """Would a listener of the host, which plays from the first block on, hear gaps? Warm utterances decide."""
    from rocm_wizard.audio.policy import PREBUFFER_MS

    judged = list(utterances[1:] or utterances)
    prebuffer = PREBUFFER_MS / 1000
    bare = max((playback_of(utterance) for utterance in judged), key=_worst)
    buffered = max((playback_of(utterance, prebuffer) for utterance in judged), key=_worst)
    audible = _audible(bare)
    facts: dict[str, Any] = {
        "chunk_seconds": round(plan.chunk_seconds, 3),
        "characters": len(plan.text),
        "first_audio": round(max(utterance.first_audio for utterance in judged), 3),
        "first_voiced": _rounded([utterance.first_voiced for utterance in judged]),
        "prebuffer": prebuffer,
        "least_lead_ms": None if bare.least_lead is None else round(bare.least_lead * 1000),
        "buffered_gaps": len(_audible(buffered)),
        "buffered_longest_ms": _longest_ms(buffered),
        "sample_steps": plan.options.get("sample_steps"),
    }
    if audible:
        places = [f"{gap.at:.1f} s" for gap in audible[:_SHOWN]]
        facts |= {"gaps": len(audible), "longest_ms": _longest_ms(bare), "places": places}
        context.finding("tts.gaps", Outcome.WARNING, **facts)
    elif bare.least_lead is None:
        context.finding("tts.one_block", Outcome.PASSED, **facts)
    else:
        context.finding("tts.no_gaps", Outcome.PASSED, **facts)


def _audible(playback: Playback) -> list[Gap]:
    return [gap for gap in playback.gaps if gap.seconds >= AUDIBLE_GAP]


def _worst(playback: Playback) -> tuple[int, float]:
    return len(_audible(playback)), sum(gap.seconds for gap in playback.gaps)


def _longest_ms(playback: Playback) -> int:
    return round(max((gap.seconds for gap in playback.gaps), default=0.0) * 1000)


def _rounded(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(max(known), 3) if known else None
