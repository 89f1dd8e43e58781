"""Voice and recogniser at work at once, with real children; and which weights a checkout's voice has loaded."""

import json
import sys
import threading
import time

import numpy as np
import pytest

from rocm_wizard.machine.target import Target
from rocm_wizard.qualification.finding import Finding
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import StageContext
from rocm_wizard.sidecar.answers import Transcript
from rocm_wizard.stages.recordings import bundled_recording
from rocm_wizard.stages.session import Session, TtsModelPaths
from rocm_wizard.stages.smoke import SmokeFailed, sidecar
from rocm_wizard.stages.speech_children import tts_spec
from rocm_wizard.stages.tts_both import Heard, _Busy
from rocm_wizard.stages.tts_presets import main_plan
from rocm_wizard.stages.tts_round_trip import round_trip
from rocm_wizard.stages.tts_weights import judge_weights
from rocm_wizard.stages.utterance import speak
from tests.stages.bench import CHILDREN, Bench

SPOKEN = bundled_recording()


class Together:
    """Only the round trip and what follows from it."""

    id = "tts_smoke"

    def __init__(self, session: Session) -> None:
        self._session = session

    def run(self, context: StageContext) -> None:
        plan = main_plan(self._session)
        try:
            with sidecar(context, self._session, tts_spec(self._session)) as voice:
                round_trip(
                    context, self._session, voice, plan, [speak(voice, plan.request(self._session)) for _ in range(2)]
                )
        except SmokeFailed:
            return


def together(bench: Bench, texts: list[str], listener: str = "listener.py", **script: object) -> dict[str, Finding]:
    told = {"wav": str(SPOKEN.file), "delay": 0.03, **script}
    bench.options(
        tts_command=[sys.executable, "-u", str(CHILDREN / "speaking_sidecar.py"), json.dumps(told)],
        asr_command=[sys.executable, "-u", str(CHILDREN / listener), json.dumps({"texts": {"any": texts}})],
        text=SPOKEN.transcript,
        chunk_seconds=0.4,
        limits={"ready": 20.0, "message": 20.0},
    )
    return {finding.id: finding for finding in bench.run(Together).stage("tts_smoke").findings}


def test_words_that_change_while_both_work_are_told(bench: Bench) -> None:
    said = SPOKEN.transcript or ""
    found = together(bench, [said, said, "something else"])
    assert found["tts.both_working_words"].facts["text"] == "something else"
    assert found["tts.both_working_words"].outcome is Outcome.WARNING
    assert "tts.both_working" not in found


def test_a_voice_that_cannot_keep_up_beside_a_recogniser_at_work(bench: Bench) -> None:
    # Block by block: from its third utterance the voice sleeps, which is the one beside, and the fourth.
    found = together(bench, [SPOKEN.transcript or ""], slow_from=3, slow=0.6)
    facts = found["tts.both_working_slower"].facts
    assert found["tts.both_loaded"].outcome is Outcome.PASSED
    assert float(str(facts["factor"])) > 1 > float(str(facts["factor_alone"]))


def test_a_recogniser_that_dies_at_work_is_the_one_that_is_named(bench: Bench) -> None:
    started = time.monotonic()
    found = together(bench, [SPOKEN.transcript or "", "die"])
    assert found["sidecar.died"].facts["sidecar"] == "asr sidecar"
    assert "tts.round_trip" in found
    assert not {"tts.round_trip_not_made", "tts.both_working"} & set(found)
    assert time.monotonic() - started < 20


def test_whatever_ends_the_recogniser_at_work_is_raised() -> None:
    class Broken:
        def transcribe(self, *_: object) -> None:
            raise ZeroDivisionError

    busy = _Busy(Broken(), Heard(np.zeros(1, np.float32), 1, None, None))  # type: ignore[arg-type]
    busy.stop()
    with pytest.raises(ZeroDivisionError):
        busy.answers()


def test_an_answer_that_outlasts_the_sentence_is_no_time_at_work() -> None:
    class Slowly:
        said = 0

        def transcribe(self, *_: object) -> Transcript:
            self.said += 1
            if self.said == 3:
                begun.set()
                stopped.wait(20)
            return Transcript(str(self.said), float(self.said), {})

    begun, stopped = threading.Event(), threading.Event()
    busy = _Busy(Slowly(), Heard(np.zeros(1, np.float32), 1, None, None))  # type: ignore[arg-type]
    assert begun.wait(20)
    threading.Timer(0.2, stopped.set).start()
    busy.stop()
    assert [answer.text for answer in busy.answers()] == ["1", "2", "3"]
    assert busy.waits() == [1.0, 2.0]


