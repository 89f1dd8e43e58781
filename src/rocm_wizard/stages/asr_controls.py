"""Negative controls: a recogniser that passes them hears its input, and not what it expects to hear."""

from collections.abc import Sequence

import numpy as np

from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import StageContext
from rocm_wizard.sidecar.client import SidecarClient, SidecarError
from rocm_wizard.sidecar.messages import Samples
from rocm_wizard.stages.asr_recording import SAMPLE_RATE, Refused, Utterance, read_bundled
from rocm_wizard.stages.error_rate import error_rate, normalise
from rocm_wizard.stages.languages import find_language
from rocm_wizard.stages.recordings import Recording, bundled_recordings
from rocm_wizard.stages.text_differences import marked_differences

NOISE_SECONDS = 2.0
NOISE_RMS = 10 ** (-50 / 20)
"""-50 dBFS: a quiet room through a microphone."""
SAME_TEXT = 0.3
"""Below this error rate between two texts the recogniser answered with the same sentence."""
_SHOWN = 100
"""Characters of an error message; some list every language there is."""


def run_controls(context: StageContext, client: SidecarClient, utterance: Utterance, text: str, *, quick: bool) -> None:
    """Silence, noise, other sentences, and an ISO code in place of a language. `text` was heard in the utterance."""
    with context.check("silence"):
        _expect_nothing(context, client, utterance, np.zeros(SAMPLE_RATE, np.float32), "silence")
    with context.check("noise"):
        _expect_nothing(context, client, utterance, quiet_noise(), "noise")
    for recording in other_recordings(utterance.recording, text, quick=quick):
        with context.check("other_sentence"):
            _expect_other_text(context, client, recording, text)
    with context.check("iso_code"):
        _try_iso_code(context, client, utterance)


def quiet_noise() -> Samples:
    """White noise, the same each time."""
    noise = np.random.default_rng(20).standard_normal(round(NOISE_SECONDS * SAMPLE_RATE))
    return (NOISE_RMS * noise).astype(np.float32)


def other_recordings(recording: Recording, text: str, *, quick: bool = False) -> Sequence[Recording]:
    """Bundled recordings of other sentences, those in the same language first.

    All of them after a bundled recording; one, when in haste or after the person's own.
    """
    others = [other for other in bundled_recordings() if other.id != recording.id and not _says(other, text)]
    others.sort(key=lambda other: other.language != recording.language)
    return others[:1] if quick or recording.sha256 is None else others


def _says(recording: Recording, text: str) -> bool:
    said = recording.transcript
    return said is not None and error_rate(said, text, recording.language).value <= 0.5


def _expect_nothing(
    context: StageContext, client: SidecarClient, utterance: Utterance, samples: Samples, kind: str
) -> None:
    heard = client.transcribe(samples, SAMPLE_RATE, utterance.sent)
    facts = {"text": heard.text, "seconds": len(samples) / SAMPLE_RATE}
    if normalise(heard.text):
        context.finding(f"asr.words_from_{kind}", Outcome.WARNING, **facts)
    else:
        context.finding(f"asr.{kind}_kept", Outcome.PASSED, **facts)


def _expect_other_text(context: StageContext, client: SidecarClient, recording: Recording, first: str) -> None:
    try:
        samples = read_bundled(recording)
    except Refused as refusal:
        context.finding(refusal.id, Outcome.FAILED, ["file"], **{"file": recording.file.name, **refusal.facts})
        return
    heard = client.transcribe(samples, SAMPLE_RATE, recording.language)
    reference = recording.transcript or ""
    rate = error_rate(reference, heard.text, recording.language)
    facts = {
        "file": recording.file.name,
        "language": recording.language,
        "text": heard.text,
        "reference": reference,
        "error_rate": round(rate.value, 4),
        "unit": rate.unit,
        "limit": recording.allowed_error,
        "difference": marked_differences(reference, heard.text, recording.language),
    }
    if normalise(first) and error_rate(first, heard.text, None).value < SAME_TEXT:
        context.finding("asr.same_answer", Outcome.FAILED, ["file"], first=first, **facts)
    elif rate.value > recording.allowed_error:
        context.finding("asr.other_wrong", Outcome.WARNING, ["file"], **facts)
    else:
        context.finding("asr.other_right", Outcome.PASSED, ["file"], **facts)


def _try_iso_code(context: StageContext, client: SidecarClient, utterance: Utterance) -> None:
    """The wire takes names; Qwen3-ASR answers a code with an error, others may know it. Either is only recorded."""
    name = utterance.recording.language or "English"
    language = find_language(name)
    code = language.code if language is not None else "en"
    try:
        heard = client.transcribe(utterance.samples, SAMPLE_RATE, code)
    except SidecarError as error:
        if error.kind != "refused":
            raise
        context.finding("asr.iso_code_refused", Outcome.PASSED, code=code, name=name, detail=error.detail[:_SHOWN])
        return
    context.finding("asr.iso_code_taken", Outcome.PASSED, code=code, name=name, text=heard.text)
