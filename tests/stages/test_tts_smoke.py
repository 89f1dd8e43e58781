"""The TTS smoke against a voice that plays a recording, whole or with one fault: each is named, and only it."""

import json
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from rocm_wizard.audio.wav import file_sha256, read_audio
from rocm_wizard.qualification import events as ev
from rocm_wizard.qualification.finding import Finding
from rocm_wizard.qualification.journal import Record
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import CancelToken, StageContext, answer_by_default
from rocm_wizard.qualification.state import StageState
from rocm_wizard.sidecar.answers import Block
from rocm_wizard.sidecar.messages import Chunk
from rocm_wizard.stages.recordings import bundled_recording
from rocm_wizard.stages.tts_judgement import judge_seams
from rocm_wizard.stages.tts_smoke import TtsSmokeStage
from rocm_wizard.stages.utterance import Utterance
from tests.stages.bench import CHILDREN, Bench

SPOKEN = bundled_recording()
ASIDE = {"playback.not_wanted", "tts.quick", "tts.repeat_not_tried"}
"""Skipped in each of these runs."""


def speaks(bench: Bench, **script: object) -> None:
    """Gives the session a voice that says the bundled recording."""
    told = {"wav": str(SPOKEN.file), "characters": len(SPOKEN.transcript or ""), **script}
    command = [sys.executable, "-u", str(CHILDREN / "speaking_sidecar.py"), json.dumps(told)]
    bench.options(
        tts_command=command,
        text=SPOKEN.transcript,
        chunk_seconds=0.4,
        repeat=1,
        level="quick",
        limits={"ready": 20.0, "message": 20.0},
    )


def run(bench: Bench) -> tuple[StageState, dict[str, Finding]]:
    """The stage, and its findings by id."""
    stage = bench.run(TtsSmokeStage).stage("tts_smoke")
    return stage, {finding.id: finding for finding in stage.findings}


def not_passed(found: dict[str, Finding]) -> set[str]:
    """Findings that say something is wrong."""
    return {id for id, finding in found.items() if finding.outcome is not Outcome.PASSED} - ASIDE


def test_a_good_voice_passes_with_its_numbers(bench: Bench) -> None:
    speaks(bench)
    bench.options(repeat=3)
    stage, found = run(bench)
    assert not_passed(found) == set()
    said = found["tts.utterance"].facts
    assert (said["blocks"], said["pauses"], said["seconds"]) == (18, 1, 7.1)
    assert found["tts.joins"].facts["joins"] == 18
    assert found["tts.timbre_steady"].facts["blocks"] == 18
    assert found["tts.speed_warm"].facts["warm"] == 2
    assert found["tts.stages"].facts["stages"] == ["cfm 2.2", "bigvgan 1.1"], "40 and 20 ms over 18 blocks"
    phases = [(m.sample, m.phase) for m in stage.measurements if m.id == "tts.first_audio"]
    assert phases == [(1, "cold"), (2, "warm"), (3, "warm")]
    series = {id: [m.sample for m in stage.measurements if m.id == id] for id in ("tts.centroid", "tts.block_arrival")}
    assert series == {"tts.centroid": list(range(1, 19)), "tts.block_arrival": list(range(1, 20))}
    assert len(stage.blocks) == 19, "only the utterance that is heard is drawn"


def test_the_sound_is_kept_as_it_came(bench: Bench) -> None:
    speaks(bench)
    _, found = run(bench)
    kept = Path(str(found["tts.file"].facts["file"]))
    assert kept == bench.folder / "tts-smoke.wav"
    assert found["tts.file"].facts["sha256"] == file_sha256(kept)
    samples, rate = read_audio(kept)
    original, _ = read_audio(SPOKEN.file)
    assert rate == 16_000
    assert (samples[: len(original)] == original).all()
    assert not samples[len(original) :].any()


