"""A checkout's own sidecars: how they are started, and what differs when the host starts them."""

import os
import sys
from pathlib import Path

import pytest

from rocm_wizard.machine.target import Target
from rocm_wizard.qualification.finding import Finding
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import StageContext
from rocm_wizard.sidecar.launch import CHECKOUT_SCRIPTS
from rocm_wizard.stages.host_pass import host_pass
from rocm_wizard.stages.recordings import bundled_recording
from rocm_wizard.stages.session import Session, TtsModelPaths
from rocm_wizard.stages.smoke import SmokeFailed, sidecar
from rocm_wizard.stages.speech_children import asr_engine, asr_spec, tts_engine, tts_spec
from tests.stages.bench import CHILDREN, Bench

SCRIPT = (CHILDREN / "sidecars" / "checkout.py").read_text(encoding="utf-8")
SCRIPT = SCRIPT.replace('"hello"', repr(bundled_recording().transcript))


class HostStage:
    """The first pass up to `ready`, then the pass as the host."""

    def __init__(self, session: Session, kind: str, *, first: bool = False) -> None:
        self.id = f"{kind}_smoke"
        self._session, self._kind, self._first = session, kind, first

    def run(self, context: StageContext) -> None:
        if self._first:
            spec = asr_spec(self._session) if self._kind == "asr" else tts_spec(self._session)
            try:
                with sidecar(context, self._session, spec):
                    pass
            except SmokeFailed:
                return
        host_pass(context, self._session, self._kind)


