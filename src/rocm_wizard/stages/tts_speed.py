"""How fast a voice speaks: one sentence several times, cold and warm apart, with what each stage of it took."""

from collections.abc import Sequence
from itertools import takewhile
from statistics import median
from typing import Any

from rocm_wizard.qualification import events as ev
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import StageContext
from rocm_wizard.sidecar.client import SidecarClient
from rocm_wizard.sidecar.stage_times import blocks_computed, times_from_log, times_from_messages
from rocm_wizard.stages.session import Session
from rocm_wizard.stages.speech_children import tts_engine
from rocm_wizard.stages.tts_blocks import judge_gaps, playback_of
from rocm_wizard.stages.tts_presets import Plan
from rocm_wizard.stages.tts_swallowed import speak_audibly
from rocm_wizard.stages.utterance import Utterance

_NO_STAGE = ("synthesis_ms", "first_audio_ms")


def speak_repeatedly(
    context: StageContext,
    session: Session,
    client: SidecarClient,
    plan: Plan,
    repeats: int,
    first: Utterance | None = None,
) -> list[Utterance]:
    """The utterances, measured; with `first`, which was measured already, so many less are spoken."""
    request = plan.request(session)
    spoken = [first] if first is not None else []
    while len(spoken) < repeats:
        context.progress(len(spoken), repeats, "utterances")
        utterance = speak_audibly(context, session, client, request)
        spoken.append(utterance)
        measure_utterance(context, plan, utterance, len(spoken))
    context.progress(repeats, repeats, "utterances")
    return spoken


def measure_utterance(context: StageContext, plan: Plan, utterance: Utterance, sample: int) -> None:
    """One utterance's numbers; `sample` counts from 1, and the first of a sentence is cold."""
    phase: ev.Phase = "cold" if sample == 1 else "warm"
    series = plan.series
    context.measure(f"tts.first_audio{series}", utterance.first_audio, "s", sample, phase)
    voiced = utterance.first_voiced
    if voiced is not None:
        context.measure(f"tts.first_voiced{series}", voiced, "s", sample, phase)
    context.measure(f"tts.real_time_factor{series}", utterance.real_time_factor, "", sample, phase)
    if not series:
        context.measure("tts.synthesis", utterance.synthesis, "s", sample, phase)
        context.measure("tts.duration", utterance.seconds, "s", sample, phase)
        context.measure("tts.duration_with_pauses", utterance.seconds_with_pauses, "s", sample, phase)
        for name, milliseconds in stages_a_block(utterance).items():
            context.measure(f"tts.stage_{name}", milliseconds, "ms", sample, phase)


def measure_blocks(context: StageContext, utterance: Utterance) -> None:
    """Arrival of each block, and what the sidecar says it took; in the order of the blocks, for a plot."""
    for number, block in enumerate(utterance.blocks, start=1):
        context.measure("tts.block_arrival", block.seconds, "s", number)
    times = times_from_messages(utterance.blocks, utterance.done) or times_from_log(utterance.log)
    for number, block in enumerate(times.blocks if times is not None else (), start=1):
        context.measure("tts.block_cfm", block.cfm_ms, "ms", number)
        context.measure("tts.block_bigvgan", block.bigvgan_ms, "ms", number)


def tell_held_back(context: StageContext, utterance: Utterance) -> None:
    """Blocks that the voice's onset gate kept back: their making is hidden in the first audio.

    Only the host project's engine logs the blocks that it makes. Its first item ends with the first pause.
    """
    computed = blocks_computed(utterance.log)
    sent = len(list(takewhile(lambda block: not utterance.is_pause(block), utterance.blocks)))
    if computed > sent:
        first_audio = round(utterance.first_audio, 3)
        context.finding("tts.held_back", Outcome.PASSED, computed=computed, sent=sent, first_audio=first_audio)


def stages_a_block(utterance: Utterance) -> dict[str, float]:
    """Milliseconds a block of speech by stage, where the sidecar says so: in its `done` message, else in its log."""
    said: dict[str, float] = {
        name: float(value)
        for name, value in utterance.done.items()
        if name.endswith("_ms") and name not in _NO_STAGE and _is_number(value)
    }
    if not said:
        logged = times_from_log(utterance.log)
        said = {name: value for name, value in logged.totals.items() if name.endswith("_ms")} if logged else {}
    blocks = max(1, len(utterance.speech))
    return {name.removesuffix("_ms"): value / blocks for name, value in said.items()}


def judge_speed(context: StageContext, utterance: Utterance) -> None:
    """The first utterance: cold."""
    slow = utterance.real_time_factor > 1
    lead = playback_of(utterance).least_lead
    context.finding(
        "tts.slower_than_real_time" if slow else "tts.speed",
        Outcome.WARNING if slow else Outcome.PASSED,
        real_time_factor=round(utterance.real_time_factor, 3),
        synthesis=round(utterance.synthesis, 3),
        seconds=round(utterance.seconds, 2),
        pauses=round(utterance.seconds_with_pauses - utterance.seconds, 2),
        lag_ms=round(max(0.0, -(lead or 0.0)) * 1000),
    )


def judge_repeats(context: StageContext, session: Session, utterances: Sequence[Utterance]) -> None:
    """The further ones: warm. They are what a conversation feels like."""
    cold, warm = utterances[0], utterances[1:]
    if not warm:
        context.finding("tts.repeat_not_tried", Outcome.SKIPPED)
        return
    factors = [utterance.real_time_factor for utterance in warm]
    waits = [utterance.first_audio for utterance in warm]
    stages = stages_a_block(warm[-1])
    facts: dict[str, Any] = {
        "warm": len(warm),
        "first_audio": round(median(waits), 3),
        "first_audio_worst": round(max(waits), 3),
        "first_audio_cold": round(cold.first_audio, 3),
        "factor": round(median(factors), 3),
        "factor_worst": round(max(factors), 3),
        "factor_cold": round(cold.real_time_factor, 3),
    }
    if median(factors) > 1:
        context.finding("tts.slower_warm", Outcome.WARNING, **facts)
    else:
        context.finding("tts.speed_warm", Outcome.PASSED, **facts)
    if stages:
        told = [f"{name} {milliseconds:.1f}" for name, milliseconds in stages.items()]
        context.finding("tts.stages", Outcome.PASSED, stages=told)
    elif tts_engine(session) == "checkout":
        context.finding("tts.stages_elsewhere", Outcome.PASSED)


def measure_series(
    context: StageContext, session: Session, client: SidecarClient, check: str, plan: Plan, repeats: int
) -> Sequence[Utterance]:
    """A sentence of its own, in a check of its own: how soon it begins, and whether it would have gaps."""
    with context.check(check):
        utterances = speak_repeatedly(context, session, client, plan, repeats)
        judge_gaps(context, plan, utterances)
    return utterances


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e9
