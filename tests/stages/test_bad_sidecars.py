"""Every way a sidecar can break the wire has its own finding, in time, and leaves no process."""

import sys
import time

import numpy as np
import pytest

from rocm_wizard.qualification.finding import Finding
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import StageContext
from rocm_wizard.stages.asr_smoke import AsrSmokeStage
from rocm_wizard.stages.session import Session
from rocm_wizard.stages.smoke import SmokeFailed, sidecar
from rocm_wizard.stages.speech_children import asr_spec, tts_spec
from rocm_wizard.stages.tts_smoke import TtsSmokeStage
from tests.sidecar.faults import FAULTS, Fault
from tests.stages.bench import Bench, bad, bad_sidecar

AMPLE = {"ready": 20.0, "message": 20.0}
TIGHT = {"ready": 1.5, "message": 1.0, "exit": 1.0}
SECOND = np.zeros(16000, np.float32)


class TwoRequestsStage:
    """The shortest use of a sidecar that shows every fault: it is asked twice, then it has to leave."""

    def __init__(self, session: Session, kind: str) -> None:
        self.id = f"{kind}_smoke"
        self._session = session

    def run(self, context: StageContext) -> None:
        spec = asr_spec(self._session) if self.id == "asr_smoke" else tts_spec(self._session)
        try:
            with sidecar(context, self._session, spec) as client:
                for _ in range(2):
                    if self.id == "asr_smoke":
                        client.transcribe(SECOND, 16000, None)
                    else:
                        list(client.speak({"text": "x"}))
        except SmokeFailed:
            return


def findings_of(bench: Bench, kind: str, mode: str, limits: dict[str, float] = AMPLE) -> list[Finding]:
    bench.options(asr_command=bad_sidecar("asr", mode), tts_command=bad_sidecar("tts", mode), limits=limits)
    state = bench.run(lambda session: TwoRequestsStage(session, kind))
    return list(state.stage(f"{kind}_smoke").findings)


def wrong(findings: list[Finding]) -> list[tuple[str, Outcome]]:
    return [(finding.id, finding.outcome) for finding in findings if finding.outcome is not Outcome.PASSED]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.kind}-{fault.mode}")
def test_a_fault_is_found(bench: Bench, fault: Fault) -> None:
    if fault.mode.endswith("killed") and sys.platform == "win32":
        pytest.skip("no signals")
    started = time.monotonic()
    found = wrong(findings_of(bench, fault.kind, fault.mode, TIGHT if fault.waits else AMPLE))
    assert found == [(fault.finding, fault.outcome)]
    assert time.monotonic() - started < fault.seconds


@pytest.mark.parametrize(
    ("mode", "id", "left"),
    [
        ("leaves_behind_and_dies", "sidecar.died", True),
        ("leaves_behind_and_load_fail", "sidecar.load_failed", True),
        ("leaves_behind_and_wrong_device", "sidecar.wrong_device", False),
        ("leaves_behind_and_silent", "sidecar.fell_silent", False),
    ],
)
def test_one_that_breaks_may_leave_processes_too(bench: Bench, mode: str, id: str, *, left: bool) -> None:
    found = wrong(findings_of(bench, "tts", mode, {"ready": 20.0, "message": 1.0}))
    named = [("sidecar.left_processes", Outcome.WARNING)] if left else []  # by force the wizard ends all of it
    assert found == [(id, Outcome.FAILED), *named]


@pytest.mark.parametrize("kind", ["asr", "tts"])
def test_a_healthy_sidecar_has_no_fault(bench: Bench, kind: str) -> None:
    findings = findings_of(bench, kind, "healthy")
    assert wrong(findings) == []
    traffic = next(finding for finding in findings if finding.id == "wire.traffic")
    assert traffic.facts["messages"] == (3 if kind == "asr" else 7)


@pytest.mark.parametrize(("kind", "names"), [("asr", ["result.score", "result.words"]), ("tts", ["chunk.energy"])])
def test_unknown_fields_are_no_fault_and_are_named(bench: Bench, kind: str, names: list[str]) -> None:
    findings = findings_of(bench, kind, "unknown_fields")
    assert wrong(findings) == []
    traffic = next(finding for finding in findings if finding.id == "wire.traffic_more")
    named = traffic.facts["unknown_fields"]
    assert isinstance(named, list)
    assert sorted(str(name) for name in named) == names


def test_a_broken_recogniser_blocks_what_follows(bench: Bench) -> None:
    bench.options(asr_command=bad_sidecar("asr", "dies"), limits=AMPLE)
    state = bench.run(AsrSmokeStage, TtsSmokeStage)
    assert bad(state, "asr_smoke").id == "sidecar.died"
    assert state.stage("tts_smoke").blocked_by == "asr_smoke"
    assert state.verdict == 1


@pytest.mark.skipif(sys.platform == "win32", reason="signal names")
def test_the_cause_is_named(bench: Bench) -> None:
    found = next(f for f in findings_of(bench, "asr", "killed") if f.id == "sidecar.died")
    assert "SIGKILL" in str(found.facts["detail"])


def test_last_words_are_kept_and_cleaned(bench: Bench) -> None:
    found = next(f for f in findings_of(bench, "tts", "traceback") if f.id == "sidecar.died")
    stderr = found.facts["stderr"]
    assert isinstance(stderr, list)
    assert stderr[-1] == "ImportError: No module named 'qwen_asr'"


def test_escapes_in_a_message_do_not_reach_a_terminal(bench: Bench) -> None:
    found = next(f for f in findings_of(bench, "tts", "load_fail") if f.id == "sidecar.load_failed")
    assert found.facts["detail"] == "LOAD_FAIL: no such weights"


def test_silence_is_not_speech(bench: Bench) -> None:
    bench.options(tts_command=bad_sidecar("tts", "silence"), limits=AMPLE)
    findings = {finding.id: finding for finding in bench.run(TtsSmokeStage).stage("tts_smoke").findings}
    assert findings["tts.silent"].outcome is Outcome.FAILED


def test_half_a_second_is_not_three_sentences(bench: Bench) -> None:
    bench.options(tts_command=bad_sidecar("tts", "too_short"), limits=AMPLE)
    findings = {finding.id for finding in bench.run(TtsSmokeStage).stage("tts_smoke").findings}
    assert "tts.duration_absurd" in findings


def test_the_wrong_words_fail(bench: Bench) -> None:
    bench.options(asr_command=bad_sidecar("asr", "wrong_text"), limits=AMPLE)
    findings = list(bench.run(AsrSmokeStage).stage("asr_smoke").findings)
    errors = [finding for finding in findings if finding.id == "asr.text_wrong_bundled"]
    assert len(errors) == 2
    assert isinstance(errors[0].facts["error_rate"], float)
    assert errors[0].facts["error_rate"] > 0.5
    assert "asr.text_wrong" not in {finding.id for finding in findings}, "its words are known: no doubt about them"


def test_a_missing_program_is_could_not_check(bench: Bench) -> None:
    bench.options(asr_command=[str(bench.folder / "nothing here")], limits=AMPLE)
    found = bad(bench.run(AsrSmokeStage), "asr_smoke")
    assert (found.id, found.outcome) == ("sidecar.not_started", Outcome.COULD_NOT_CHECK)