@pytest.fixture
def checkout(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout in a folder with blanks and Chinese characters, with sidecars that do as their `.env` says."""
    for name in [name for name in os.environ if name.startswith(("TTS_", "QWEN3_", "PYTHON"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("TTS_REF_AUDIO_JA", "reference.wav")
    folder = bench.folder / "our 检出"
    for script in CHECKOUT_SCRIPTS.values():
        path = folder / script
        path.parent.mkdir(parents=True)
        path.write_text(SCRIPT, encoding="utf-8")
    bench.session.target = Target(Path(sys.executable), folder)
    return folder


def run(bench: Bench, kind: str, *, first: bool = False, **limits: float) -> dict[str, Finding]:
    bench.options(limits={"ready": 20.0, "message": 20.0, **limits}, chunk_seconds=0.4)
    state = bench.run(lambda session: HostStage(session, kind, first=first))
    return {finding.id: finding for finding in state.stage(f"{kind}_smoke").findings}


@pytest.mark.parametrize("kind", ["asr", "tts"])
def test_both_passes_of_a_sound_checkout(bench: Bench, checkout: Path, kind: str) -> None:
    findings = run(bench, kind, first=True)
    assert [f.id for f in findings.values() if f.outcome is not Outcome.PASSED] == []
    assert {"sidecar.ready", "sidecar.host_same"} <= set(findings)


@pytest.mark.parametrize(
    ("kind", "fault", "finding", "outcome"),
    [
        ("asr", "device", "sidecar.host_device", Outcome.FAILED),
        ("tts", "device", "sidecar.host_device", Outcome.FAILED),
        ("asr", "banner", "sidecar.host_text_before_ready", Outcome.WARNING),
        ("tts", "banner", "sidecar.host_garbage", Outcome.FAILED),
        ("asr", "print", "sidecar.host_garbage", Outcome.FAILED),
        ("tts", "print", "sidecar.host_garbage", Outcome.FAILED),
        ("asr", "some_stderr", "sidecar.host_stderr", Outcome.WARNING),
        ("asr", "dies", "sidecar.host_died", Outcome.FAILED),
        ("asr", "load", "sidecar.host_load_failed", Outcome.FAILED),
        ("tts", "refuse", "sidecar.host_refused", Outcome.FAILED),
        ("tts", "swallow", "sidecar.host_swallowed", Outcome.FAILED),
        ("asr", "words", "sidecar.host_words", Outcome.FAILED),
        ("tts", "mute", "sidecar.host_no_sound", Outcome.FAILED),
        ("tts", "rate", "sidecar.host_broken", Outcome.FAILED),
        ("asr", "late_print", "sidecar.host_garbage", Outcome.FAILED),
        ("tts", "exit", "sidecar.bad_exit", Outcome.WARNING),
        ("tts", "torch", "sidecar.ready_torch", Outcome.WARNING),
    ],
)
def test_what_only_the_host_would_meet(
    bench: Bench, checkout: Path, kind: str, fault: str, finding: str, outcome: Outcome
) -> None:
    (checkout / ".env").write_text(f'FAULT="{fault}"\n', encoding="utf-8")
    findings = run(bench, kind)
    assert {id: found.outcome for id, found in findings.items()} == {finding: outcome}


@pytest.mark.parametrize(
    ("fault", "limits", "finding"),
    [
        ("slow_start", {"host_ready": 1.0}, "sidecar.host_not_ready"),
        ("slow_answer", {"host_answer": 0.5}, "sidecar.host_silent"),
    ],
)
def test_the_hosts_own_limits(bench: Bench, checkout: Path, fault: str, limits: dict[str, float], finding: str) -> None:
    (checkout / ".env").write_text(f"FAULT={fault}\n", encoding="utf-8")
    assert list(run(bench, "asr", first=False, **limits)) == [finding]


@pytest.mark.skipif(sys.platform == "darwin", reason="its pipes are larger")
@pytest.mark.parametrize("fault", ["stderr", "nearly_full"])
def test_a_recogniser_whose_stderr_nobody_reads_stands_still(bench: Bench, checkout: Path, fault: str) -> None:
    """Before `ready`, or with the first answer: 300 bytes do not fit behind 3990."""
    (checkout / ".env").write_text(f"FAULT={fault}\n", encoding="utf-8")
    findings = run(bench, "asr", host_ready=2.0, host_answer=0.5)
    assert {id: found.outcome for id, found in findings.items()} == {"sidecar.host_stderr_full": Outcome.FAILED}
    facts = findings["sidecar.host_stderr_full"].facts
    assert (facts["seconds"], facts["limit"]) == (2.0 if fault == "stderr" else 0.5, 4096)
    stderr = facts["stderr"]
    assert isinstance(stderr, list) and stderr
    logged = (bench.folder / "logs" / "asr-sidecar-as-the-host.log").read_text(encoding="utf-8")
    assert len(logged) == (8400 if fault == "stderr" else 4290), "what it had to say is read at last"


def test_how_much_a_recogniser_logs_is_told_though_nobody_reads_it(bench: Bench, checkout: Path) -> None:
    (checkout / ".env").write_text("FAULT=some_stderr\n", encoding="utf-8")
    found = run(bench, "asr")["sidecar.host_stderr"]
    assert (found.facts["most"], found.facts["requests"]) == (2400, 6)


def test_the_voices_stderr_is_read(bench: Bench, checkout: Path) -> None:
    (checkout / ".env").write_text("FAULT=stderr\n", encoding="utf-8")
    assert list(run(bench, "tts")) == ["sidecar.host_same"]


def test_a_slow_start_is_told_in_the_first_pass_too(bench: Bench, checkout: Path) -> None:
    findings = run(bench, "asr", first=True, host_ready=0.001)
    assert findings["sidecar.slower_than_host"].outcome is Outcome.WARNING


def test_the_journal_holds_no_secret_of_the_env_file(bench: Bench, checkout: Path) -> None:
    lines = "OPENAI_API_KEY=canary-1", "DB=postgres://me:canary-2@host/x", "MY_NOTE=canary-3", "TTS_DEVICE=cpu"
    (checkout / ".env").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert list(run(bench, "asr")) == ["sidecar.host_same"]
    journal = bench.journal.path.read_text(encoding="utf-8")
    assert "canary" not in journal
    assert '"MY_NOTE":"***"' in journal.replace(" ", "") and '"TTS_DEVICE":"cpu"' in journal.replace(" ", "")


def test_without_a_reference_nobody_knows_what_the_host_would_say(
    bench: Bench, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TTS_REF_AUDIO_JA")
    bench.options(reference=checkout / "mine.wav")
    findings = run(bench, "tts")
    assert {id: found.outcome for id, found in findings.items()} == {
        "sidecar.host_no_reference": Outcome.COULD_NOT_CHECK
    }


def test_embedded_engines_have_no_host_pass(bench: Bench) -> None:
    assert (asr_engine(bench.session), tts_engine(bench.session)) == ("embedded", "embedded")
    assert run(bench, "asr") == {}


def test_processes_left_by_one_that_died_are_named(bench: Bench, checkout: Path) -> None:
    (checkout / ".env").write_text("FAULT=dies_leaving\n", encoding="utf-8")
    findings = run(bench, "asr")
    assert findings["sidecar.host_died"].outcome is Outcome.FAILED
    left = findings["sidecar.left_processes"]
    assert (left.outcome, left.facts["sidecar"], left.facts["count"]) == (
        Outcome.WARNING,
        "asr sidecar as the host",
        1,
    )


def test_the_first_pass_states_everything(bench: Bench, checkout: Path) -> None:
    weights = checkout / "my voice.ckpt"
    bench.options(tts_models=TtsModelPaths(gpt=weights, sovits=weights), tts_engine="checkout", tts_language="ja")
    asr, tts = asr_spec(bench.session), tts_spec(bench.session)
    assert list(asr.argv) == [sys.executable, "-u", str(checkout / "asr" / "qwen3_asr_sidecar.py")]
    assert asr.cwd == tts.cwd == checkout
    common = {"PYTHONPATH": None, "PYTHONHOME": None, "PYTHONUTF8": "1", "PYTHONNOUSERSITE": "1"}
    assert asr.environment.items() >= (common | {"TTS_BACKEND": "disabled", "QWEN3_ASR_WARMUP": "1"}).items()
    assert asr.environment["QWEN3_ASR_DEVICE"] == "cpu"
    expected = {
        "TTS_BACKEND": "gpt_sovits",
        "TTS_VOICE_PROFILE": "custom",
        "TTS_GPT_MODEL_PATH": str(weights),
        "TTS_OUTPUT_LANGUAGE": "日文",
        "ENABLE_CUDA_GRAPH": "0",
        "TTS_STARTUP_INFERENCE_WARMUP": "0",
        "NLTK_DATA": str(checkout / "assets" / "nltk_data"),
    }
    assert tts.environment.items() >= (common | expected).items()


def test_own_voice_files_without_a_checkouts_profile_are_told(bench: Bench, checkout: Path) -> None:
    text = "TTS_VOICE_PROFILE=kurisu_v3\nTTS_GPT_MODEL_PATH=a.ckpt\nTTS_SOVITS_MODEL_PATH=b.pth\n"
    (checkout / ".env").write_text(text, encoding="utf-8")
    spec = tts_spec(bench.session)
    assert [(remark.id, remark.facts["profile"]) for remark in spec.remarks] == [("sidecar.voice_profile", "kurisu_v3")]
    assert spec.environment["TTS_VOICE_PROFILE"] == "custom"


def test_interpreters_of_the_env_file(bench: Bench, checkout: Path) -> None:
    (checkout / ".env").write_text(f"QWEN3_ASR_PYTHON={sys.executable}\nTTS_PYTHON=no such\n", encoding="utf-8")
    asr, tts = asr_spec(bench.session), tts_spec(bench.session)
    assert (asr.argv[0], asr.remarks) == (sys.executable, ())
    assert [(remark.id, remark.outcome) for remark in tts.remarks] == [("sidecar.python_missing", Outcome.FAILED)]
    (checkout / ".env").write_text("QWEN3_ASR_PYTHON=no such\n", encoding="utf-8")
    wrong = asr_spec(bench.session)
    assert (wrong.argv[0], wrong.startable) == (sys.executable, True)
    assert [remark.id for remark in wrong.remarks] == ["sidecar.python_ignored"]


def test_a_named_engine_that_cannot_be_started(bench: Bench, checkout: Path) -> None:
    (checkout / CHECKOUT_SCRIPTS["tts"]).unlink()
    bench.options(tts_engine="checkout", asr_engine="qwen3_asr")
    assert tts_engine(bench.session) == "checkout"
    for kind, id in (("tts", "sidecar.no_script"), ("asr", "sidecar.no_model")):
        state = bench.run(lambda session, kind=kind: HostStage(session, kind, first=True))
        (found,) = state.stage(f"{kind}_smoke").findings
        assert (found.id, found.outcome) == (id, Outcome.COULD_NOT_CHECK)


def test_named_models_choose_our_own_engines(bench: Bench, checkout: Path) -> None:
    folder = checkout / "a model"
    bench.options(asr_model=folder, tts_models=TtsModelPaths(gpt=folder / "g.ckpt", sovits=folder / "s.pth"))
    assert (asr_engine(bench.session), tts_engine(bench.session)) == ("qwen3_asr", "gpt_sovits")
    assert list(asr_spec(bench.session).argv)[-4:] == ["--engine", "qwen3_asr", "--model", str(folder)]
    argv = list(tts_spec(bench.session).argv)
    assert argv[argv.index("--gpt-model") + 1] == str(folder / "g.ckpt")
    assert argv[argv.index("--engine") + 1] == "gpt_sovits"