FAULTS = {
    "click": ("tts.clicks", Outcome.WARNING),
    "repeat": ("tts.blocks_repeated", Outcome.FAILED),
    "dc": ("tts.dc_offset", Outcome.WARNING),
    "clip": ("tts.clipped", Outcome.WARNING),
    "drift": ("tts.timbre_drift", Outcome.WARNING),
    "lead": ("tts.leading_silence", Outcome.WARNING),
    "mostly_silent": ("tts.mostly_silence", Outcome.WARNING),
    "late": ("tts.gaps", Outcome.WARNING),
    "swallowed": ("tts.failure_swallowed", Outcome.FAILED),
    "endless": ("tts.duration_absurd", Outcome.FAILED),
}
BESIDE = {
    # A block in the wrong place, a hard limit, an offset that ends, a filter that starts anew: all tear the wave.
    "repeat": {"tts.clicks"},
    "dc": {"tts.clicks"},
    "drift": {"tts.clicks"},
    "clip": {"tts.clicks", "tts.dc_offset"},
    "mostly_silent": {"tts.clicks", "tts.timbre_too_short"},
    "lead": {"tts.clicks"},
}
"""What a fault may bring along."""


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named(bench: Bench, fault: str) -> None:
    speaks(bench, fault=fault)
    _, found = run(bench)
    id, outcome = FAULTS[fault]
    assert found[id].outcome is outcome
    assert not_passed(found) - {id} <= BESIDE.get(fault, set())
    facts = found[id].facts
    match fault:
        case "click":
            assert facts["places"] == ["1.20 s"], "block 3 begins there"
            assert float(str(facts["jump"])) == pytest.approx(0.3, abs=0.1)
        case "repeat":
            assert facts["pairs"] == ["4 = 3"]
        case "late":
            assert (facts["gaps"], facts["places"]) == (1, ["1.2 s"])
            assert 300 <= float(str(facts["longest_ms"])) <= 500, "1.6 s late, with 1.2 s in hand"
            assert facts["buffered_gaps"] == 1, "0.3 s of prebuffer are there at once, so they help nothing"
        case "swallowed":
            assert "16000 zeros" in str(facts["detail"])
            assert "tts.file" not in found
        case "endless":
            assert "tts.speed_warm" not in found, "what is not the text is not measured further"
        case _:
            pass


def test_a_voice_that_breaks_off_when_it_is_warm_has_no_warm_speed(bench: Bench) -> None:
    speaks(bench, fault="breaks_off", **{"from": 1})
    bench.options(repeat=2)
    _, found = run(bench)
    assert found["tts.duration_absurd"].outcome is Outcome.FAILED
    assert float(str(found["tts.duration_absurd"].facts["seconds"])) == pytest.approx(0.4)
    assert "tts.speed_warm" not in found


def test_a_failure_that_only_the_log_shows(bench: Bench) -> None:
    speaks(bench, log="2026-01-01 00:00:00 - ERROR - streaming inference failed: HIP error: invalid argument")
    _, found = run(bench)
    assert not_passed(found) == {"tts.failure_swallowed"}
    assert found["tts.failure_swallowed"].facts["detail"] == "streaming inference failed: HIP error: invalid argument"


def test_an_existing_file_is_told_before_any_work_and_never_touched(bench: Bench) -> None:
    wished, taken = bench.folder / "我的 speech.wav", bench.folder / "tts-smoke.wav"
    wished.write_bytes(b"mine")
    taken.write_bytes(b"an earlier run's")
    speaks(bench)
    bench.options(output=wished)
    stage, found = run(bench)
    assert stage.checks[0].id == "output"
    assert not_passed(found) == {"tts.output_exists"}
    assert (wished.read_bytes(), taken.read_bytes()) == (b"mine", b"an earlier run's")
    assert found["tts.file"].facts["file"] == str(bench.folder / "tts-smoke-2.wav")


def test_a_folder_that_takes_no_file_is_told_before_any_work(bench: Bench) -> None:
    speaks(bench)
    bench.options(output=bench.folder / "nowhere" / "x.wav")
    stage, found = run(bench)
    assert stage.checks[0].finding == found["tts.output_unwritable"]
    assert found["tts.file"].facts["file"] == str(bench.folder / "tts-smoke.wav")


