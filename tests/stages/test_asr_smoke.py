"""The ASR smoke against a recogniser that answers by a script: what is sent, what is judged, what is asked."""

import json
import sys
from pathlib import Path

import pytest
import soundfile

from rocm_wizard.qualification import events as ev
from rocm_wizard.qualification.finding import Finding
from rocm_wizard.qualification.journal import JournalReading
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.pipeline import Pipeline
from rocm_wizard.qualification.stage import Answer, CancelToken, Question
from rocm_wizard.qualification.state import StageState
from rocm_wizard.stages.asr_smoke import AsrSmokeStage
from rocm_wizard.stages.recordings import bundled_recording, bundled_recordings, recording_for
from tests.stages.bench import CHILDREN, Bench

SPOKEN = {str(soundfile.info(recording.file).frames): [recording.transcript] for recording in bundled_recordings()}
"""A recogniser that hears every bundled recording right."""
ENGLISH = bundled_recording()
FRAMES = str(soundfile.info(ENGLISH.file).frames)


def listens(bench: Bench, **script: object) -> Path:
    """Gives the session a scripted recogniser; the path is of the requests it was sent."""
    log = bench.folder / "requests.jsonl"
    told = {"texts": SPOKEN, "codes": False, "log": str(log), **script}
    command = [sys.executable, "-u", str(CHILDREN / "listener.py"), json.dumps(told)]
    bench.options(asr_command=command, limits={"ready": 20.0, "message": 20.0, "host_answer": 30.0})
    return log


def run(bench: Bench) -> tuple[StageState, dict[str, list[Finding]]]:
    """The stage, and its findings by id."""
    stage = bench.run(AsrSmokeStage).stage("asr_smoke")
    found: dict[str, list[Finding]] = {}
    for finding in stage.findings:
        found.setdefault(finding.id, []).append(finding)
    return stage, found


def sent(log: Path) -> list[str | None]:
    """The language of each request."""
    return [json.loads(line)["language"] for line in log.read_text(encoding="utf-8").splitlines()]


def test_a_recogniser_that_hears_right_passes(bench: Bench) -> None:
    log = listens(bench)
    bench.options(repeat=4)
    stage, found = run(bench)
    assert stage.outcome is Outcome.PASSED, [f.id for f in stage.findings if f.outcome is not Outcome.PASSED]
    assert len(found["asr.text_right"]) == 2, "one cold, one warm; the same text is not told again"
    assert len(found["asr.other_right"]) == 3
    assert found["asr.repeat_same"][0].facts["repeats"] == 4
    assert sent(log) == ["English"] * 6 + ["English", "Chinese", "Japanese"] + ["en"]
    samples = [m.sample for m in stage.measurements if m.id == "asr.inference"]
    phases = [m.phase for m in stage.measurements if m.id == "asr.real_time_factor"]
    assert samples == [1, 2, 3, 4]
    assert phases == ["cold", "warm", "warm", "warm"]
    speed = found["asr.speed"][0].facts
    warm = sorted(m.value for m in stage.measurements if m.id == "asr.inference" and m.phase == "warm")
    assert (speed["median"], speed["worst"]) == (round(warm[1], 3), round(warm[2], 3))
    assert speed["median_factor"] == pytest.approx(warm[1] / 7.1, abs=1e-3)


def test_each_text_is_shown_beside_its_reference(bench: Bench) -> None:
    listens(bench)
    bench.options(repeat=3)
    run(bench)
    records = list(JournalReading(bench.journal.path))
    shown = [record.event for record in records if isinstance(record.event, ev.TextRecognised)]
    assert [(event.sample, event.reference) for event in shown] == [(n, ENGLISH.transcript) for n in (1, 2, 3)]


def test_errors_within_the_limit_are_marked(bench: Bench) -> None:
    listens(bench, texts=SPOKEN | {FRAMES: [str(ENGLISH.transcript).replace("leisure", "pleasure")]})
    stage, found = run(bench)
    assert stage.outcome is Outcome.PASSED
    facts = found["asr.text_close"][0].facts
    assert (facts["edits"], facts["units"]) == (1, 22)
    assert "had then [-leisure-] {+pleasure+} to" in str(facts["difference"])


def test_a_repeat_that_differs_is_named_with_its_difference(bench: Bench) -> None:
    right = str(ENGLISH.transcript)
    listens(bench, texts=SPOKEN | {FRAMES: [right, right, right.replace("mister", "minister"), right]})
    bench.options(repeat=4)
    stage, found = run(bench)
    assert stage.outcome is Outcome.WARNING
    facts = found["asr.repeat_differs"][0].facts
    assert (facts["repeat"], facts["different"], facts["repeats"]) == (3, 1, 4)
    assert "and [-mister-] {+minister+} john" in str(facts["difference"])
    assert len(found["asr.text_close"]) == 1, "the new text is judged too"