class WeightsOnly:
    """Starts the checkout's voice and asks for nothing."""

    id = "tts_smoke"

    def __init__(self, session: Session) -> None:
        self._session = session

    def run(self, context: StageContext) -> None:
        with sidecar(context, self._session, tts_spec(self._session)) as client:
            judge_weights(context, client)


@pytest.mark.parametrize(
    ("log", "finding", "outcome"),
    [
        (
            "Loading D:\\\\weights\\\\mine e15.ckpt ...\nloaded 我的/mine.pth (v3), s2Gv3.pth",
            "tts.weights",
            Outcome.PASSED,
        ),
        ("loading", "tts.weights_not_named", Outcome.SKIPPED),
        ("loading kurisu-e15.ckpt and kurisu_e2.pth, s2Gv3.pth", "tts.weights_other", Outcome.FAILED),
        ("loading s2Gv3.pth", "tts.weights_not_named", Outcome.SKIPPED),
        ("all: kurisu.ckpt, mine e15.ckpt, mine.pth", "tts.weights_several", Outcome.SKIPPED),
        ("loading not-mine.pth and almine e15.ckpt", "tts.weights_other", Outcome.FAILED),
        ("loading mine e15.ckpt, then mine.pth.bak", "tts.weights_not_named", Outcome.SKIPPED),
        ("mine e15.ckpt, s1bert25hz.ckpt, 'mine.pth'; s2Dv3.pth", "tts.weights", Outcome.PASSED),
        ("loading s1bert25hz.ckpt, mine.pth", "tts.weights_not_named", Outcome.SKIPPED),
        ("加载模型：mine e15.ckpt，「mine.pth」", "tts.weights", Outcome.PASSED),
        ("`mine e15.ckpt`+mine.pth {s1bert25hz-2kh-longer-epoch=68e-step=50232.ckpt}", "tts.weights", Outcome.PASSED),
        ("gpt→mine e15.ckpt, sovits=mine.pth, gpt=s1v3.ckpt", "tts.weights", Outcome.PASSED),
        ("w/(old)mine e15.ckpt, w/mine.pth", "tts.weights_not_named", Outcome.SKIPPED),
        ("w\\\\my mine e15.ckpt, w\\\\mine.pth", "tts.weights_not_named", Outcome.SKIPPED),
        ("w/我mine e15.ckpt, w/mine.pth", "tts.weights_other", Outcome.FAILED),
        ("a/b: Loading...mine e15.ckpt->cuda\nD:\\\\w\\\\Mine.pth加载成功", "tts.weights", Outcome.PASSED),
        ("Loading...kurisu.ckpt, mine.pth", "tts.weights_other", Outcome.FAILED),
        ("mine e15.ckpt 已加载mine.pth", "tts.weights_not_named", Outcome.SKIPPED),
        ("mine e15.ckpt, gpt=kurisu.ckpt, mine.pth", "tts.weights_several", Outcome.SKIPPED),
    ],
)
def test_which_weights_a_checkouts_voice_has_loaded(bench: Bench, log: str, finding: str, outcome: Outcome) -> None:
    checkout = bench.folder / "检出"
    script = checkout / "tts" / "gpt_sovits_sidecar.py"
    script.parent.mkdir(parents=True)
    ready = {"type": "ready", "device": "cpu", "hip": None, "cuda_available": False}
    script.write_text(
        f"import sys\nsys.stderr.write({log!r} + chr(10)); sys.stderr.flush()\n"
        f"print({json.dumps(ready)!r}, flush=True)\nsys.stdin.read()\n",
        encoding="utf-8",
    )
    bench.session.target = Target(bench.session.target.python, checkout)
    weights = TtsModelPaths(gpt=checkout / "a" / "mine e15.ckpt", sovits=checkout / "b" / "mine.pth")
    bench.options(tts_engine="checkout", tts_models=weights, limits={"ready": 20.0})
    found = {one.id: one.outcome for one in bench.run(WeightsOnly).stage("tts_smoke").findings}
    assert {id: found[id] for id in found if id.startswith("tts.")} == {finding: outcome}