def test_a_file_that_appears_meanwhile_is_not_overwritten(bench: Bench) -> None:
    wished = bench.folder / "new.wav"

    def appear(record: Record) -> None:
        if isinstance(record.event, ev.ChildStarted):
            wished.write_bytes(b"theirs")

    bench.journal.subscribe(appear)
    speaks(bench)
    bench.options(output=wished)
    _, found = run(bench)
    assert wished.read_bytes() == b"theirs"
    assert not_passed(found) == {"tts.file_not_written"}
    assert found["tts.file"].facts["file"] == str(bench.folder / "tts-smoke.wav")


@pytest.mark.parametrize("content", [None, b"this is no sound"])
def test_a_reference_that_cannot_be_read_starts_nothing(bench: Bench, content: bytes | None) -> None:
    reference = bench.folder / "reference.wav"
    if content is not None:
        reference.write_bytes(content)
    speaks(bench)
    bench.options(reference=reference)
    stage, found = run(bench)
    assert set(found) == {"tts.reference_unreadable"}
    assert stage.children == ()


def test_the_distance_to_the_reference_is_measured(bench: Bench) -> None:
    speaks(bench)
    bench.options(reference=SPOKEN.file, reference_text=SPOKEN.transcript)
    stage, found = run(bench)
    near = [m.value for m in stage.measurements if m.id == "tts.mfcc_distance_reference"]
    assert len(near) == 18
    facts = found["tts.timbre_steady"].facts
    assert float(str(facts["reference_first"])) < 2 * float(str(facts["spread"]))


def test_a_language_without_a_voice_is_not_checked(bench: Bench) -> None:
    bench.options(tts_language="zh")
    stage, found = run(bench)
    assert set(found) == {"tts.no_voice"}
    assert stage.outcome is Outcome.COULD_NOT_CHECK


def test_an_interruption_costs_the_rest_of_the_sentence(bench: Bench) -> None:
    speaks(bench, delay=0.03)
    listener = {"texts": {"any": [SPOKEN.transcript]}}
    command = [sys.executable, "-u", str(CHILDREN / "listener.py"), json.dumps(listener)]
    bench.options(level="standard", asr_command=command)
    started = time.monotonic()
    stage, found = run(bench)
    assert time.monotonic() - started < 20
    assert not_passed(found) == set()
    cost = found["tts.interruption"].facts
    assert cost["blocks"] == 18, "17 of 18 blocks, and the pause"
    assert float(str(cost["wait"])) == pytest.approx(0.54, abs=0.2), "17 blocks and the next one's first: 30 ms each"
    assert found["tts.round_trip"].facts["error_rate"] == 0
    assert found["tts.both_loaded"].outcome is Outcome.PASSED
    assert found["tts.both_working"].outcome is Outcome.PASSED
    assert int(str(found["tts.both_working"].facts["answers"])) > 3, "0.5 s of speaking, and it answers at once"
    chunk_lengths = [f.facts["chunk_seconds"] for f in stage.findings if f.id == "tts.no_gaps"]
    assert chunk_lengths == [0.4, 0.8, 0.8], "as asked, the other length, and the host's first sentence"
    purposes = [child.purpose for child in stage.children]
    assert purposes.index("asr sidecar") < len(purposes) - 1 - purposes[::-1].index("tts sidecar"), "both at once"


def test_a_voice_that_dies_beside_the_recogniser_is_the_one_that_is_named(bench: Bench) -> None:
    speaks(bench, dies_after=3)
    listener = {"texts": {"any": [SPOKEN.transcript]}}
    command = [sys.executable, "-u", str(CHILDREN / "listener.py"), json.dumps(listener)]
    bench.options(level="standard", asr_command=command)
    _, found = run(bench)
    assert found["sidecar.died"].facts["sidecar"] == "tts sidecar"
    assert "tts.round_trip" in found
    assert "tts.round_trip_not_made" not in found
    assert "tts.interruption" not in found


