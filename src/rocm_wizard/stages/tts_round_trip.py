"""The recogniser listens to the voice, both loaded at once: are the words those that were to be said?

An open recogniser forgives much (it reads sound at the wrong rate, it invents words on silence), so this says only what
the words are. How they sound is judged as sound.
"""

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any

from rocm_wizard.qualification import events as ev
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import StageContext
from rocm_wizard.sidecar.client import SidecarClient, SidecarError
from rocm_wizard.sidecar.messages import Samples
from rocm_wizard.stages.device_meter import DeviceMeter
from rocm_wizard.stages.error_rate import error_rate, normalise
from rocm_wizard.stages.languages import find_language
from rocm_wizard.stages.session import Session
from rocm_wizard.stages.smoke import SmokeFailed, report_error, sidecar
from rocm_wizard.stages.speech_children import asr_spec, tts_language
from rocm_wizard.stages.text_differences import marked_differences
from rocm_wizard.stages.tts_presets import Plan
from rocm_wizard.stages.tts_swallowed import speak_audibly
from rocm_wizard.stages.utterance import Utterance, speech_texts

LISTEN_RATE = 16_000
MOST_SECONDS = 30.0
"""A recogniser of the wire takes no more at once."""
_CUT_FROM = 20.0
_WINDOW_SECONDS = 0.05
SLOWER = 2.0
"""First audio that takes so many times as long beside the recogniser is worth a warning."""
_SLOWER_SECONDS = 0.2
SLOWER_FACTOR = 1.25
"""A real-time factor above 1 that is so many times that of the voice alone is the recogniser's doing."""


def round_trip(
    context: StageContext, session: Session, voice: SidecarClient, plan: Plan, spoken: Sequence[Utterance]
) -> None:
    """Starts the recogniser beside the voice, has it hear the first utterance, and has the voice speak once more.

    `spoken`: this sentence while the voice had the device for itself, the first time cold.
    """
    with context.check("round_trip"):
        try:
            with sidecar(context, session, asr_spec(session)) as recogniser:
                said = _listen(context, session, recogniser, spoken[0], plan)
                with context.check("both_loaded"):
                    beside = _speak_beside(context, session, (recogniser, voice), plan, said)
                    _judge_beside(context, beside, spoken[1:] or spoken)
        except VoiceFailed:
            raise
        except SmokeFailed:
            context.finding("tts.round_trip_not_made", Outcome.COULD_NOT_CHECK)


class VoiceFailed(SmokeFailed):
    """The voice broke while the recogniser was there; it is reported, and the voice's own smoke cannot go on."""


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
) -> Mapping[str, Any]:
    """What the recogniser says of itself beside the text."""
    from rocm_wizard.audio.resample import resample

    language = find_language(tts_language(session))
    name = language.name if language is not None else None
    sound = resample(utterance.samples(), utterance.rate, LISTEN_RATE)
    heard = [recogniser.transcribe(piece, LISTEN_RATE, name) for piece in pieces(sound, LISTEN_RATE)]
    text = " ".join(answer.text.strip() for answer in heard)
    context.emit(ev.TextRecognised(context.stage, 1, text, plan.text))
    context.measure("tts.round_trip", sum(answer.seconds for answer in heard), "s")
    judge_words(context, plan, text, tts_language(session), name)
    return heard[-1].extra


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


def _speak_beside(
    context: StageContext,
    session: Session,
    both: tuple[SidecarClient, SidecarClient],
    plan: Plan,
    said: Mapping[str, Any],
) -> Utterance:
    """The sentence once more. Device memory is looked at with each block: it peaks while the voice works."""
    meter, voice = DeviceMeter(session), both[1]
    pids = [client.child.pid for client in both]
    try:
        beside = speak_audibly(context, session, voice, plan.request(session), lambda _: meter.look(pids))
    except SidecarError as error:
        # Not the recogniser's: its own context would report it as such.
        report_error(context, session, voice, error)
        raise VoiceFailed from error
    except SmokeFailed as error:
        raise VoiceFailed from error
    meter.read((said, beside.done), pids)
    if meter.peak is not None:
        context.measure("tts.device_memory_both", meter.peak, "B")
        meter.report(context)
    return beside


def _judge_beside(context: StageContext, beside: Utterance, apart: Sequence[Utterance]) -> None:
    alone = median(utterance.first_audio for utterance in apart)
    factor_alone = median(utterance.real_time_factor for utterance in apart)
    context.measure("tts.first_audio_both", beside.first_audio, "s")
    context.measure("tts.real_time_factor_both", beside.real_time_factor, "")
    facts: dict[str, Any] = {
        "first_audio": round(beside.first_audio, 3),
        "alone": round(alone, 3),
        "factor": round(beside.real_time_factor, 3),
        "factor_alone": round(factor_alone, 3),
    }
    later = beside.first_audio > max(SLOWER * alone, alone + _SLOWER_SECONDS)
    if later or beside.real_time_factor > max(1, SLOWER_FACTOR * factor_alone):
        context.finding("tts.both_loaded_slower", Outcome.WARNING, **facts)
    else:
        context.finding("tts.both_loaded", Outcome.PASSED, **facts)
