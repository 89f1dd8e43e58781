"""Words: compared, borne, refused; long sound cut where it is quiet; and the real recogniser as the judge."""

import json
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocm_wizard.qualification import events as ev
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import CancelToken, StageContext, answer_by_default
from rocm_wizard.stages.recordings import bundled_recording
from rocm_wizard.stages.tts_presets import Plan
from rocm_wizard.stages.tts_round_trip import judge_words, pieces
from rocm_wizard.stages.tts_smoke import TtsSmokeStage
from tests.stages.bench import CHILDREN, Bench


def judged(text: str, heard: str, code: str, language: str, *, known: bool) -> tuple[str, Outcome]:
    events: list[Any] = []
    context = StageContext("tts_smoke", events.append, answer_by_default, CancelToken())
    judge_words(context, Plan("", text, 1.0, 0.8, known=known), heard, code, language)
    finding = next(event.finding for event in events if isinstance(event, ev.FindingReported))
    return finding.id, finding.outcome


TEN = "one two three four five six seven eight nine ten"


@pytest.mark.parametrize(
    ("heard", "known", "id", "outcome"),
    [
        ("One, two, three, four, five, six, seven, eight, nine, ten!", True, "tts.round_trip", Outcome.PASSED),
        ("one two three four five six seven eight mine hen", True, "tts.round_trip", Outcome.PASSED),
        ("one two three four five six seven eat mine hen", True, "tts.round_trip_wrong", Outcome.FAILED),
        ("one two three four five six seven eat mine hen", False, "tts.round_trip_doubtful", Outcome.WARNING),
        ("won too tree for hive six", False, "tts.round_trip_wrong", Outcome.FAILED),
        ("", False, "tts.round_trip_wrong", Outcome.FAILED),
    ],
)
def test_words(heard: str, known: bool, id: str, outcome: Outcome) -> None:
    assert judged(TEN, heard, "en", "English", known=known) == (id, outcome)


def test_characters_where_words_have_no_blanks() -> None:
    said = "晚上好，很高兴又听到你的声音。"
    assert judged(said, "晚上好很高興又聽到你的聲音", "zh", "Chinese", known=True)[0] == "tts.round_trip"
    assert judged(said, "早上好，很高兴又看到你的身影。", "zh", "Chinese", known=True)[0] == "tts.round_trip_wrong"


def test_a_text_without_words_cannot_be_compared() -> None:
    assert judged("!!!", "what", "en", "English", known=False) == ("tts.round_trip_no_words", Outcome.SKIPPED)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 50_000), st.integers(0, 99))
def test_pieces_lose_nothing(length: int, seed: int) -> None:
    sound = np.random.default_rng(seed).normal(0, 0.1, length).astype(np.float32)
    cut = list(pieces(sound, 100, longest=30.0))
    assert (np.concatenate(cut) == sound).all()
    assert all(len(piece) <= 3000 for piece in cut)
    assert all(len(piece) >= 2000 for piece in cut[:-1])


def test_long_sound_is_cut_in_its_pauses() -> None:
    rate = 16_000
    sound = np.random.default_rng(1).normal(0, 0.1, 70 * rate).astype(np.float32)
    for pause in (27, 50):
        sound[pause * rate : pause * rate + rate // 2] = 0
    ends = np.cumsum([len(piece) / rate for piece in pieces(sound, rate)])
    assert ends[0] == pytest.approx(27.25, abs=0.3)
    assert ends[1] == pytest.approx(50.25, abs=0.3)
    assert ends[2] == 70


@pytest.mark.slow
def test_the_recogniser_does_not_take_another_sentence_for_the_text(bench: Bench) -> None:
    said, wanted = bundled_recording("sense-and-sensibility-0880"), bundled_recording()
    script = {"wav": str(said.file)}
    command = [sys.executable, "-u", str(CHILDREN / "speaking_sidecar.py"), json.dumps(script)]
    bench.options(tts_command=command, text=wanted.transcript, repeat=1)
    stage = bench.run(TtsSmokeStage).stage("tts_smoke")
    found = {finding.id: finding for finding in stage.findings}
    assert stage.outcome is Outcome.FAILED
    assert float(str(found["tts.round_trip_wrong"].facts["error_rate"])) > 0.8
    assert found["tts.round_trip_wrong"].facts["text"], "it heard words, only others"
    assert [text.reference for text in stage.texts] == [wanted.transcript]
    assert found["tts.signal"].outcome is Outcome.PASSED, "as sound nothing is wrong with it"