def test_a_recogniser_that_does_not_start_leaves_the_words_unchecked(bench: Bench) -> None:
    speaks(bench)
    bench.options(level="standard", asr_command=[str(bench.folder / "no such program")])
    stage, found = run(bench)
    assert stage.outcome is Outcome.COULD_NOT_CHECK
    assert found["tts.round_trip_not_made"].outcome is Outcome.COULD_NOT_CHECK
    assert "tts.interruption" in found, "the voice goes on"


def test_a_voice_that_falls_silent_later_is_not_measured_on(bench: Bench) -> None:
    speaks(bench, fault="mute", only=1)
    bench.options(repeat=3)
    _, found = run(bench)
    assert found["tts.signal"].outcome is Outcome.PASSED
    assert found["tts.no_sound"].outcome is Outcome.FAILED
    assert not {"tts.speed_warm", "tts.no_gaps"} & set(found)


def test_one_block_has_no_seams_that_could_pass(bench: Bench) -> None:
    speaks(bench, fault="whole")
    _, found = run(bench)
    assert found["tts.joins_none"].outcome is Outcome.SKIPPED
    assert "tts.joins" not in found


@pytest.mark.parametrize(
    ("fault", "utterance", "finding", "missing"),
    [
        ("swallowed", 3, "tts.failure_swallowed", "tts.both_loaded"),
        ("mute", 3, "tts.no_sound", "tts.both_loaded"),
        ("mute", 4, "tts.no_sound", "tts.both_working"),
        ("fails", 5, "tts.interrupted_failed", "tts.interruption"),
        ("swallowed", 5, "tts.failure_swallowed", "tts.interruption"),
        ("mute", 6, "tts.no_sound", "tts.interruption"),
    ],
)
def test_what_breaks_beside_the_recogniser_or_after_an_interruption(
    bench: Bench, fault: str, utterance: int, finding: str, missing: str
) -> None:
    """Utterances: the one that is heard, the other length, the host's first, beside, both at work, interrupted,
    the next."""
    speaks(bench, fault=fault, only=utterance)
    listener = {"texts": {"any": [SPOKEN.transcript]}}
    command = [sys.executable, "-u", str(CHILDREN / "listener.py"), json.dumps(listener)]
    bench.options(level="standard", asr_command=command)
    _, found = run(bench)
    assert found[finding].outcome is Outcome.FAILED
    assert missing not in found
    assert "tts.round_trip_not_made" not in found, "the recogniser did its work"


def test_a_failure_hidden_in_the_comparison_of_settings(bench: Bench) -> None:
    """Utterances: the one that is heard, the first of the comparison, then both settings."""
    speaks(bench, fault="swallowed", only=3)
    bench.options(compare_concurrency=True)
    _, found = run(bench)
    assert found["tts.failure_swallowed"].outcome is Outcome.FAILED
    assert not [id for id in found if id.startswith("tts.concurrency_")]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [(("No.", "No."), "tts.joins"), (("No.", "Yes."), "tts.blocks_repeated"), (("No.", ""), "tts.blocks_repeated")],
)
def test_the_same_words_may_sound_alike(texts: tuple[str, str], expected: str) -> None:
    samples, rate = read_audio(SPOKEN.file)
    block = (samples[rate : 2 * rate] * np.hanning(rate)).astype(np.float32)
    utterance = Utterance()
    for number, text in enumerate(texts):
        utterance.add(Block(number, Chunk(rate, block, text), 0.1))
    found: list[str] = []
    context = StageContext("tts_smoke", lambda e: found.append(told(e)), answer_by_default, CancelToken())
    judge_seams(context, utterance)
    assert expected in found
    assert len([id for id in found if id in ("tts.joins", "tts.blocks_repeated")]) == 1


def told(event: ev.Event) -> str:
    return event.finding.id if isinstance(event, ev.FindingReported) else ""
