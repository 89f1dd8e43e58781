"""The soak with real children: turns until the time is over, restarts counted, thresholds that end it early."""

import json
import sys
from collections.abc import Callable

import pytest

from rocm_wizard.qualification.finding import Finding
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.stages import soak
from rocm_wizard.stages.device_meter import DeviceMeter
from rocm_wizard.stages.recordings import bundled_recording
from rocm_wizard.stages.soak import SoakStage
from rocm_wizard.stages.soak_record import MEMORY_GROWTH, SoakRecord
from tests.stages.bench import CHILDREN, Bench

LIMITS = {"ready": 20.0, "message": 20.0}
LISTENER = [sys.executable, "-u", str(CHILDREN / "soak_listener.py")]


def soaked(
    bench: Bench, listener: str, minutes: float = 0.05, language: str = "en", **more: object
) -> dict[str, list[Finding]]:
    """Findings by id. `minutes` is the time on the clock, not that the test takes."""
    listens = str(CHILDREN / "soak_listener.py")
    usual: dict[str, object] = {
        "asr_command": [sys.executable, "-u", listens, listener, str(bench.folder / "count"), language],
        "tts_command": [sys.executable, "-u", str(CHILDREN / "two_at_a_time.py"), "serial"],
        "asr_language": language,
        "minutes": minutes,
        "text": "One sentence.",
        "limits": LIMITS,
    }
    bench.options(**usual | more)
    found: dict[str, list[Finding]] = {}
    for finding in bench.run(SoakStage).stage("soak").findings:
        found.setdefault(finding.id, []).append(finding)
    return found


def test_turns_until_the_time_is_over(bench: Bench) -> None:
    found = soaked(bench, "right")
    (endured,) = found["soak.endured"]
    assert endured.outcome is Outcome.PASSED
    turns = endured.facts["turns"]
    assert isinstance(turns, int) and 8 <= turns < 60
    assert found["soak.limits"][0].facts["wrong"] == soak.MOST_WRONG
    steady = {
        str(finding.facts["quantity"])
        for id in ("soak.steady", "soak.slower", "soak.unclear")
        for finding in found.get(id, [])
    }
    assert steady == {"asr_inference", "tts_first_audio", "tts_real_time_factor"}
    memory = {finding.facts["quantity"]: finding for finding in found["soak.memory_steady"]}
    assert set(memory) == {"memory_wizard", "memory_asr", "memory_tts"}
    assert 3 < float(str(memory["memory_asr"].facts["most_mib"])) < 300
    assert found["soak.memory_unknown"][0].outcome is Outcome.SKIPPED


def test_a_recogniser_that_gets_slower_is_found(bench: Bench) -> None:
    (slower,) = soaked(bench, "slower")["soak.slower"]
    assert slower.facts["quantity"] == "asr_inference"
    assert float(str(slower.facts["low"])) > 0


@pytest.mark.parametrize(
    ("listener", "early", "ends_with"),
    [("dies", "soak.stopped_restarts", "soak.broke"), ("wrong", "soak.stopped_wrong", "soak.broke")],
)
def test_a_threshold_ends_it_early(bench: Bench, listener: str, early: str, ends_with: str) -> None:
    found = soaked(bench, listener, minutes=5)
    assert found[early][0].outcome is Outcome.FAILED
    assert found[ends_with][0].outcome is Outcome.FAILED


def test_one_death_is_survived_and_counted(bench: Bench) -> None:
    found = soaked(bench, "dies_once", minutes=0.05)
    (broke,) = found["soak.broke"]
    assert broke.facts["restarts"] == 1
    assert "soak.stopped_restarts" not in found
    assert found["sidecar.died"][0].outcome is Outcome.FAILED