def test_one_transcription_proves_no_repetition(bench: Bench) -> None:
    listens(bench)
    bench.options(repeat=1)
    stage, found = run(bench)
    assert found["asr.repeat_not_tried"][0].outcome is Outcome.SKIPPED
    assert "median" not in found["asr.speed_cold"][0].facts
    assert stage.outcome is Outcome.WARNING


def test_an_answer_that_does_not_follow_the_sound_fails(bench: Bench) -> None:
    listens(bench, texts={"any": [ENGLISH.transcript]})
    stage, found = run(bench)
    assert "asr.text_right" in found, "the first recording alone would pass"
    assert stage.outcome is Outcome.FAILED
    assert {finding.outcome for finding in found["asr.same_answer"]} == {Outcome.FAILED}
    assert len(found["asr.same_answer"]) == 3


def test_invented_words_are_warnings(bench: Bench) -> None:
    listens(bench, silence="Thank you.", noise="you", texts=SPOKEN)
    stage, found = run(bench)
    assert stage.outcome is Outcome.WARNING
    assert found["asr.words_from_silence"][0].facts["text"] == "Thank you."
    assert found["asr.words_from_noise"][0].facts["text"] == "you"


def test_punctuation_is_no_word(bench: Bench) -> None:
    listens(bench, silence=" ... ")
    assert "asr.silence_kept" in run(bench)[1]


def test_a_language_that_is_heard_badly_is_a_warning(bench: Bench) -> None:
    chinese = recording_for("Chinese")
    assert chinese is not None
    listens(bench, texts=SPOKEN | {str(soundfile.info(chinese.file).frames): ["完全不同的一句话"]})
    stage, found = run(bench)
    assert stage.outcome is Outcome.WARNING
    assert found["asr.other_wrong"][0].facts["language"] == "Chinese"


@pytest.mark.parametrize("codes", [True, False])
def test_an_iso_code_is_only_recorded(bench: Bench, codes: bool) -> None:
    listens(bench, codes=codes)
    stage, found = run(bench)
    assert found["asr.iso_code_taken" if codes else "asr.iso_code_refused"][0].facts["code"] == "en"
    assert stage.outcome is Outcome.PASSED


def test_slower_than_the_host_waits(bench: Bench) -> None:
    listens(bench, delay=0.3)
    bench.options(limits={"ready": 20.0, "message": 20.0, "host_answer": 0.2}, level="quick")
    found = run(bench)[1]
    slow = found["asr.slower_than_host"][0]
    assert (slow.outcome, slow.facts["limit"]) == (Outcome.WARNING, 0.2)
    assert isinstance(slow.facts["took"], float)
    assert slow.facts["took"] >= 0.3


def test_slower_than_speech(bench: Bench) -> None:
    listens(bench, delay=0.45)
    short = bench.folder / "short.wav"
    soundfile.write(short, soundfile.read(ENGLISH.file, 6400)[0], 16000)
    bench.options(audio=short, transcript="and mister", level="quick", repeat=1)
    assert run(bench)[1]["asr.slower_than_real_time"][0].outcome is Outcome.WARNING


@pytest.mark.parametrize(("wanted", "language"), [("ZH-cn", "Chinese"), ("jp", "Japanese"), ("english", "English")])
def test_a_language_chooses_its_recording(bench: Bench, wanted: str, language: str) -> None:
    log = listens(bench)
    bench.options(asr_language=wanted, level="quick")
    stage, found = run(bench)
    assert stage.outcome is Outcome.PASSED
    recording = recording_for(language)
    assert recording is not None
    assert found["asr.recording"][0].facts["file"] == recording.file.name
    assert sent(log)[:4] == [language] * 4


@pytest.mark.parametrize(
    ("tells", "id", "outcome"),
    [
        ("English", "asr.language_detected", Outcome.PASSED),
        ("Welsh", "asr.language_misdetected", Outcome.WARNING),
        (None, "asr.language_automatic", Outcome.PASSED),
    ],
)
def test_detection_is_left_to_the_recogniser(bench: Bench, tells: str | None, id: str, outcome: Outcome) -> None:
    log = listens(bench, **({"tell": tells} if tells else {}))
    bench.options(asr_language="auto", level="quick")
    stage, found = run(bench)
    assert sent(log)[:4] == [None] * 4
    assert stage.outcome is outcome
    assert found[id][0].outcome is outcome


