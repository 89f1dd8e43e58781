"""Standard x1 against Parallel x2, with real children that work one or two at a time."""

import sys

import pytest

from rocm_wizard.qualification.finding import Finding
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import StageContext
from rocm_wizard.stages.concurrency import ROUNDS, compare_concurrency
from rocm_wizard.stages.session import Session
from rocm_wizard.stages.smoke import SmokeFailed, sidecar
from rocm_wizard.stages.speech_children import tts_spec
from tests.stages.bench import CHILDREN, Bench


class ConcurrencyOnly:
    """The comparison as a stage of its own."""

    id = "tts_smoke"

    def __init__(self, session: Session) -> None:
        self._session = session

    def run(self, context: StageContext) -> None:
        try:
            with sidecar(context, self._session, tts_spec(self._session)) as client:
                compare_concurrency(context, self._session, client)
        except SmokeFailed:
            return


def compared(bench: Bench, mode: str, text: str = "One. Two. Three.", message: float = 10.0) -> dict[str, Finding]:
    bench.options(
        tts_command=[sys.executable, "-u", str(CHILDREN / "two_at_a_time.py"), mode],
        text=text,
        limits={"ready": 10.0, "message": message},
    )
    return {finding.id: finding for finding in bench.run(ConcurrencyOnly).stage("tts_smoke").findings}


def test_a_serial_sidecar_gains_nothing(bench: Bench) -> None:
    found = compared(bench, "serial")["tts.concurrency_one"]
    assert found.outcome is Outcome.PASSED
    assert 0.8 < float(str(found.facts["gain"])) < 1.10
    assert found.facts["sentences"] == 6
    assert float(str(found.facts["first_audio_2"])) > 1.5 * float(str(found.facts["first_audio_1"]))


def test_one_that_works_on_two_is_found(bench: Bench) -> None:
    found = compared(bench, "parallel")["tts.concurrency_two"]
    assert 1.4 < float(str(found.facts["gain"])) < 2.2


@pytest.mark.parametrize(
    ("mode", "finding", "outcome"),
    [
        ("mute", "tts.concurrency_wrong", Outcome.WARNING),
        ("other", "tts.concurrency_wrong", Outcome.WARNING),
        ("silent", "tts.no_sound", Outcome.FAILED),
        ("broken_off", "tts.duration_absurd", Outcome.FAILED),
        ("strange", "wire.wrong_request_id", Outcome.FAILED),
        ("rate", "wire.sample_rate_changed", Outcome.FAILED),
    ],
)
def test_faster_but_wrong_is_never_recommended(bench: Bench, mode: str, finding: str, outcome: Outcome) -> None:
    found = compared(bench, mode)
    assert found[finding].outcome is outcome
    assert "tts.concurrency_two" not in found


@pytest.mark.parametrize(("mode", "finding"), [("endless", "wire.endless"), ("hums", "sidecar.silent")])
def test_a_voice_that_does_not_come_to_an_end(bench: Bench, mode: str, finding: str) -> None:
    found = compared(bench, mode, message=0.5)
    assert found[finding].outcome is Outcome.FAILED


@pytest.mark.parametrize("text", [" … ", "?!"])
def test_a_text_without_words_is_not_compared(bench: Bench, text: str) -> None:
    found = compared(bench, "serial", text)
    assert found["tts.concurrency_no_words"].outcome is Outcome.SKIPPED
    assert not {"tts.concurrency_one", "tts.concurrency_two"} & set(found)


@pytest.mark.parametrize(
    ("text", "sentences"),
    [("Hmm... well, okay. It weighs 3.5 kg.", 3), ("Really?! Yes!", 2), ("真的吗？！是的。", 2), ("No end", 1)],
)
def test_every_sentence_has_words(bench: Bench, text: str, sentences: int) -> None:
    assert compared(bench, "serial", text)["tts.concurrency_one"].facts["sentences"] == sentences * ROUNDS
