"""The main job, on real input, with real sound."""

import json
import signal
import sys
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

from rocm_wizard.audio.resample import resample
from rocm_wizard.audio.wav import read_audio
from rocm_wizard.qualification.journal import JournalReading
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.reducer import reduce
from tests.audio.pulse_server import PulseServer, align, silent_environment
from tests.e2e.cli import MIB, environment, only_run, run, started

pytestmark = pytest.mark.slow

STAGES = ["profile", "versions", "compute", "env_merge", "asr_smoke", "tts_smoke", "acceptance"]
QUICK = ("--text", "One short sentence, for the sound of it.")


def test_the_whole_run_plays_what_it_made(tmp_path: Path, pulse: PulseServer) -> None:
    runs = tmp_path / "runs 运行"
    with pulse.capture("vspk") as captured:
        done = run("--runs-dir", str(runs), env=pulse.child_environment(environment()))
    assert done.code == 0, done.out + done.err
    folder = only_run(runs)
    state = reduce(JournalReading(folder / "journal.jsonl"))
    assert [stage.id for stage in state.stages] == STAGES
    outcomes = [stage.outcome for stage in state.stages]
    expected = [*[Outcome.PASSED] * 5, Outcome.WARNING, Outcome.SKIPPED]
    assert outcomes == expected, "nobody confirmed having heard it, and nobody wanted the acceptance step"
    findings = {finding.id: finding for finding in state.stage("tts_smoke").findings}
    assert findings["playback.played"].facts["starved_frames"] == 0
    assert findings["heard.not_confirmed"].outcome is Outcome.SKIPPED
    samples, rate = read_audio(folder / "tts-smoke.wav")
    match = align(captured.samples, resample(samples, rate, captured.rate))
    assert match.correlation > 0.99
    assert np.count_nonzero(captured.samples[: match.offset]) < captured.rate // 10, "no sound but ours before it"
    assert done.peak < 110 * MIB, f"{done.peak / MIB:.0f} MiB"
    assert not done.torch
    assert f"Report: {folder / 'report.html'}" in done.out
    assert "with the embedded models; your own models were not tested" in done.out
    for name in ("report.html", "report.md", "report.json"):
        assert (folder / name).stat().st_size > 1000


def test_a_device_of_the_voices_own_rate_gets_every_sample(tmp_path: Path, pulse: PulseServer) -> None:
    env = pulse.child_environment(environment({"PULSE_SINK": "v24"}))
    with pulse.capture("v24") as captured:
        done = run("run", "--stages", "tts_smoke", "--runs-dir", str(tmp_path), *QUICK, env=env)
    assert done.code == 0, done.out + done.err
    samples, rate = read_audio(only_run(tmp_path) / "tts-smoke.wav")
    assert rate == captured.rate
    match = align(captured.samples, samples)
    assert match.correlation > 0.999
    assert match.largest_difference <= 1.01, "no more than the 16-bit grid"


def test_without_a_sound_device_it_passes_with_a_warning(tmp_path: Path) -> None:
    env = environment(silent_environment(tmp_path / "silent"))
    done = run("run", "--stages", "tts_smoke", "--runs-dir", str(tmp_path / "runs"), *QUICK, env=env)
    assert done.code == 0, done.out + done.err
    folder = only_run(tmp_path / "runs")
    stage = reduce(JournalReading(folder / "journal.jsonl")).stage("tts_smoke")
    findings = {finding.id: finding for finding in stage.findings}
    assert stage.outcome is Outcome.WARNING
    assert findings["playback.no_output_device"].outcome is Outcome.SKIPPED
    assert findings["tts.utterance"].outcome is Outcome.PASSED
    assert (folder / "tts-smoke.wav").stat().st_size > 20_000
    assert "heard.not_confirmed" not in findings, "nobody is asked about what was not played"


def test_json_on_stdout_is_the_journal_and_nothing_else(tmp_path: Path) -> None:
    done = run("run", "--json", "--stages", "versions,compute", "--runs-dir", str(tmp_path))
    assert done.code == 0, done.err
    lines = done.out.splitlines(keepends=True)
    assert "".join(lines).encode() == (only_run(tmp_path) / "journal.jsonl").read_bytes()
    assert [json.loads(line)["seq"] for line in lines] == list(range(1, len(lines) + 1))


@pytest.mark.parametrize("face", [(), ("--json",)])
def test_the_exit_code_does_not_depend_on_the_face(tmp_path: Path, face: tuple[str, ...]) -> None:
    done = run("run", *face, "--profile", "local-rocm", "--runs-dir", str(tmp_path))
    assert done.code == 1
    assert run("run", *face, "--profile", "nonsense", "--runs-dir", str(tmp_path / "b")).code == 1


def test_usage_errors_are_two_and_say_what_to_do(tmp_path: Path) -> None:
    for arguments in (["--nonsense"], ["run", "--stages", "tea"], ["run", "--chunk-seconds", "0"]):
        done = run(*arguments)
        assert done.code == 2
        assert "error:" in done.err and "hint:" in done.err
        assert done.out == ""
    blocked = tmp_path / "file"
    blocked.write_text("in the way", encoding="utf-8")
    done = run("run", "--runs-dir", str(blocked))
    assert done.code == 2
    assert "--runs-dir" in done.err


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_ctrl_c_ends_children_and_the_journal_properly(tmp_path: Path) -> None:
    with started("run", "--runs-dir", str(tmp_path)) as (process, _watch):
        wait_for_child(process.pid, "rocm_wizard.speech.asr")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 130, out.decode() + err.decode()
    reading = JournalReading(only_run(tmp_path) / "journal.jsonl")
    state = reduce(reading)
    assert reading.problems == []
    assert state.finished_exit_code == 130
    assert state.stage("asr_smoke").outcome is Outcome.CANCELLED
    assert state.stage("tts_smoke").outcome is Outcome.BLOCKED


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_kill_9_of_the_wizard_leaves_a_readable_journal_and_no_child(tmp_path: Path) -> None:
    with started("run", "--runs-dir", str(tmp_path)) as (process, _watch):
        child = wait_for_child(process.pid, "rocm_wizard.speech.asr")
        process.kill()
        process.wait(10)
        assert gone(child), "a sidecar ends when its stdin does"
    journal = only_run(tmp_path) / "journal.jsonl"
    done = run("replay", str(journal))
    assert "REPLAY" in done.out
    assert "step “Speech recognition” has no result" in done.out
    assert done.code == 4


def wait_for_child(pid: int, word: str) -> psutil.Process:
    """The command's child whose command line holds a word."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for child in psutil.Process(pid).children():
            try:
                if any(word in part for part in child.cmdline()):
                    return child
            except psutil.Error:
                continue
        time.sleep(0.05)
    raise AssertionError(f"no child {word}")


def gone(process: psutil.Process) -> bool:
    """Whether it ends within half a minute (it may be in the middle of a long import)."""
    _, alive = psutil.wait_procs([process], timeout=30)
    return not alive