def test_a_mistyped_language_stops_before_the_sidecar(bench: Bench) -> None:
    log = listens(bench)
    bench.options(asr_language="Japanes")
    stage, found = run(bench)
    mistyped = found["asr.language_mistyped"][0]
    assert (mistyped.outcome, mistyped.facts["closest"]) == (Outcome.FAILED, "Japanese")
    assert len(stage.findings) == 1
    assert not log.exists()


def test_a_language_without_a_recording_was_not_tried(bench: Bench) -> None:
    listens(bench)
    bench.options(asr_language="fi")
    stage, found = run(bench)
    assert found["asr.no_recording"][0].facts["language"] == "Finnish"
    assert stage.outcome is Outcome.COULD_NOT_CHECK


def test_a_transcript_without_words_or_recording(bench: Bench) -> None:
    listens(bench)
    bench.options(transcript=" ... ")
    assert run(bench)[1]["asr.transcript_empty"][0].outcome is Outcome.FAILED


def test_a_transcript_alone_is_left_aside(bench: Bench) -> None:
    listens(bench)
    bench.options(transcript="something else", level="quick")
    stage, found = run(bench)
    assert found["asr.transcript_without_audio"][0].outcome is Outcome.WARNING
    assert found["asr.text_right"][0].facts["reference"] == ENGLISH.transcript
    assert stage.outcome is Outcome.WARNING


def test_a_recording_without_transcript_is_not_confirmed_by_nobody(bench: Bench) -> None:
    log = listens(bench)
    bench.options(audio=ENGLISH.file)
    stage, found = run(bench)
    assert found["asr.not_compared"][0].outcome is Outcome.SKIPPED
    assert stage.outcome is Outcome.WARNING
    assert len(found["asr.other_right"]) == 1, "the person's own recording is followed by one of another sentence"
    assert "he was not" in str(found["asr.other_right"][0].facts["text"])
    assert sent(log)[0] is None


@pytest.mark.parametrize(
    ("option", "id", "outcome"),
    [("yes", "asr.confirmed", Outcome.PASSED), ("no", "asr.denied", Outcome.FAILED)],
)
def test_a_person_decides_where_there_is_no_transcript(bench: Bench, option: str, id: str, outcome: Outcome) -> None:
    asked: list[Question] = []

    def person(question: Question, cancel: CancelToken) -> Answer:
        asked.append(question)
        return Answer(option, "person")

    listens(bench)
    bench.options(audio=ENGLISH.file)
    pipeline = Pipeline([AsrSmokeStage(bench.session)], bench.journal, ask=person, clean_up=bench.runner.stop_all)
    pipeline.start("test", {}, {}, "en")
    stage = pipeline.run().stage("asr_smoke")
    assert [question.id for question in asked] == ["asr.text_matches"]
    assert asked[0].facts["text"] == ENGLISH.transcript
    assert asked[0].timeout == 60, "long enough to read it, and an end for a run that nobody attends"
    assert stage.findings[-1].id == id
    assert stage.outcome is outcome


@pytest.mark.slow
def test_our_own_recogniser_hears_a_japanese_flac_and_names_the_language(bench: Bench) -> None:
    japanese = recording_for("Japanese")
    assert japanese is not None
    file = bench.folder / "录音 一.flac"
    samples, rate = soundfile.read(japanese.file, dtype="float32")
    soundfile.write(file, samples[:, None].repeat(2, axis=1), rate)
    bench.options(audio=file, transcript=japanese.transcript, repeat=3)
    stage, found = run(bench)
    assert stage.outcome is Outcome.PASSED, [f.id for f in stage.findings if f.outcome is not Outcome.PASSED]
    assert found["asr.language_detected"][0].facts["detected"] == "Japanese"
    assert "asr.iso_code_refused" in found
    rates = [f.facts["error_rate"] for id in ("asr.text_right", "asr.text_close") for f in found.get(id, ())]
    assert len(rates) == 2
    assert all(isinstance(rate, float) and rate <= 0.10 for rate in rates)


def test_no_words_in_a_recording_without_transcript_is_no_pass(bench: Bench) -> None:
    listens(bench, texts={"any": [""]})
    bench.options(audio=ENGLISH.file)
    _, found = run(bench)
    assert {finding.outcome for finding in found["asr.nothing_heard"]} == {Outcome.FAILED}
    assert "asr.heard" not in found
