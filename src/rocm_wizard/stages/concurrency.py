"""Standard x1 against Parallel x2: the same sentences through one sidecar, one and two at a time.

The host has a setting for it (`EXP_TTS_MAX_CONCURRENCY`). A sidecar answers one line after the other, so two at a time
can save only the moments between utterances; the numbers say how much that is here.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import StageContext
from rocm_wizard.sidecar.client import SidecarClient
from rocm_wizard.sidecar.pipelined import Spoken, speak_many
from rocm_wizard.stages.error_rate import normalise
from rocm_wizard.stages.session import Session
from rocm_wizard.stages.speed_advice import FASTER
from rocm_wizard.stages.tts_presets import later_plan, main_plan
from rocm_wizard.stages.tts_swallowed import complain_if_swallowed, complain_unless_said, is_audible

ROUNDS = 2
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])(?![。！？])")
_SAME_SAMPLE = 1e-3
"""Two settings of a voice that repeats itself differ by less: -60 dBFS."""
_SAME_LENGTH = 0.25
"""An engine that draws its tokens never says a sentence twice alike: lengths may differ by this share."""


@dataclass(frozen=True, slots=True)
class Mode:
    """What one setting gave: seconds of sound made in a second, and each sentence with its wait for first audio."""

    throughput: float
    first_audio: Sequence[float]
    spoken: Sequence[Spoken]


def compare_concurrency(context: StageContext, session: Session, client: SidecarClient) -> None:
    """Measures both settings, checks that both said the same, and recommends one. Never switches anything."""
    sentences = _sentences(main_plan(session).text)
    if not sentences:
        with context.check("concurrency"):
            context.finding("tts.concurrency_no_words", Outcome.SKIPPED)
        return
    requests = [later_plan(session, text).request(session) for text in sentences * ROUNDS]
    with context.check("concurrency"):
        speak_many(client, requests[:1], 1)  # the first one pays for new shapes
        one, two = (_measure(context, session, client, requests, at_once) for at_once in (1, 2))
        gain = two.throughput / one.throughput if one.throughput else 0.0  # a voice may be silent
        exactly = _repeats_itself(one, len(sentences))
        right = _same(one, two, exactly=exactly)
        facts = {
            "sentences": len(requests),
            "throughput_1": round(one.throughput, 2),
            "throughput_2": round(two.throughput, 2),
            "first_audio_1": round(max(one.first_audio), 3),
            "first_audio_2": round(max(two.first_audio), 3),
            "gain": round(gain, 3),
            "worth": FASTER,
        }
        if right:
            context.finding("tts.concurrency_exact" if exactly else "tts.concurrency_alike", Outcome.PASSED)
        if not right:
            context.finding("tts.concurrency_wrong", Outcome.WARNING, **facts)
        elif gain >= FASTER:
            context.finding("tts.concurrency_two", Outcome.PASSED, **facts)
        else:
            context.finding("tts.concurrency_one", Outcome.PASSED, **facts)


def _sentences(text: str) -> list[str]:
    return [part for part in _SENTENCE_END.split(text) if normalise(part)]


def _measure(
    context: StageContext,
    session: Session,
    client: SidecarClient,
    requests: Sequence[Mapping[str, Any]],
    at_once: int,
) -> Mode:
    context.progress(at_once - 1, 2, "settings")
    spoken = speak_many(client, requests, at_once)
    log = client.request_log()
    for one, request in zip(spoken, requests, strict=True):
        complain_if_swallowed(context, session, one.chunks, log)
        if at_once == 1:  # the measure of the other setting has to be speech itself
            complain_unless_said(context, request, one.chunks, one.seconds)
    ended = max(one.done or 0.0 for one in spoken)
    throughput = sum(one.seconds for one in spoken) / ended
    waits = [(one.first_audio or 0.0) - one.sent for one in spoken]
    context.measure(f"tts.throughput_{at_once}", throughput, "")
    for number, wait in enumerate(waits, start=1):
        context.measure(f"tts.concurrent_first_audio_{at_once}", wait, "s", number)
    return Mode(throughput, waits, spoken)


def _repeats_itself(mode: Mode, sentences: int) -> bool:
    """Whether the voice says every sentence alike each time."""
    return all(_equal(mode.spoken[n], mode.spoken[n + sentences]) for n in range(sentences))


def _equal(one: Spoken, other: Spoken) -> bool:
    import numpy as np

    first, second = (np.concatenate([chunk.samples for chunk in spoken.chunks]) for spoken in (one, other))
    return len(first) == len(second) and bool(np.allclose(first, second, atol=_SAME_SAMPLE))


def _same(one: Mode, two: Mode, *, exactly: bool) -> bool:
    """Every sentence has the same sound in both settings, of a voice that varies sound of about the same length."""
    for first, second in zip(one.spoken, two.spoken, strict=True):
        if not is_audible(second.chunks):
            return False
        if exactly:
            if not _equal(first, second):
                return False
            continue
        if abs(second.seconds - first.seconds) > _SAME_LENGTH * first.seconds:
            return False
    return True
