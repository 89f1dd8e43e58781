"""Step 5: a persistent child transcribes a known recording, cold and warm, and has to get it right."""

import hashlib
from typing import Any

from rocm_wizard.qualification import events as ev
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import StageContext
from rocm_wizard.sidecar.client import SidecarClient
from rocm_wizard.sidecar.launch import own_sidecar
from rocm_wizard.sidecar.messages import Samples
from rocm_wizard.stages.error_rate import error_rate
from rocm_wizard.stages.recordings import Recording, bundled_recording
from rocm_wizard.stages.session import Session
from rocm_wizard.stages.smoke import SmokeFailed, sidecar

MAX_ERROR_RATE = 0.10
MAX_SECONDS = 30.0
SAMPLE_RATE = 16000
REPEATS = 2
_SILENT_PEAK = 1e-4


class AsrSmokeStage:
    """Recording in, text out, judged by its error rate; silence must give no words."""

    id = "asr_smoke"

    def __init__(self, session: Session) -> None:
        self._session = session

    def run(self, context: StageContext) -> None:
        """See `Stage.run`."""
        recording = self._recording()
        with context.check("recording"):
            samples = _load(context, recording)
        if samples is None:
            return
        session = self._session
        command = session.options.asr_command
        spec = own_sidecar("asr", session.target.python, session.chosen, session.working_folder, command)
        try:
            with sidecar(context, session, spec) as client:
                _transcribe_all(context, client, recording, samples)
                _try_silence(context, client, recording.language)
        except SmokeFailed:
            return

    def _recording(self) -> Recording:
        options = self._session.options
        bundled = bundled_recording()
        if options.audio is None:
            return bundled
        language = options.asr_language or bundled.language
        return Recording(options.audio, language, options.transcript)


def _load(context: StageContext, recording: Recording) -> Samples | None:
    """The recording as 16 kHz mono, or None after a finding that says why not."""
    from rocm_wizard.audio.resample import resample
    from rocm_wizard.audio.wav import read_audio

    facts: dict[str, Any] = {"file": recording.file.name}
    try:
        samples, rate = read_audio(recording.file)
    except (OSError, ValueError, RuntimeError) as error:
        context.finding("asr.recording_unreadable", Outcome.FAILED, ["file"], reason=error, **facts)
        return None
    if recording.sha256 is not None and hashlib.sha256(recording.file.read_bytes()).hexdigest() != recording.sha256:
        context.finding("asr.recording_changed", Outcome.FAILED, ["file"], **facts)
        return None
    seconds = len(samples) / rate
    facts |= {"seconds": round(seconds, 2), "rate": rate, "limit": MAX_SECONDS}
    if not 0 < seconds <= MAX_SECONDS:
        context.finding("asr.recording_too_long", Outcome.FAILED, ["file"], **facts)
        return None
    if float(abs(samples).max()) < _SILENT_PEAK:
        context.finding("asr.recording_silent", Outcome.FAILED, ["file"], **facts)
        return None
    context.finding("asr.recording", Outcome.PASSED, ["file"], language=recording.language, **facts)
    return resample(samples, rate, SAMPLE_RATE)


def _transcribe_all(context: StageContext, client: SidecarClient, recording: Recording, samples: Samples) -> None:
    seconds = len(samples) / SAMPLE_RATE
    texts: list[str] = []
    for sample in range(1, REPEATS + 1):
        phase: ev.Phase = "cold" if sample == 1 else "warm"
        context.progress(sample - 1, REPEATS, "transcriptions")
        with context.check(f"transcription_{phase}"):
            heard = client.transcribe(samples, SAMPLE_RATE, recording.language)
            texts.append(heard.text)
            context.emit(ev.TextRecognised(context.stage, sample, heard.text, recording.transcript))
            _judge(context, recording, heard.text, heard.seconds, seconds)
        context.measure("asr.inference", heard.seconds, "s", sample, phase)
        context.measure("asr.real_time_factor", heard.seconds / seconds, "", sample, phase)
    with context.check("repeat"):
        same = len(set(texts)) == 1
        id = "asr.repeat_same" if same else "asr.repeat_differs"
        context.finding(id, Outcome.PASSED if same else Outcome.WARNING, repeats=REPEATS)


def _judge(context: StageContext, recording: Recording, text: str, took: float, seconds: float) -> None:
    facts: dict[str, Any] = {"text": text, "took": round(took, 3), "real_time_factor": round(took / seconds, 3)}
    if recording.transcript is None:
        context.finding("asr.not_compared", Outcome.SKIPPED, **facts)
        return
    rate = error_rate(recording.transcript, text, recording.language)
    right = rate.value <= MAX_ERROR_RATE
    context.finding(
        "asr.text_right" if right else "asr.text_wrong",
        Outcome.PASSED if right else Outcome.FAILED,
        error_rate=round(rate.value, 4),
        unit=rate.unit,
        edits=rate.edits,
        units=rate.reference_units,
        limit=MAX_ERROR_RATE,
        reference=recording.transcript,
        **facts,
    )


def _try_silence(context: StageContext, client: SidecarClient, language: str) -> None:
    """A recogniser that hears words in silence would also pass with a dead microphone."""
    import numpy as np

    with context.check("silence"):
        heard = client.transcribe(np.zeros(SAMPLE_RATE, np.float32), SAMPLE_RATE, language)
        silent = not heard.text.strip()
        id = "asr.silence_kept" if silent else "asr.words_from_silence"
        context.finding(id, Outcome.PASSED if silent else Outcome.WARNING, text=heard.text)