class Recorder:
    """Stands where a stage's context goes and keeps the findings."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []

    def check(self, name: str) -> "Recorder":
        return self

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...

    def measure(self, *_: object) -> None: ...

    def finding(self, id: str, outcome: Outcome, **facts: object) -> None:
        self.findings.append(Finding(id, outcome, {name: str(value) for name, value in facts.items()}, frozenset()))


@pytest.mark.parametrize(
    ("grown", "expected"),
    [
        (lambda turn: 5e8 + turn * MEMORY_GROWTH / 20, "soak.memory_grows"),
        (lambda turn: 5e8 + (turn > 2) * 4e8, "soak.memory_steady"),
        (lambda turn: 5e8 + turn * 1000, "soak.memory_steady"),
        (lambda turn: 5e8 + turn % 2 * 4e8, "soak.memory_unclear"),
    ],
)
def test_a_leak_is_told_from_what_a_first_turn_needs(
    bench: Bench, grown: Callable[[int], float], expected: str
) -> None:
    record, context = SoakRecord(DeviceMeter(bench.session)), Recorder()
    for turn in range(40):
        record.add(context, "memory_asr", turn / 4, grown(turn), "B")  # type: ignore[arg-type]
    record.report(context, {}, {"memory_asr": "memory_asr"})  # type: ignore[arg-type]
    assert [finding.id for finding in context.findings] == [expected]


@pytest.mark.parametrize(
    ("latency", "expected"),
    [
        (lambda turn: 0.3 + turn % 2 * 0.01, "soak.steady"),
        (lambda turn: 0.3 + turn % 2 * 0.3, "soak.unclear"),
        (lambda turn: 0.3 + turn % 2 * 0.01 + turn * 0.01, "soak.slower"),
        (lambda turn: 0.9 - turn % 2 * 0.3 - turn * 0.01, "soak.steady"),
    ],
)
def test_what_goes_up_and_down_is_not_told_as_steady(
    bench: Bench, latency: Callable[[int], float], expected: str
) -> None:
    record, context = SoakRecord(DeviceMeter(bench.session)), Recorder()
    for turn in range(40):
        record.add(context, "asr_inference", turn / 4, latency(turn), "s")  # type: ignore[arg-type]
    record.report(context, {"asr_inference": "drift_asr"}, {})  # type: ignore[arg-type]
    assert [finding.id for finding in context.findings] == [expected]
    outcome = {"soak.steady": Outcome.PASSED, "soak.unclear": Outcome.COULD_NOT_CHECK, "soak.slower": Outcome.WARNING}
    assert context.findings[0].outcome is outcome[expected]


def test_too_short_to_tell_is_no_pass(bench: Bench) -> None:
    found = soaked(bench, "right", minutes=0.004)
    assert {finding.outcome for finding in found["soak.too_short"]} == {Outcome.COULD_NOT_CHECK}


def test_a_soak_without_a_turn_is_no_pass(bench: Bench) -> None:
    found = soaked(bench, "right", minutes=0.0001)
    assert found["soak.no_turn"][0].outcome is Outcome.COULD_NOT_CHECK
    assert "soak.endured" not in found


def test_a_recordings_own_limit_holds_in_the_soak_too(bench: Bench) -> None:
    """Whisper hears a fifth of the Chinese one wrong; its limit says so, and no turn is wrong because of it."""
    found = soaked(bench, "mishears_a_fifth", language="zh")
    assert found["soak.endured"][0].outcome is Outcome.PASSED
    assert "soak.stopped_wrong" not in found


def test_a_soak_that_memory_ended_has_not_endured(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(soak, "LEAST_FREE", 1.1)
    found = soaked(bench, "right", minutes=5)
    assert found["soak.stopped_memory"][0].outcome is Outcome.FAILED
    assert "soak.endured" not in found


def test_without_a_transcript_each_text_is_held_against_the_first(bench: Bench) -> None:
    audio = bundled_recording().file
    found = soaked(bench, "right", audio=audio, asr_language=None)
    assert found["soak.no_transcript"][0].outcome is Outcome.SKIPPED
    assert "soak.endured" in found
    found = soaked(bench, "mute", minutes=5, audio=audio, asr_language=None)
    assert found["soak.stopped_wrong"][0].outcome is Outcome.FAILED


def test_a_first_answer_without_words_is_no_measure_for_the_others(bench: Bench) -> None:
    found = soaked(bench, "dots", audio=bundled_recording().file, asr_language=None)
    (broke,) = found["soak.broke"]
    assert broke.facts["wrong"] == 1, "the first one; the others agree with each other"


def test_what_cannot_be_started_is_not_tried_again(bench: Bench) -> None:
    found = soaked(bench, "right", minutes=5, asr_command=None, asr_engine="checkout")
    assert len(found["sidecar.no_script"]) == 1
    assert found["soak.no_turn"][0].outcome is Outcome.COULD_NOT_CHECK
    assert "soak.stopped_restarts" not in found


def test_a_voice_that_falls_silent_breaks_the_soak(bench: Bench) -> None:
    spoken = bundled_recording()
    told = {"wav": str(spoken.file), "fault": "mute", "only": 1}
    command = [sys.executable, "-u", str(CHILDREN / "speaking_sidecar.py"), json.dumps(told)]
    found = soaked(bench, "right", minutes=5, tts_command=command, text=spoken.transcript)
    assert {finding.outcome for finding in found["tts.no_sound"]} == {Outcome.FAILED}
    assert found["soak.broke"][0].outcome is Outcome.FAILED
