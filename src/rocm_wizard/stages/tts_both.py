"""Voice and recogniser loaded at once: what one costs the other, idle and at work, and what both hold on the device."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import StageContext
from rocm_wizard.sidecar.answers import Transcript
from rocm_wizard.sidecar.client import SidecarClient, SidecarError
from rocm_wizard.sidecar.messages import Samples
from rocm_wizard.stages.device_meter import DeviceMeter
from rocm_wizard.stages.session import Session
from rocm_wizard.stages.smoke import SmokeFailed, report_error
from rocm_wizard.stages.tts_presets import Plan
from rocm_wizard.stages.tts_swallowed import speak_audibly
from rocm_wizard.stages.utterance import Utterance

SLOWER = 2.0
"""First audio that takes so many times as long beside the recogniser is worth a warning."""
_SLOWER_SECONDS = 0.2
SLOWER_FACTOR = 1.25
"""A real-time factor above 1 that is so many times that of the voice alone is the recogniser's doing."""


class VoiceFailed(SmokeFailed):
    """The voice broke while the recogniser was there; it is reported, and the voice's own smoke cannot go on."""


@dataclass(frozen=True, slots=True)
class Heard:
    """A sound that the recogniser has heard while the voice was silent, and its answer."""

    samples: Samples
    rate: int
    language: str | None
    answer: Transcript


def speak_with_both(
    context: StageContext,
    session: Session,
    both: tuple[SidecarClient, SidecarClient],
    plan: Plan,
    apart: Sequence[Utterance],
    heard: Heard,
) -> None:
    """The sentence beside the idle recogniser, then while it recognises. `both`: recogniser and voice.

    `apart`: the sentence while the voice had the device for itself.

    Raises:
        VoiceFailed: the voice broke.
        SidecarError: the recogniser did.
    """
    meter, pids = DeviceMeter(session), [client.child.pid for client in both]
    with context.check("both_loaded"):
        # Device memory is looked at with each block: it peaks while the voice works.
        beside = _speak(context, session, both[1], plan, meter, pids)
        _judge_loaded(context, beside, apart)
    with context.check("both_working"):
        busy = _Busy(both[0], heard)
        try:
            at_work = _speak(context, session, both[1], plan, meter, pids)
        finally:
            busy.stop()
        _judge_working(context, at_work, apart, busy.answers(), busy.waits(), heard.answer)
        meter.read((heard.answer.extra, at_work.done), pids)
        if meter.peak is not None:
            context.measure("tts.device_memory_both", meter.peak, "B")
            meter.report(context)


class _Busy(threading.Thread):
    """Has the recogniser hear the same sound again and again; nobody else may use it meanwhile."""

    def __init__(self, recogniser: SidecarClient, heard: Heard) -> None:
        super().__init__(name="recogniser", daemon=True)
        self._recogniser = recogniser
        self._heard = heard
        self._enough = threading.Event()
        self._answers: list[Transcript] = []
        self._within = 0
        self._error: BaseException | None = None
        self.start()

    def run(self) -> None:
        heard = self._heard
        try:
            while not (self._answers and self._enough.is_set()):
                self._answers.append(self._recogniser.transcribe(heard.samples, heard.rate, heard.language))
        except BaseException as error:  # noqa: BLE001 - told to whoever waits for the answers
            self._error = error

    def stop(self) -> None:
        """Waits for the answer that is under way."""
        self._within = len(self._answers)
        self._enough.set()
        self.join()

    def answers(self) -> list[Transcript]:
        """All of them, at least one. Raises what ended it early."""
        if self._error is not None:
            raise self._error
        return self._answers

    def waits(self) -> list[float]:
        """Seconds of the answers that came before the stop, or of the only one."""
        return [answer.seconds for answer in self._answers[: max(1, self._within)]]


def _speak(
    context: StageContext,
    session: Session,
    voice: SidecarClient,
    plan: Plan,
    meter: DeviceMeter,
    pids: Sequence[int],
) -> Utterance:
    try:
        return speak_audibly(context, session, voice, plan.request(session), lambda _: meter.look(pids))
    except SidecarError as error:
        # Not the recogniser's: its own context would report it as such.
        report_error(context, session, voice, error)
        raise VoiceFailed from error
    except SmokeFailed as error:
        raise VoiceFailed from error


def _judge_loaded(context: StageContext, beside: Utterance, apart: Sequence[Utterance]) -> None:
    facts = _compared(beside, apart)
    context.measure("tts.first_audio_both", beside.first_audio, "s")
    context.measure("tts.real_time_factor_both", beside.real_time_factor, "")
    alone = float(facts["alone"])
    later = beside.first_audio > max(SLOWER * alone, alone + _SLOWER_SECONDS)
    if later or _cannot_keep_up(beside, apart):
        context.finding("tts.both_loaded_slower", Outcome.WARNING, **facts)
    else:
        context.finding("tts.both_loaded", Outcome.PASSED, **facts)


def _judge_working(
    context: StageContext,
    at_work: Utterance,
    apart: Sequence[Utterance],
    answers: Sequence[Transcript],
    waits: Sequence[float],
    before: Transcript,
) -> None:
    """First audio may come later, for the device is shared; the voice has to keep up and the words to stay."""
    context.measure("tts.first_audio_working", at_work.first_audio, "s")
    context.measure("tts.real_time_factor_working", at_work.real_time_factor, "")
    context.measure("tts.recognition_working", median(waits), "s")
    facts = _compared(at_work, apart) | {
        "answers": len(answers),
        "recognition": round(median(waits), 3),
        "recognition_alone": round(before.seconds, 3),
    }
    other = next((answer.text for answer in answers if answer.text != before.text), None)
    if other is not None:
        context.finding("tts.both_working_words", Outcome.WARNING, text=other, before=before.text)
    if _cannot_keep_up(at_work, apart):
        context.finding("tts.both_working_slower", Outcome.WARNING, **facts)
    elif other is None:
        context.finding("tts.both_working", Outcome.PASSED, **facts)


def _compared(now: Utterance, apart: Sequence[Utterance]) -> dict[str, Any]:
    return {
        "first_audio": round(now.first_audio, 3),
        "alone": round(median(utterance.first_audio for utterance in apart), 3),
        "factor": round(now.real_time_factor, 3),
        "factor_alone": round(median(utterance.real_time_factor for utterance in apart), 3),
    }


def _cannot_keep_up(now: Utterance, apart: Sequence[Utterance]) -> bool:
    return now.real_time_factor > max(1, SLOWER_FACTOR * median(utterance.real_time_factor for utterance in apart))
