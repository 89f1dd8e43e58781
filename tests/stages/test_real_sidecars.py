"""The two smokes with the sidecars we ship, for real."""

import os
import signal
import sys
import threading
import time

import psutil
import pytest

from rocm_wizard.qualification import events as ev
from rocm_wizard.qualification.journal import Record
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.stages.asr_smoke import AsrSmokeStage
from rocm_wizard.stages.recordings import bundled_recording
from rocm_wizard.stages.tts_smoke import TtsSmokeStage
from tests.stages.bench import Bench, bad

pytestmark = pytest.mark.slow


def test_the_bundled_recording_is_recognised(bench: Bench) -> None:
    stage = bench.run(AsrSmokeStage).stage("asr_smoke")
    assert stage.outcome is Outcome.PASSED, [(f.id, f.facts) for f in stage.findings]
    rates = [finding.facts["error_rate"] for finding in stage.findings if finding.id == "asr.text_right"]
    assert len(rates) == 2
    assert all(isinstance(rate, float) and rate <= 0.10 for rate in rates)
    phases = {(m.id, m.phase) for m in stage.measurements}
    assert {("asr.inference", "cold"), ("asr.inference", "warm"), ("sidecar.start", "cold")} <= phases


def test_another_recording_in_its_place_fails(bench: Bench) -> None:
    other = bundled_recording("sense-and-sensibility-0880")
    bench.options(audio=other.file, transcript=bundled_recording().transcript)
    findings = bench.run(AsrSmokeStage).stage("asr_smoke").findings
    wrong = [finding for finding in findings if finding.id == "asr.text_wrong"]
    assert len(wrong) == 2
    assert all(isinstance(f.facts["error_rate"], float) and f.facts["error_rate"] > 0.5 for f in wrong)


def test_a_recording_without_transcript_is_not_confirmed(bench: Bench) -> None:
    bench.options(audio=bundled_recording().file)
    stage = bench.run(AsrSmokeStage).stage("asr_smoke")
    assert stage.outcome is Outcome.WARNING
    assert [f.outcome for f in stage.findings if f.id == "asr.not_compared"] == [Outcome.SKIPPED]


def test_three_sentences_are_spoken_in_blocks(bench: Bench) -> None:
    stage = bench.run(TtsSmokeStage).stage("tts_smoke")
    findings = {finding.id: finding for finding in stage.findings}
    assert "playback.not_wanted" in findings
    assert stage.outcome is Outcome.WARNING, "nothing was played, so not everything was checked"
    assert len(stage.blocks) >= 8
    assert [block.index for block in stage.blocks] == list(range(len(stage.blocks)))
    assert all(block.seconds <= 0.9 for block in stage.blocks)
    assert stage.blocks[0].arrived < stage.blocks[-1].arrived
    assert (bench.folder / "tts-smoke.wav").stat().st_size > 100_000
    for sound in ("tts.speed", "tts.joins", "tts.timbre_steady", "tts.both_loaded"):
        assert findings[sound].outcome is Outcome.PASSED, findings[sound].facts
    assert findings["tts.round_trip"].facts["error_rate"] == 0


def test_the_sound_file_of_an_earlier_run_is_never_overwritten(bench: Bench) -> None:
    old = bench.folder / "tts-smoke.wav"
    old.write_bytes(b"mine")
    bench.options(text="One short sentence.")
    bench.run(TtsSmokeStage)
    assert old.read_bytes() == b"mine"
    assert len(list(bench.folder.glob("tts-smoke*.wav"))) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9")
def test_a_sidecar_killed_in_the_middle_of_a_sentence(bench: Bench) -> None:
    pids: list[int] = []

    def kill_at_third_block(record: Record) -> None:
        if isinstance(record.event, ev.ChildStarted) and record.event.purpose == "tts sidecar":
            pids.append(record.event.pid)
        if isinstance(record.event, ev.AudioBlockReceived) and record.event.index == 2:
            os.kill(pids[0], signal.SIGKILL)

    bench.journal.subscribe(kill_at_third_block)
    bench.options(text="This sentence is long enough to be cut off. " * 40)
    state = bench.run(TtsSmokeStage, AsrSmokeStage)
    found = bad(state, "tts_smoke")
    assert (found.id, found.outcome) == ("sidecar.died", Outcome.CRASHED)
    assert "SIGKILL" in str(found.facts["detail"])
    assert state.stage("asr_smoke").blocked_by == "tts_smoke"
    assert not psutil.pid_exists(pids[0])


def test_cancel_in_the_middle_of_a_sentence_leaves_nothing(bench: Bench) -> None:
    from rocm_wizard.qualification.pipeline import Pipeline

    bench.options(text="This sentence is long enough to be cut off. " * 40)
    pipeline = Pipeline([TtsSmokeStage(bench.session)], bench.journal, clean_up=bench.runner.stop_all)
    pipeline.start("test", {}, {}, "en")
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    first_block = threading.Event()
    bench.journal.subscribe(lambda r: first_block.set() if isinstance(r.event, ev.AudioBlockReceived) else None)
    worker = threading.Thread(target=pipeline.run)
    worker.start()
    assert first_block.wait(60)
    pipeline.cancel()
    started = time.monotonic()
    worker.join(10)
    assert not worker.is_alive()
    assert time.monotonic() - started < 8
    assert pipeline.state.stage("tts_smoke").outcome is Outcome.CANCELLED
    left = [p for p in psutil.Process().children(recursive=True) if p.pid not in before]
    assert [p for p in left if p.status() != psutil.STATUS_ZOMBIE] == []
