"""What a checkout says about the stages of its engine: in its log, to those who ask; and what stays hidden else."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from rocm_wizard.machine.profiles import load_profiles
from rocm_wizard.machine.target import Target
from rocm_wizard.qualification.finding import Finding
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import StageContext
from rocm_wizard.qualification.state import StageState
from rocm_wizard.sidecar.launch import CHECKOUT_SCRIPTS
from rocm_wizard.stages.acceptance import AcceptanceStage
from rocm_wizard.stages.recordings import bundled_recording
from rocm_wizard.stages.session import Session
from rocm_wizard.stages.smoke import sidecar
from rocm_wizard.stages.speech_children import tts_spec
from rocm_wizard.stages.tts_presets import main_plan
from rocm_wizard.stages.tts_smoke import TtsSmokeStage
from rocm_wizard.stages.tts_speed import judge_repeats, speak_repeatedly
from tests.stages.bench import CHILDREN, Bench

SPOKEN = bundled_recording()


class WarmSpeed:
    """The part of the TTS smoke that measures warm utterances."""

    id = "tts_smoke"

    def __init__(self, session: Session) -> None:
        self._session = session

    def run(self, context: StageContext) -> None:
        """See `Stage.run`."""
        with sidecar(context, self._session, tts_spec(self._session)) as client, context.check("speed_warm"):
            spoken = speak_repeatedly(context, self._session, client, main_plan(self._session), 3)
            judge_repeats(context, self._session, spoken)


def has_checkout(bench: Bench, **script: object) -> Path:
    """Gives the session a checkout whose voice says the bundled recording; the path is of the options it was sent."""
    asked = bench.folder / "options.jsonl"
    told = {"wav": str(SPOKEN.file), "asked": str(asked), **script}
    checkout = bench.folder / "our 检出"
    file = checkout / CHECKOUT_SCRIPTS["tts"]
    file.parent.mkdir(parents=True)
    lines = [
        "import sys",
        f"sys.path.insert(0, {str(CHILDREN)!r})",
        "from checkout_voice import main",
        f"main({told!r})",
    ]
    file.write_text("\n".join(lines), encoding="utf-8")
    bench.session.target = Target(Path(sys.executable), checkout)
    bench.session.profile = load_profiles().get("local-rocm" if script.get("hip") else "torch-cpu")
    bench.options(
        acceptance=True,
        level="quick",
        text=SPOKEN.transcript,
        tts_language="en",
        chunk_seconds=0.4,
        limits={"ready": 20.0, "message": 20.0},
    )
    return asked


def accept(bench: Bench) -> tuple[StageState, dict[str, Finding]]:
    """The acceptance step, and its findings by id."""
    stage = bench.run(AcceptanceStage).stage("acceptance")
    return stage, {finding.id: finding for finding in stage.findings}


def values(stage: StageState, id: str) -> list[float]:
    """The measurements of that name, in order."""
    return [taken.value for taken in stage.measurements if taken.id == id]


def sent(asked: Path) -> list[dict[str, Any]]:
    """The options of each request."""
    return [json.loads(line) for line in asked.read_text(encoding="utf-8").splitlines()]


def test_a_checkout_on_hip_is_asked_for_what_its_stages_take(bench: Bench) -> None:
    asked = has_checkout(bench, hip=True)
    stage, found = accept(bench)
    assert found["acceptance.graph_unproven"].facts == {"plain": 200.0, "graph": 400.0, "gain": 2.0}
    assert not {"acceptance.no_times", "acceptance.no_token_times"} & set(found)
    assert found["bench.bucket_off"].facts["known_on"] == 20.0
    assert values(stage, "acceptance.t2s") == [500.0, 500.0]
    assert values(stage, "acceptance.token_speed_graph") == [400.0, 400.0]
    assert len(values(stage, "acceptance.block_cfm")) == 18
    options = sent(asked)
    timed = [one.get("collect_t2s_stats") for one in options]
    first = timed.index(True)
    assert set(timed[:first]) == {None}, "latency is measured without it"
    assert timed[first:] == [True] * 8, "two buckets, and graphs off and on, each twice"


@pytest.mark.parametrize("script", [{"refuses": "collect_t2s_stats"}, {"mute_log": True}])
def test_what_a_checkout_does_not_say_is_told_as_that(bench: Bench, script: dict[str, object]) -> None:
    asked = has_checkout(bench, hip=True, **script)
    stage, found = accept(bench)
    assert found["acceptance.no_token_times"].outcome is Outcome.SKIPPED
    assert ("acceptance.no_times" in found) is bool(script.get("mute_log"))
    assert not ("acceptance.blocks_too_few" in found and script.get("mute_log")), "it has blocks, and no times of them"
    assert "sidecar.refused" not in found
    assert not values(stage, "acceptance.t2s")
    assert any(one.get("collect_t2s_stats") for one in sent(asked)), "it was asked"


def test_a_command_of_ones_own_is_not_asked_what_it_may_not_know(bench: Bench) -> None:
    asked = has_checkout(bench, hip=True)
    told = json.dumps({"wav": str(SPOKEN.file), "asked": str(asked), "hip": True, "refuses": "collect_t2s_stats"})
    bench.options(tts_command=[sys.executable, "-u", str(CHILDREN / "checkout_voice.py"), told])
    _, found = accept(bench)
    assert found["acceptance.no_token_times"].outcome is Outcome.SKIPPED
    assert not any("collect_t2s_stats" in one for one in sent(asked))


@pytest.mark.parametrize(
    ("held", "more", "counts"),
    [(0, {}, None), (2, {}, (20, 18)), (0, {"second_item": 9}, None), (2, {"second_item": 9}, (9, 7))],
)
def test_blocks_that_the_onset_gate_held_back_are_told(
    bench: Bench, held: int, more: dict[str, int], counts: tuple[int, int] | None
) -> None:
    told = json.dumps({"wav": str(SPOKEN.file), "held": held, **more})
    bench.options(
        tts_command=[sys.executable, "-u", str(CHILDREN / "checkout_voice.py"), told],
        text=SPOKEN.transcript,
        chunk_seconds=0.4,
        repeat=1,
        level="quick",
        limits={"ready": 20.0, "message": 20.0},
    )
    stage = bench.run(TtsSmokeStage).stage("tts_smoke")
    found = {finding.id: finding for finding in stage.findings}
    assert ("tts.held_back" in found) is (counts is not None)
    if counts is not None:
        told_back = found["tts.held_back"]
        assert told_back.outcome is Outcome.PASSED
        assert (told_back.facts["computed"], told_back.facts["sent"]) == counts
        assert told_back.facts["first_audio"] == found["tts.utterance"].facts["first_audio"]


def test_the_smoke_says_where_a_checkouts_stage_times_are_to_be_had(bench: Bench) -> None:
    asked = has_checkout(bench)
    stage = bench.run(WarmSpeed).stage("tts_smoke")
    found = {finding.id: finding for finding in stage.findings}
    assert found["tts.stages_elsewhere"].outcome is Outcome.PASSED
    assert "tts.stages" not in found
    assert not any("collect_t2s_stats" in one for one in sent(asked)), "speed is measured as the host has it"
