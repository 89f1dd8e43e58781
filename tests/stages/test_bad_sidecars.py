"""Every way a sidecar can break the wire has its own finding, blocks what follows, and leaves no process."""

import sys

import pytest

from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.stages.asr_smoke import AsrSmokeStage
from rocm_wizard.stages.tts_smoke import TtsSmokeStage
from tests.stages.bench import Bench, bad, bad_sidecar

LIMITS = {"ready": 2.0, "message": 1.5}

BOTH = {
    "never_ready": "sidecar.not_ready",
    "banner_first": "wire.text_on_stdout",
    "load_fail": "sidecar.load_failed",
    "traceback": "sidecar.died",
    "other_first": "wire.not_ready_first",
    "wrong_device": "sidecar.wrong_device",
    "print": "wire.text_on_stdout",
    "array": "wire.not_an_object",
    "no_type": "wire.no_type",
    "silent": "sidecar.silent",
    "unknown_then_silent": "sidecar.silent",
    "dies": "sidecar.died",
    "killed": "sidecar.died",
    "refuses": "sidecar.refused",
}
ASR = BOTH | {"no_text": "wire.bad_result"}
TTS = BOTH | {
    "nan": "wire.not_finite",
    "infinite": "wire.not_finite",
    "bad_base64": "wire.bad_base64",
    "odd_bytes": "wire.odd_byte_count",
    "empty_chunk": "wire.empty_chunk",
    "no_rate": "wire.bad_sample_rate",
    "wrong_id": "wire.wrong_request_id",
    "rate_changes": "wire.sample_rate_changed",
    "nothing": "wire.no_audio",
}


@pytest.mark.parametrize(("mode", "finding"), ASR.items())
def test_bad_recogniser(bench: Bench, mode: str, finding: str) -> None:
    bench.options(asr_command=bad_sidecar("asr", mode), limits=LIMITS)
    state = bench.run(AsrSmokeStage, TtsSmokeStage)
    found = bad(state, "asr_smoke")
    assert found.id == finding
    assert found.outcome is (Outcome.CRASHED if mode == "killed" else Outcome.FAILED)
    assert state.stage("tts_smoke").blocked_by == "asr_smoke"
    assert state.verdict == 1


@pytest.mark.parametrize(("mode", "finding"), TTS.items())
def test_bad_speaker(bench: Bench, mode: str, finding: str) -> None:
    bench.options(tts_command=bad_sidecar("tts", mode), limits=LIMITS)
    state = bench.run(TtsSmokeStage)
    assert bad(state, "tts_smoke").id == finding
    assert state.verdict == 1


@pytest.mark.skipif(sys.platform == "win32", reason="signal names")
def test_the_cause_is_named(bench: Bench) -> None:
    bench.options(asr_command=bad_sidecar("asr", "killed"), limits=LIMITS)
    assert "SIGKILL" in str(bad(bench.run(AsrSmokeStage), "asr_smoke").facts["detail"])


def test_last_words_are_kept_and_cleaned(bench: Bench) -> None:
    bench.options(tts_command=bad_sidecar("tts", "traceback"), limits=LIMITS)
    stderr = bad(bench.run(TtsSmokeStage), "tts_smoke").facts["stderr"]
    assert isinstance(stderr, list)
    assert stderr[-1] == "ImportError: No module named 'qwen_asr'"


def test_escapes_in_a_message_do_not_reach_a_terminal(bench: Bench) -> None:
    bench.options(tts_command=bad_sidecar("tts", "load_fail"), limits=LIMITS)
    assert bad(bench.run(TtsSmokeStage), "tts_smoke").facts["detail"] == "LOAD_FAIL: no such weights"


def test_silence_is_not_speech(bench: Bench) -> None:
    bench.options(tts_command=bad_sidecar("tts", "silence"), limits=LIMITS)
    findings = {finding.id: finding for finding in bench.run(TtsSmokeStage).stage("tts_smoke").findings}
    assert findings["tts.silent"].outcome is Outcome.FAILED


def test_half_a_second_is_not_three_sentences(bench: Bench) -> None:
    bench.options(tts_command=bad_sidecar("tts", "too_short"), limits=LIMITS)
    findings = {finding.id for finding in bench.run(TtsSmokeStage).stage("tts_smoke").findings}
    assert "tts.duration_absurd" in findings


def test_the_wrong_words_fail(bench: Bench) -> None:
    bench.options(asr_command=bad_sidecar("asr", "wrong_text"), limits=LIMITS)
    findings = [finding for finding in bench.run(AsrSmokeStage).stage("asr_smoke").findings]
    wrong = [finding for finding in findings if finding.id == "asr.text_wrong"]
    assert len(wrong) == 2
    assert isinstance(wrong[0].facts["error_rate"], float)
    assert wrong[0].facts["error_rate"] > 0.5


def test_a_missing_program_is_could_not_check(bench: Bench) -> None:
    bench.options(asr_command=[str(bench.folder / "nothing here")], limits=LIMITS)
    found = bad(bench.run(AsrSmokeStage), "asr_smoke")
    assert (found.id, found.outcome) == ("sidecar.not_started", Outcome.COULD_NOT_CHECK)
