"""The measurements of the acceptance step: each tells its numbers and gives what the advice is made of.

Our engine says in its messages what its stages take. A checkout's says it in its log, and only to those who ask: with
`TTS_SOVITS_SYNC_TIMING=1` about CFM and BigVGAN, with the option `collect_t2s_stats` about T2S (`docs/wire.md`).
"""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from rocm_wizard.qualification.finding import Finding
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import StageContext
from rocm_wizard.sidecar.client import SidecarClient, SidecarError
from rocm_wizard.sidecar.stage_times import BlockTimes, times_from_log, times_from_messages
from rocm_wizard.stages.drift import drift
from rocm_wizard.stages.session import Session
from rocm_wizard.stages.speech_children import tts_engine
from rocm_wizard.stages.speed_advice import Pace, Vocoder
from rocm_wizard.stages.tts_swallowed import speak_audibly
from rocm_wizard.stages.utterance import Utterance

T2S_STATS = "collect_t2s_stats"
GROWTH = 0.10
"""Blocks that get slower by more than this share over a sentence drift."""


def tell(context: StageContext, advice: Finding) -> None:
    """Reports a recommendation."""
    context.finding(advice.id, advice.outcome, **advice.facts)


def measure_pace(
    context: StageContext, session: Session, client: SidecarClient, request: Mapping[str, Any], name: str, repeats: int
) -> tuple[str, Pace]:
    """The same sentence several times: the engine's name, and the medians of all but the first."""
    spoken: list[Utterance] = []
    for sample in range(1, repeats + 1):
        context.progress(sample - 1, repeats, "utterances")
        utterance = speak_audibly(context, session, client, request)
        spoken.append(utterance)
        phase = "cold" if sample == 1 else "warm"
        context.measure(f"acceptance.first_audio_{name}", utterance.first_audio, "s", sample, phase)
        context.measure(f"acceptance.real_time_factor_{name}", utterance.real_time_factor, "", sample, phase)
    warm = spoken[1:]
    pace = Pace(median(one.first_audio for one in warm), median(one.real_time_factor for one in warm))
    return str(spoken[-1].done.get("engine", "")), pace


def speak_timed(
    context: StageContext, session: Session, client: SidecarClient, request: Mapping[str, Any]
) -> Utterance:
    """As `speak_audibly`; a checkout's engine is asked for the times of T2S too.

    No other gets the option: to an engine that does not know it, it is an error, as it is to an old checkout's.
    """
    if tts_engine(session) == "checkout":
        asked = {**request, "options": {**request["options"], T2S_STATS: True}}
        try:
            return speak_audibly(context, session, client, asked)
        except SidecarError as error:
            if error.kind != "refused" or T2S_STATS not in error.detail:
                raise
    return speak_audibly(context, session, client, request)


def t2s_times(utterance: Utterance) -> tuple[float, float] | None:
    """An utterance's semantic tokens and the milliseconds they took; None where neither messages nor log say."""
    for times in (times_from_messages(utterance.blocks, utterance.done), times_from_log(utterance.log)):
        totals = times.totals if times is not None else {}
        tokens, milliseconds = totals.get("t2s_tokens", 0.0), totals.get("t2s_ms", 0.0)
        if tokens > 0 and milliseconds > 0:
            return tokens, milliseconds
    return None


def measure_t2s(context: StageContext, spoken: Sequence[Utterance]) -> None:
    """What T2S took in each utterance, where that is said."""
    for sample, utterance in enumerate(spoken, start=1):
        if (said := t2s_times(utterance)) is not None:
            context.measure("acceptance.t2s", said[1], "ms", sample, "cold" if sample == 1 else "warm")


def block_times(utterance: Utterance) -> Sequence[BlockTimes]:
    """What each block took by stage, from the messages or else the log; empty where neither says."""
    times = times_from_messages(utterance.blocks, utterance.done) or times_from_log(utterance.log)
    return times.blocks if times is not None else ()


def measure_vocoder(context: StageContext, spoken: Sequence[Utterance], bucket: str) -> Vocoder | None:
    """The vocoder's time a block: the dearest of the first utterance, whose lengths are new, against later ones."""
    first, *later = (block_times(utterance) for utterance in spoken)
    known = [block.bigvgan_ms for blocks in later for block in blocks]
    if not first or not known:
        return None
    new = max(block.bigvgan_ms for block in first)
    context.measure(f"acceptance.vocoder_bucket_{bucket}", new, "ms", 1, "cold")
    context.measure(f"acceptance.vocoder_bucket_{bucket}", median(known), "ms", 2, "warm")
    return Vocoder(new - max(known), median(known))


def report_block_drift(context: StageContext, blocks: Sequence[BlockTimes]) -> None:
    """Whether later blocks of one sentence take longer than earlier ones.

    The first has the whole reference before it and the last is cut short, so neither is compared.
    """
    if not blocks:
        context.finding("acceptance.no_times", Outcome.SKIPPED)
        return
    for number, block in enumerate(blocks, start=1):
        context.measure("acceptance.block_cfm", block.cfm_ms, "ms", number)
        context.measure("acceptance.block_bigvgan", block.bigvgan_ms, "ms", number)
    inner = [block.cfm_ms + block.bigvgan_ms for block in blocks[1:-1]]
    line = drift([float(number) for number in range(len(inner))], inner)
    if line is None:
        context.finding("acceptance.blocks_too_few", Outcome.SKIPPED, blocks=len(inner))
        return
    grows = line.grows and line.growth > GROWTH
    context.finding(
        "acceptance.blocks_slower" if grows else "acceptance.blocks_steady",
        Outcome.WARNING if grows else Outcome.PASSED,
        blocks=line.points,
        begin_ms=round(line.begin, 1),
        end_ms=round(line.end, 1),
        slope_ms=round(line.slope, 2),
        low_ms=round(line.low, 2),
        high_ms=round(line.high, 2),
    )


def measure_graph(
    context: StageContext, session: Session, client: SidecarClient, request: Mapping[str, Any], name: str, repeats: int
) -> float | None:
    """Semantic tokens a second, the warm median; None where the child does not say."""
    speeds: list[float] = []
    for sample in range(1, repeats + 1):
        said = t2s_times(speak_timed(context, session, client, request))
        if said is None:
            return None
        tokens, milliseconds = said
        speeds.append(tokens * 1000 / milliseconds)
        phase = "cold" if sample == 1 else "warm"
        context.measure(f"acceptance.token_speed_{name}", speeds[-1], "tokens/s", sample, phase)
    return median(speeds[1:])
