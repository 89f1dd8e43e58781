"""What `ready` has to say on ROCm, rule by rule."""

import sys
from pathlib import Path
from typing import Any

import pytest

from rocm_wizard.machine.profiles import load_profiles
from rocm_wizard.machine.target import Target
from rocm_wizard.qualification import events as ev
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import CancelToken, StageContext, answer_by_default
from rocm_wizard.runner.scripted import ScriptedRunner
from rocm_wizard.sidecar.messages import parse_ready
from rocm_wizard.stages.ready_rules import device_kind, judge_ready
from rocm_wizard.stages.session import Session
from tests.stages.bench import MACHINE

TTS = {"device": "cuda:0", "torch": "2.9.1+rocm7.2.1", "hip": "7.2.5", "cuda_available": True}
ASR = {"device": "cuda:0", "attn_impl": "eager_recursive", "warmup_ms": 5120}


def judge(folder: Path, kind: str, message: dict[str, Any], *, seconds: float = 60.0) -> dict[str, Outcome]:
    """The findings about a `ready` on the ROCm profile; the interpreter's environment holds its torch."""
    site = folder / "env" / ("Lib/site-packages" if sys.platform == "win32" else "lib/python3.12/site-packages")
    (site / "torch-2.9.1+rocm7.2.1.dist-info").mkdir(parents=True)
    book = load_profiles()
    python = folder / "env" / "bin" / "python"
    runner = ScriptedRunner(lambda event: None, {})
    session = Session(Target(python), book, MACHINE, folder, runner)
    session.profile = next(profile for profile in book.profiles if profile.device_kind == "hip")
    found: dict[str, Outcome] = {}

    def take(event: ev.Event) -> None:
        if isinstance(event, ev.FindingReported):
            found[event.finding.id] = event.finding.outcome

    context = StageContext(f"{kind}_smoke", take, answer_by_default, CancelToken())
    judge_ready(context, session, kind, parse_ready(message), seconds, python)
    return found


@pytest.mark.parametrize(("kind", "message"), [("tts", TTS), ("asr", ASR), ("asr", ASR | TTS)])
def test_a_proper_ready(tmp_path: Path, kind: str, message: dict[str, Any]) -> None:
    assert judge(tmp_path, kind, message) == {"sidecar.ready_fields": Outcome.PASSED}


@pytest.mark.parametrize(
    ("kind", "change", "finding", "outcome"),
    [
        ("tts", {"hip": None}, "sidecar.ready_not_rocm", Outcome.FAILED),
        ("tts", {"cuda_available": False}, "sidecar.ready_not_rocm", Outcome.FAILED),
        ("tts", {"cuda_available": "yes"}, "sidecar.ready_not_rocm", Outcome.FAILED),
        ("tts", {"device": "hip:0"}, "sidecar.ready_not_rocm", Outcome.FAILED),
        ("tts", {"torch": "2.9.1+cpu"}, "sidecar.ready_torch", Outcome.WARNING),
        ("asr", {"attn_impl": "sdpa"}, "sidecar.ready_attention", Outcome.WARNING),
        ("asr", {"attn_impl": None}, "sidecar.ready_attention", Outcome.WARNING),
        ("asr", {"warmup_ms": 0}, "sidecar.ready_no_warm_up", Outcome.WARNING),
    ],
)
def test_each_field_that_is_wrong(
    tmp_path: Path, kind: str, change: dict[str, Any], finding: str, outcome: Outcome
) -> None:
    assert judge(tmp_path, kind, (TTS if kind == "tts" else ASR) | change) == {finding: outcome}


@pytest.mark.parametrize(
    ("kind", "seconds", "slow"), [("asr", 119.0, False), ("asr", 121.0, True), ("tts", 200.0, False)]
)
def test_the_hosts_limit_of_a_start(tmp_path: Path, kind: str, seconds: float, slow: bool) -> None:
    found = judge(tmp_path, kind, TTS if kind == "tts" else ASR, seconds=seconds)
    assert ("sidecar.slower_than_host" in found) is slow


@pytest.mark.parametrize(
    ("message", "kind", "wanted", "found"),
    [
        (ASR, "asr", "hip", "hip"),
        (ASR, "asr", "cuda", "cuda"),
        (ASR | {"hip": None}, "asr", "hip", "cuda"),
        (ASR, "tts", "hip", "cuda"),
        (ASR | {"device": "cpu"}, "asr", "hip", "cpu"),
    ],
)
def test_only_the_checkouts_recogniser_is_believed_without_hip(
    message: dict[str, Any], kind: str, wanted: str, found: str
) -> None:
    assert device_kind(parse_ready(message), kind, wanted) == found
