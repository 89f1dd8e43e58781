"""A question about the recognised text in a run that nobody attends."""

import os
import threading

import pytest

from rocm_wizard.line.asker import LineAsker
from rocm_wizard.qualification import events as ev
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.pipeline import Pipeline
from rocm_wizard.report.catalogue import Catalogue
from rocm_wizard.stages import asr_judgement
from rocm_wizard.stages.asr_smoke import AsrSmokeStage
from tests.stages.bench import Bench
from tests.stages.test_asr_smoke import ENGLISH, listens


def test_a_terminal_that_nobody_attends_does_not_hold_the_run(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Line mode in a terminal: standard input stays open and says nothing."""
    monkeypatch.setattr(asr_judgement, "COMPARE_TIMEOUT", 0.5)
    reading, writing = os.pipe()
    listens(bench)
    bench.options(audio=ENGLISH.file)
    told: list[str] = []
    answers: list[ev.QuestionAnswered] = []
    bench.journal.subscribe(lambda r: answers.append(r.event) if isinstance(r.event, ev.QuestionAnswered) else None)
    with os.fdopen(reading, encoding="utf-8") as stdin, os.fdopen(writing, "w", encoding="utf-8") as keyboard:
        monkeypatch.setattr("sys.stdin", stdin)
        asker = LineAsker(Catalogue("en"), told.append)
        pipeline = Pipeline([AsrSmokeStage(bench.session)], bench.journal, ask=asker, clean_up=bench.runner.stop_all)
        pipeline.start("test", {}, {}, "en")
        stage = pipeline.run().stage("asr_smoke")
        keyboard.close()
        for thread in threading.enumerate():
            if thread.name == "stdin":
                thread.join(10)
    assert [(one.question, one.answer, one.answered_by) for one in answers] == [
        ("asr.text_matches", "not_confirmed", "default")
    ]
    assert "Without an answer in 0.5 s: I cannot say." in told
    (finding,) = [finding for finding in stage.findings if finding.id == "asr.not_compared"]
    assert finding.outcome is Outcome.SKIPPED
    assert stage.outcome is Outcome.WARNING
