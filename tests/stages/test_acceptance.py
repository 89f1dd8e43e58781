"""The acceptance step with the sidecars we ship: the embedded voice, and GPT-SoVITS with small random networks."""

import sys

import pytest
import torch

from rocm_wizard.qualification.events import ChildStarted
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.state import StageState
from rocm_wizard.stages.acceptance import AcceptanceStage
from tests.speech.gpt_sovits.tiny import TinyVoice, save_tiny_voice
from tests.stages.bench import Bench


@pytest.fixture(scope="module")
def voice(tmp_path_factory: pytest.TempPathFactory) -> TinyVoice:
    """Random networks never end a sentence: the checkpoint's own limit keeps it at 60 tokens."""
    voice = save_tiny_voice(tmp_path_factory.mktemp("a voice 声"))
    checkpoint = torch.load(voice.gpt, weights_only=True)
    checkpoint["config"]["data"]["max_sec"] = 1.2
    torch.save(checkpoint, voice.gpt)
    return voice


def ids(stage: StageState) -> list[str]:
    return [finding.id for finding in stage.findings if not finding.id.startswith(("sidecar.", "wire."))]


def test_unasked_for_it_measures_nothing_and_says_so(bench: Bench) -> None:
    stage = bench.run(AcceptanceStage).stage("acceptance")
    assert ids(stage) == ["acceptance.not_wanted"]
    assert stage.outcome is Outcome.SKIPPED
    assert not stage.measurements


@pytest.mark.slow
def test_the_embedded_voice_is_measured_as_far_as_it_has_settings(bench: Bench) -> None:
    bench.options(acceptance=True, level="quick", text="Yes, it works. I can hear it.")
    stage = bench.run(AcceptanceStage).stage("acceptance")
    found = {finding.id: finding for finding in stage.findings}
    assert stage.outcome in (Outcome.PASSED, Outcome.WARNING), ids(stage)
    assert found["acceptance.embedded"].outcome is Outcome.SKIPPED
    assert found["acceptance.no_steps"].outcome is Outcome.SKIPPED
    assert sum(id.startswith("bench.blocks_") for id in found) == 1
    assert len(found.keys() & {"tts.concurrency_one", "tts.concurrency_two"}) == 1
    assert "tts.concurrency_exact" in found, "the embedded voice says the same sentence alike"
    phases = {(one.id, one.phase) for one in stage.measurements}
    for name in ("long_blocks", "short_blocks"):
        assert {(f"acceptance.first_audio_{name}", phase) for phase in ("cold", "warm")} <= phases
    assert not {one.id for one in stage.measurements} & {
        "acceptance.vocoder_bucket_80",
        "acceptance.first_audio_steps_32",
    }


@pytest.mark.slow
def test_a_voice_of_ones_own_is_measured_setting_by_setting(
    bench: Bench, voice: TinyVoice, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The guard would refuse what random networks say; that it does so has a test of its own.
    monkeypatch.setenv("TTS_SEMANTIC_GUARD", "0")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # small networks only wait for a second thread
    bench.options(
        acceptance=True,
        level="quick",
        text="Yes, it does.",
        tts_command=[sys.executable, "-u", "-m", "rocm_wizard.speech.tts", *voice.arguments()],
        reference=voice.reference,
        reference_text=voice.reference_text,
    )
    stage = bench.run(AcceptanceStage).stage("acceptance")
    found = {finding.id: finding for finding in stage.findings}
    assert stage.outcome in (Outcome.PASSED, Outcome.WARNING), [(f.id, f.facts) for f in stage.findings]
    for family in ("bench.blocks_", "bench.steps_", "bench.bucket_", "acceptance.blocks_"):
        assert sum(id.startswith(family) for id in found) == 1, (family, sorted(found))
    assert len(found.keys() & {"tts.concurrency_one", "tts.concurrency_two", "tts.concurrency_wrong"}) == 1
    assert found["acceptance.graph_not_here"].outcome is Outcome.SKIPPED
    values = {(one.id, one.sample): one.value for one in stage.measurements}
    cfm = [value for (id, _), value in values.items() if id == "acceptance.block_cfm"]
    assert len(cfm) == 7, "60 tokens at speed 0.97 are 232 mel frames: six blocks of 38 and a rest"
    padded, plain = (values[f"acceptance.vocoder_bucket_{bucket}", 2] for bucket in ("80", "1"))
    assert padded > plain, "80 frames cost more than 38"
    environments = [child.environment for child in stage.children if isinstance(child, ChildStarted)]
    timed = [changes.get("TTS_SOVITS_SYNC_TIMING") for changes in environments]
    assert timed == [None, "1", "1"], "latency is measured without the timing that slows it down"
