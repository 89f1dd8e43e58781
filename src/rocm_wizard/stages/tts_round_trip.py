"""The recogniser listens to the voice, both loaded at once: are the words those that were to be said?

An open recogniser forgives much (it reads sound at the wrong rate, it invents words on silence), so this says only what
the words are. How they sound is judged as sound.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from rocm_wizard.qualification import events as ev
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import StageContext
from rocm_wizard.sidecar.client import SidecarClient
from rocm_wizard.sidecar.messages import Samples
from rocm_wizard.stages.error_rate import error_rate, normalise
from rocm_wizard.stages.languages import find_language
from rocm_wizard.stages.session import Session
from rocm_wizard.stages.smoke import SmokeFailed, sidecar
from rocm_wizard.stages.speech_children import asr_spec, tts_language
from rocm_wizard.stages.text_differences import marked_differences
from rocm_wizard.stages.tts_both import Heard, VoiceFailed, speak_with_both
from rocm_wizard.stages.tts_presets import Plan
from rocm_wizard.stages.utterance import Utterance, speech_texts

LISTEN_RATE = 16_000
MOST_SECONDS = 30.0
"""A recogniser of the wire takes no more at once."""
_CUT_FROM = 20.0
_WINDOW_SECONDS = 0.05


def round_trip(
    context: StageContext, session: Session, voice: SidecarClient, plan: Plan, spoken: Sequence[Utterance]
) -> None:
    """Starts the recogniser beside the voice, has it hear the first utterance, and has the voice speak twice more.

    `spoken`: this sentence while the voice had the device for itself, the first time cold.
    """
    heard: Heard | None = None
    with context.check("round_trip"):
        try:
            with sidecar(context, session, asr_spec(session)) as recogniser:
                heard = _listen(context, session, recogniser, spoken[0], plan)
                speak_with_both(context, session, (recogniser, voice), plan, spoken[1:] or spoken, heard)
        except VoiceFailed:
            raise
        except SmokeFailed:
            if heard is None:
                context.finding("tts.round_trip_not_made", Outcome.COULD_NOT_CHECK)


def pieces(samples: Samples, rate: int, longest: float = MOST_SECONDS) -> Iterator[Samples]:
    """The sound cut into pieces of at most `longest` seconds, each at the quietest place of its last third."""
    import numpy as np

    most, window = int(longest * rate), max(1, round(_WINDOW_SECONDS * rate))
    while len(samples) > most:
        begin = int(most * _CUT_FROM / MOST_SECONDS)
        energy = np.convolve(np.square(samples[begin:most], dtype=np.float64), np.ones(window), "valid")
        cut = begin + int(np.argmin(energy)) + window // 2
        yield samples[:cut]
        samples = samples[cut:]
    yield samples


def _listen(
    context: StageContext, session: Session, recogniser: SidecarClient, utterance: Utterance, plan: Plan
) -> Heard:
    from rocm_wizard.audio.resample import resample

    language = find_language(tts_language(session))
    name = language.name if language is not None else None
    sound = resample(utterance.samples(), utterance.rate, LISTEN_RATE)
    parts = list(pieces(sound, LISTEN_RATE))
    heard = [recogniser.transcribe(part, LISTEN_RATE, name) for part in parts]
    text = " ".join(answer.text.strip() for answer in heard)
    context.emit(ev.TextRecognised(context.stage, 1, text, plan.text))
    context.measure("tts.round_trip", sum(answer.seconds for answer in heard), "s")
    judge_words(context, plan, text, tts_language(session), name)
    return Heard(parts[-1], LISTEN_RATE, name, heard[-1])


def judge_words(context: StageContext, plan: Plan, text: str, code: str, language: str | None) -> None:
    """Compares. A person's own text may hold names and numbers that are written otherwise than heard: more is borne."""
    if not normalise(plan.text):
        context.finding("tts.round_trip_no_words", Outcome.SKIPPED, text=text)
        return
    limits = speech_texts()["round_trip"]
    rate = error_rate(plan.text, text, language)
    context.measure("tts.round_trip_error_rate", rate.value, "")
    facts: dict[str, Any] = {
        "text": text,
        "reference": plan.text,
        "error_rate": round(rate.value, 4),
        "unit": rate.unit,
        "edits": rate.edits,
        "units": rate.reference_units,
        "limit": limits[code],
        "difference": marked_differences(plan.text, text, language),
    }
    if rate.value <= limits[code]:
        context.finding("tts.round_trip", Outcome.PASSED, **facts)
    elif plan.known or rate.value > limits["other"]:
        context.finding("tts.round_trip_wrong", Outcome.FAILED, **facts)
    else:
        context.finding("tts.round_trip_doubtful", Outcome.WARNING, **facts)
