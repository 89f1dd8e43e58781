"""The sound of a step that is over: what was heard and where it tore are still on the screen."""

import threading
from collections.abc import Callable

import pytest

from rocm_wizard.qualification import events as ev
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import StageContext
from tests.tui.scripted_stages import Step, Wizard, until

type Make = Callable[..., Wizard]
ENVELOPE = [0.1, 0.9, 0.5, 0.2]


def played_with_gaps(context: StageContext) -> None:
    """Two seconds of sound that were heard with two gaps, then measured further, as the TTS smoke does."""
    for index in range(4):
        context.emit(ev.AudioBlockReceived(context.stage, index, 0.25 + index * 0.1, 0.5, ENVELOPE))
    context.measure("playback.latency", 0.07, "s")
    for number, (at, length) in enumerate(((0.5, 0.12), (1.5, 0.31)), 1):
        context.progress(at, 2.0, "seconds playing")
        context.measure("playback.gap_at", at, "s", number)
        context.measure("playback.gap", length, "s", number)
    context.measure("playback.heard", 2.0, "s")
    context.progress(2.0, 2.0, "seconds played")
    for done in range(3):
        context.progress(done, 3, "utterances")
        context.measure("tts.first_audio", 0.25, "s", done + 1, "cold" if done == 0 else "warm")
    with context.check("utterance"):
        context.finding("tts.file", Outcome.PASSED, file="a.wav", bytes=1)


@pytest.mark.parametrize("ascii_only", [True, False])
async def test_where_the_sound_tore_stays_on_the_screen_when_the_step_is_over(
    make_wizard: Make, ascii_only: bool
) -> None:
    go = threading.Event()

    def work(context: StageContext) -> None:
        played_with_gaps(context)
        assert go.wait(10)

    wizard = make_wizard(Step("tts_smoke", work), ascii_only=ascii_only)
    async with wizard.app.run_test(size=(80, 24)) as pilot:
        await until(pilot, wizard.ready)
        await pilot.press("m")
        await until(pilot, lambda: "gaps heard: 2, longest 310 ms" in wizard.shown("#side-text"))
        await until(pilot, lambda: "warm" in wizard.shown("#side-text"))
        during = wizard.shown("#side-text").splitlines()
        go.set()
        await until(pilot, lambda: wizard.pipeline.state.stage("tts_smoke").outcome is Outcome.PASSED)
        await until(pilot, lambda: "All steps have ended" in wizard.screen_text())
        await pilot.press("home")
        await until(pilot, lambda: "gaps heard: 2, longest 310 ms" in wizard.screen_text())
        marks, heard = during[4], next(line for line in during if "heard 2.0 s of 2.0 s" in line)
        assert marks.count("x" if ascii_only else "×") == 2
        after = wizard.screen_text().splitlines()
        for line in (marks, heard):
            assert any(line.strip() in shown for shown in after), "the same as before the step ended"
