"""The soak: recognition and synthesis by turns in the same two children, for minutes; does anything drift or die?"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import StageContext
from rocm_wizard.sidecar.client import SidecarClient
from rocm_wizard.sidecar.messages import Samples
from rocm_wizard.stages.asr_choice import choose_recording
from rocm_wizard.stages.asr_recording import SAMPLE_RATE, load_recording
from rocm_wizard.stages.device_meter import DeviceMeter
from rocm_wizard.stages.error_rate import error_rate, normalise
from rocm_wizard.stages.recordings import Recording
from rocm_wizard.stages.session import Session
from rocm_wizard.stages.smoke import SmokeFailed, sidecar
from rocm_wizard.stages.soak_record import SoakRecord, resident_memory
from rocm_wizard.stages.speech_children import asr_spec, tts_spec
from rocm_wizard.stages.tts_presets import main_plan
from rocm_wizard.stages.tts_swallowed import speak_audibly

MOST_RESTARTS = 3
"""Children that broke down this often end the soak."""
MOST_WRONG = 5
"""So many wrong texts end the soak."""
LEAST_FREE = 0.05
"""So little free memory of the computer, as a share, ends the soak before the computer is taken down."""
MOST_DEVICE = 0.95
"""So much of a graphics card's memory in use, as a share, ends the soak: beyond it the driver swaps or refuses."""

_LATENCIES = {"asr_inference": "drift_asr", "tts_first_audio": "drift_tts", "tts_real_time_factor": "drift_factor"}
_MEMORIES = {
    "memory_wizard": "memory_wizard",
    "memory_asr": "memory_asr",
    "memory_tts": "memory_tts",
    "memory_device": "memory_device",
}


class StopEarly(Exception):
    """A threshold was passed; the finding is reported."""


@dataclass(frozen=True, slots=True)
class Known:
    """The recording of every turn, the language sent with it (None: detected), and its samples at 16 kHz."""

    recording: Recording
    sent: str | None
    samples: Samples


class SoakStage:
    """Runs until the minutes are over, or until a stated threshold is passed."""

    id = "soak"

    def __init__(self, session: Session, clock: Callable[[], float] = time.monotonic) -> None:
        self._session = session
        self._clock = clock

    def run(self, context: StageContext) -> None:
        """See `Stage.run`."""
        with context.check("recording"):
            chosen = choose_recording(context, self._session.options)
            samples = load_recording(context, chosen[0]) if chosen is not None else None
        if chosen is None or samples is None:
            return
        with context.check("limits"):
            context.finding(
                "soak.limits",
                Outcome.PASSED,
                minutes=self._session.options.minutes,
                wrong=MOST_WRONG,
                restarts=MOST_RESTARTS,
                free=LEAST_FREE,
                device=MOST_DEVICE,
            )
        record = SoakRecord(DeviceMeter(self._session))
        ends = self._clock() + self._session.options.minutes * 60
        over = self._soak(context, record, Known(*chosen, samples), ends)
        if not record.turns:
            with context.check("endurance"):
                minutes = self._session.options.minutes
                context.finding("soak.no_turn", Outcome.COULD_NOT_CHECK, minutes=minutes)
            return
        record.report(context, _LATENCIES, _MEMORIES)
        with context.check("endurance"):
            if chosen[0].transcript is None:
                context.finding("soak.no_transcript", Outcome.SKIPPED)
            facts = {"turns": record.turns, "restarts": record.restarts, "wrong": record.wrong_texts}
            sound = not record.restarts and not record.wrong_texts
            if not sound:
                context.finding("soak.broke", Outcome.FAILED, **facts)
            elif over:
                context.finding("soak.endured", Outcome.PASSED, minutes=self._session.options.minutes, **facts)

    def _soak(self, context: StageContext, record: SoakRecord, known: "Known", ends: float) -> bool:
        """Whether the minutes went by; a threshold that was passed is reported."""
        session = self._session
        specs = asr_spec(session), tts_spec(session)
        while self._clock() < ends:
            try:
                with sidecar(context, session, specs[0]) as asr, sidecar(context, session, specs[1]) as tts:
                    before = record.turns
                    with context.check("turns"):
                        self._turns(context, record, (asr, tts), known, ends)
                        turns = record.turns - before
                        context.finding("soak.turns", Outcome.PASSED if turns else Outcome.SKIPPED, turns=turns)
            except StopEarly:
                return False
            except SmokeFailed:
                if not all(spec.startable for spec in specs):
                    return False
                record.restarts += 1
                if record.restarts >= MOST_RESTARTS:
                    context.finding("soak.stopped_restarts", Outcome.FAILED, restarts=record.restarts)
                    return False
        return True

    def _turns(
        self,
        context: StageContext,
        record: SoakRecord,
        children: tuple[SidecarClient, SidecarClient],
        known: "Known",
        ends: float,
    ) -> None:
        asr, tts = children
        total, request = self._session.options.minutes, main_plan(self._session).request(self._session)
        while (now := self._clock()) < ends:
            minute = total - (ends - now) / 60
            context.progress(round(minute, 2), total, "minutes")
            heard = asr.transcribe(known.samples, SAMPLE_RATE, known.sent)
            record.add(context, "asr_inference", minute, heard.seconds, "s")
            self._judge(context, record, known.recording, heard.text)
            utterance = speak_audibly(context, self._session, tts, request)
            record.add(context, "tts_first_audio", minute, utterance.first_audio, "s")
            record.add(context, "tts_real_time_factor", minute, utterance.real_time_factor, "")
            record.turns += 1
            self._memory(context, record, minute, children, (heard.extra, utterance.done))

    def _judge(self, context: StageContext, record: SoakRecord, recording: Recording, text: str) -> None:
        # Without a transcript at least the first text has to come again.
        said = bool(normalise(text))
        record.first_text = record.first_text or (text if said else "")
        reference = recording.transcript or record.first_text
        if said and error_rate(reference, text, recording.language).value <= recording.allowed_error:
            return
        record.wrong_texts += 1
        if record.wrong_texts >= MOST_WRONG:
            context.finding(
                "soak.stopped_wrong", Outcome.FAILED, wrong=record.wrong_texts, turns=record.turns, text=text
            )
            raise StopEarly

    def _memory(
        self,
        context: StageContext,
        record: SoakRecord,
        minute: float,
        children: tuple[SidecarClient, SidecarClient],
        said: tuple[Mapping[str, Any], Mapping[str, Any]],
    ) -> None:
        import psutil

        asr, tts = children
        found = {
            "memory_wizard": resident_memory(),
            "memory_asr": resident_memory(asr.child.pid),
            "memory_tts": resident_memory(tts.child.pid),
            "memory_device": record.device.read(said, (asr.child.pid, tts.child.pid)),
        }
        for name, value in found.items():
            if value is not None:
                record.add(context, name, minute, float(value), "B")
        memory = psutil.virtual_memory()
        if memory.available < LEAST_FREE * memory.total:
            context.finding(
                "soak.stopped_memory", Outcome.FAILED, free_mib=memory.available // 2**20, turns=record.turns
            )
            raise StopEarly
        share = record.device.share
        if share is not None and share > MOST_DEVICE:
            context.finding("soak.stopped_device", Outcome.FAILED, share=round(share, 3), turns=record.turns)
            raise StopEarly
