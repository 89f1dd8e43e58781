"""What a recogniser made of one recording: right or wrong words, the same words each time, and how fast."""

from collections.abc import Sequence
from statistics import median
from typing import Any

from rocm_wizard.qualification import events as ev
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import Question, StageContext
from rocm_wizard.sidecar.client import SidecarClient, Transcript
from rocm_wizard.sidecar.host_limits import HOST_ANSWER_SECONDS
from rocm_wizard.stages.asr_recording import SAMPLE_RATE, Utterance
from rocm_wizard.stages.error_rate import error_rate, normalise
from rocm_wizard.stages.languages import unit_of
from rocm_wizard.stages.text_differences import mark, marked_differences, written_units

COMPARE_TIMEOUT = 60.0
"""Seconds that a person has to read what was recognised; an unattended run goes on after them."""


def transcribe_repeatedly(
    context: StageContext, client: SidecarClient, utterance: Utterance, repeats: int
) -> list[Transcript]:
    """The answers, first the cold one. A text that was judged already is measured again, not told again."""
    answers: list[Transcript] = []
    for sample in range(1, repeats + 1):
        phase: ev.Phase = "cold" if sample == 1 else "warm"
        context.progress(sample - 1, repeats, "transcriptions")
        with context.check(f"transcription_{phase}"):
            heard = client.transcribe(utterance.samples, SAMPLE_RATE, utterance.sent)
            reference = utterance.recording.transcript
            context.emit(ev.TextRecognised(context.stage, sample, heard.text, reference))
            if sample <= 2 or heard.text not in [answer.text for answer in answers]:
                _judge_text(context, utterance, heard)
        answers.append(heard)
        context.measure("asr.inference", heard.seconds, "s", sample, phase)
        context.measure("asr.real_time_factor", heard.seconds / utterance.seconds, "", sample, phase)
    context.progress(repeats, repeats, "transcriptions")
    return answers


def _judge_text(context: StageContext, utterance: Utterance, heard: Transcript) -> None:
    reference, language = utterance.recording.transcript, utterance.recording.language
    factor = heard.seconds / utterance.seconds
    facts: dict[str, Any] = {
        "text": heard.text,
        "took": round(heard.seconds, 3),
        "real_time_factor": round(factor, 3),
    }
    if not normalise(heard.text):
        context.finding("asr.nothing_heard", Outcome.FAILED, **facts)
        return
    if reference is None:
        context.finding("asr.heard", Outcome.PASSED, **facts)
        return
    rate = error_rate(reference, heard.text, language)
    limit = utterance.recording.allowed_error
    facts |= {
        "error_rate": round(rate.value, 4),
        "unit": rate.unit,
        "edits": rate.edits,
        "units": rate.reference_units,
        "limit": limit,
        "reference": reference,
        "difference": marked_differences(reference, heard.text, language),
    }
    if rate.value > limit:
        bundled = utterance.recording.sha256 is not None
        context.finding("asr.text_wrong_bundled" if bundled else "asr.text_wrong", Outcome.FAILED, **facts)
    else:
        context.finding("asr.text_close" if rate.edits else "asr.text_right", Outcome.PASSED, **facts)


def judge_repeats(context: StageContext, answers: Sequence[Transcript], language: str | None) -> None:
    """The same words, spelling and punctuation each time, or which repetition differs and how."""
    first = answers[0].text
    unit = unit_of(language, first)
    texts = [written_units(answer.text, unit) for answer in answers]
    other = [sample for sample, text in enumerate(texts, start=1) if text != texts[0]]
    if len(answers) == 1:
        context.finding("asr.repeat_not_tried", Outcome.SKIPPED)
    elif not other:
        context.finding("asr.repeat_same", Outcome.PASSED, repeats=len(answers))
    else:
        facts = {"repeat": other[0], "different": len(other), "repeats": len(answers), "first": first}
        difference = mark(texts[0], texts[other[0] - 1], unit)
        context.finding("asr.repeat_differs", Outcome.WARNING, difference=difference, **facts)


def judge_speed(
    context: StageContext, answers: Sequence[Transcript], seconds: float, host_limit: float = HOST_ANSWER_SECONDS
) -> None:
    """Cold and warm apart; slower than the sound or than the host waits is a warning."""
    cold, warm = answers[0].seconds, [answer.seconds for answer in answers[1:]]
    facts: dict[str, Any] = {"cold": round(cold, 3), "cold_factor": round(cold / seconds, 3), "warm": len(warm)}
    if warm:
        facts |= {"median": round(median(warm), 3), "worst": round(max(warm), 3)}
        facts |= {"median_factor": round(median(warm) / seconds, 3), "worst_factor": round(max(warm) / seconds, 3)}
    usual = median(warm) if warm else cold
    if usual > seconds:
        context.finding("asr.slower_than_real_time", Outcome.WARNING, usual=round(usual, 3), **facts)
    else:
        context.finding("asr.speed" if warm else "asr.speed_cold", Outcome.PASSED, **facts)
    slowest = max(cold, *warm) if warm else cold
    if slowest > host_limit:
        context.finding("asr.slower_than_host", Outcome.WARNING, took=round(slowest, 3), limit=host_limit)


def judge_detected(context: StageContext, utterance: Utterance, heard: Transcript) -> None:
    """The language that the recogniser says it detected, where none was sent and it says one."""
    detected = heard.extra.get("language")
    if utterance.sent is not None or not isinstance(detected, str) or not detected:
        return
    spoken = utterance.recording.language
    if spoken in (None, detected):
        context.finding("asr.language_detected", Outcome.PASSED, detected=detected)
    else:
        context.finding("asr.language_misdetected", Outcome.WARNING, detected=detected, spoken=spoken)


def ask_person(context: StageContext, utterance: Utterance, text: str) -> None:
    """Without a transcript only a person can say whether the words are right; no answer is no confirmation."""
    facts = {"text": text, "file": utterance.recording.file.name}
    options = ("yes", "no", "not_confirmed")
    question = Question("asr.text_matches", options, "not_confirmed", dict(facts), timeout=COMPARE_TIMEOUT)
    answer = context.ask(question)
    found = {"yes": ("asr.confirmed", Outcome.PASSED), "no": ("asr.denied", Outcome.FAILED)}
    id, outcome = found.get(answer.option, ("asr.not_compared", Outcome.SKIPPED))
    context.finding(id, outcome, ["file"], **facts)
