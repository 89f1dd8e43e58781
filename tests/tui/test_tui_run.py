"""The wizard driven by keys over real stages: a run to its end, questions, failures, retry, cancel, leaving."""

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input, OptionList

from rocm_wizard.qualification import events as ev
from rocm_wizard.qualification.exit_codes import ExitCode
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import Question, StageContext
from rocm_wizard.tui.dialogs import ConfirmDialog, Dialog
from rocm_wizard.tui.question import QuestionDialog
from tests.tui.scripted_stages import Step, Wizard, asks, fails, holds, passes, until, waits

type Make = Callable[..., Wizard]
SIZES = [(80, 24), (120, 40)]


def filled_in(wizard: Wizard, kind: type[Dialog]) -> bool:
    """Whether such a dialog is on top and its texts are laid out."""
    on_top = isinstance(wizard.app.screen, kind) and bool(wizard.app.screen.query("#box-note"))
    return on_top and wizard.shown("#box-note") != "" and wizard.shown("#box-text") != ""


def asked(wizard: Wizard) -> bool:
    """Whether a question is on the screen, filled in."""
    return filled_in(wizard, QuestionDialog)


def confirming(wizard: Wizard) -> bool:
    """Whether a confirmation is on the screen, filled in."""
    return filled_in(wizard, ConfirmDialog)


def pipeline_threads() -> list[str]:
    """Threads of runs that are still alive."""
    return [thread.name for thread in threading.enumerate() if thread.name == "pipeline"]


@pytest.mark.parametrize("size", SIZES)
async def test_run_to_the_end_by_itself(make_wizard: Make, size: tuple[int, int]) -> None:
    wizard = make_wizard(passes("profile"), passes("versions"))
    async with wizard.app.run_test(size=size) as pilot:
        await until(pilot, wizard.ready)
        await until(pilot, lambda: wizard.result_shown())
        page = wizard.shown("#page")
        assert page.startswith("✓ Qualified.")
        assert "microphone" in page
        assert "report.html" in page.replace("\n  ", "")
        assert "All steps have ended. The report is written; q leaves." in wizard.screen_text()
        await pilot.press("q")
    assert wizard.app.return_value == 0
    assert wizard.finished == [(False, "pipeline")]


async def test_failure_blocks_the_later_steps_and_names_the_command(make_wizard: Make) -> None:
    wizard = make_wizard(passes("profile"), fails("versions"), passes("compute"), passes("env_merge"))
    async with wizard.app.run_test(size=(80, 24)) as pilot:
        await until(pilot, wizard.ready)
        await until(pilot, lambda: wizard.result_shown())
        assert wizard.shown("#rail").count("blocked by Versions") == 2
        result = wizard.shown("#page")
        assert "Not qualified: Versions did not pass." in result.replace("\n  ", " ")
        assert "uv sync --locked --extra local-rocm" in result
        await pilot.press("home", "down")
        await until(pilot, lambda: "Versions" in wizard.shown("#title"))
        page = wizard.shown("#page")
        assert "The target environment holds no torch." in page
        assert "Exact sync removes packages" in page.replace("\n", " ")
        assert "  uv sync --locked --extra local-rocm" in page
        assert "profile.torch_missing" in page
        await pilot.press("down")
        await until(
            pilot, lambda: "did not run: Versions has to pass first" in wizard.shown("#page").replace("\n", " ")
        )
        await pilot.press("q")
    assert wizard.app.return_value == int(ExitCode.FAILED)


async def test_enter_goes_from_step_to_check_to_finding(make_wizard: Make) -> None:
    wizard = make_wizard(passes("profile"), fails("versions"))
    async with wizard.app.run_test(size=(80, 24)) as pilot:
        await until(pilot, wizard.ready)
        await until(pilot, lambda: wizard.result_shown())
        assert wizard.selector_of_focus() == "rail"
        await pilot.press("home")
        await until(pilot, lambda: wizard.shown("#title").startswith("Profile"))
        await pilot.press("enter")
        assert wizard.selector_of_focus() == "checks"
        await pilot.press("enter")
        assert wizard.selector_of_focus() == "detail"
        await pilot.press("shift+tab", "shift+tab")
        assert wizard.selector_of_focus() == "rail"
        await pilot.press("f")
        await until(pilot, lambda: wizard.result_shown())


async def test_screen_follows_until_the_person_chooses(make_wizard: Make) -> None:
    go, more = threading.Event(), threading.Event()
    wizard = make_wizard(passes("profile"), holds("versions", go), holds("compute", more))
    async with wizard.app.run_test(size=(80, 24)) as pilot:
        await until(pilot, wizard.ready)
        await until(pilot, lambda: wizard.shown("#title") == "Versions")
        await pilot.press("up")
        await until(pilot, lambda: wizard.shown("#title") == "Profile")
        go.set()
        await until(pilot, lambda: wizard.pipeline.state.stage("compute").running)
        assert wizard.shown("#title") == "Profile"
        await pilot.press("f")
        await until(pilot, lambda: wizard.shown("#title") == "Compute")
        more.set()
        await until(pilot, lambda: wizard.result_shown())


@pytest.mark.parametrize(("keys", "expected"), [(["2"], "b"), (["enter"], "a"), (["down", "down", "enter"], "c")])
async def test_question_is_answered_by_keys(make_wizard: Make, keys: list[str], expected: str) -> None:
    answers: list[Any] = []
    question = Question("profile.choose", ("a", "b", "c"), "a", {"recommended": "a"})
    wizard = make_wizard(asks("profile", question, answers))
    async with wizard.app.run_test(size=(80, 24)) as pilot:
        await until(pilot, wizard.ready)
        await until(pilot, lambda: asked(wizard))
        await until(pilot, lambda: wizard.app.screen.query_one(OptionList).option_count == 3)
        assert "Which profile is to be tested?" in wizard.shown("#box-text")
        assert "(default)" in wizard.shown("#choices").splitlines()[0]
        await pilot.press(*keys)
        await until(pilot, lambda: wizard.result_shown())
    assert [(answer.option, answer.answered_by) for answer in answers] == [(expected, "person")]


async def test_silence_is_the_default_and_the_countdown_says_so(make_wizard: Make) -> None:
    answers: list[Any] = []
    question = Question("tts.heard", ("yes", "no"), "not_confirmed", timeout=1.5)
    wizard = make_wizard(asks("tts_smoke", question, answers))
    async with wizard.app.run_test(size=(80, 24)) as pilot:
        await until(pilot, wizard.ready)
        await until(pilot, lambda: asked(wizard))
        assert "Without an answer in" in wizard.shown("#box-note")
        assert wizard.app.screen.query_one(OptionList).highlighted is None
        await until(pilot, lambda: wizard.result_shown())
    assert [(answer.option, answer.answered_by) for answer in answers] == [("not_confirmed", "default")]


async def test_env_question_shows_both_sides(make_wizard: Make) -> None:
    rows = [["A=1", "A=2", "changed"], ["", "B=[red]x[/]", "added"], ["C=3", "", "removed"], ["# d", "# d", "same"]]
    plan = ev.PlanShown("env_merge", "project/.env", rows + [["", f"K{n}=v", "added"] for n in range(40)])
    wizard = make_wizard(asks("env_merge", Question("env.apply", ("apply", "skip"), "skip"), [], [plan]))
    async with wizard.app.run_test(size=(80, 24)) as pilot:
        await until(pilot, wizard.ready)
        await until(pilot, lambda: asked(wizard))
        lines = [line.rstrip() for line in wizard.shown("#box-text").splitlines()]
        assert [line.split() for line in lines[-44:-40]] == [
            ["~", "A=1", "│", "A=2"],
            ["+", "│", "B=[red]x[/]"],
            ["-", "C=3", "│"],
            ["#", "d", "│", "#", "d"],
        ]
        body = wizard.app.screen.query_one("#box-body")
        await until(pilot, lambda: body.max_scroll_y > 0)
        await pilot.press("pagedown")
        await until(pilot, lambda: body.scroll_offset.y > 0)
        assert "Escape stops the step" in wizard.shown("#box-note").replace("\n", " ")
        assert wizard.app.screen.query_one("#box-note").region.bottom < 24
        await pilot.press("1")
        await until(pilot, lambda: wizard.result_shown())


async def test_retry_runs_the_failed_step_and_the_later_ones_again(make_wizard: Make) -> None:
    repaired = threading.Event()
    wizard = make_wizard(passes("profile"), fails("versions", repaired.is_set), passes("compute"))
    async with wizard.app.run_test(size=(80, 24)) as pilot:
        await until(pilot, wizard.ready)
        await until(pilot, lambda: wizard.result_shown())
        repaired.set()
        await pilot.press("r")
        await until(pilot, lambda: wizard.result_shown() and "Qualified" in wizard.shown("#page"))
        state = wizard.pipeline.state
        assert [stage.attempt for stage in state.stages] == [1, 2, 1]
        assert [stage.outcome for stage in state.stages] == [Outcome.PASSED] * 3
        await pilot.press("q")
    assert wizard.finished == [(False, "pipeline")] * 2
    assert wizard.app.return_value == 0


async def test_cancel_key_stops_the_waiting_step(make_wizard: Make) -> None:
    wizard = make_wizard(waits("profile"), passes("versions"))
    async with wizard.app.run_test(size=(80, 24)) as pilot:
        await until(pilot, wizard.ready)
        await until(pilot, lambda: wizard.shown("#title") == "Profile")
        await pilot.press("k")
        await until(pilot, lambda: wizard.result_shown())
        assert wizard.pipeline.state.stage("profile").outcome is Outcome.CANCELLED
        assert "blocked by Profile" in wizard.shown("#rail")
        await pilot.press("q")
    assert wizard.app.return_value == int(ExitCode.INCOMPLETE)


async def test_escape_asks_before_it_cancels(make_wizard: Make) -> None:
    wizard = make_wizard(waits("profile"))
    async with wizard.app.run_test(size=(80, 24)) as pilot:
        await until(pilot, wizard.ready)
        await until(pilot, lambda: wizard.pipeline.state.current is not None)
        await pilot.press("escape")
        await until(pilot, lambda: confirming(wizard))
        await pilot.press("enter")
        await until(pilot, lambda: not confirming(wizard))
        assert wizard.pipeline.state.current is not None
        await pilot.press("escape")
        await until(pilot, lambda: confirming(wizard))
        await pilot.press("2")
        await until(pilot, lambda: wizard.result_shown())
    assert wizard.finished == [(False, "pipeline")]


@pytest.mark.parametrize(("key", "answer"), [("y", "yes"), ("n", "no"), ("3", "no_speakers")])
async def test_yes_and_no_have_letters(make_wizard: Make, key: str, answer: str) -> None:
    answers: list[Any] = []
    question = Question("tts.heard", ("yes", "no", "no_speakers"), "not_confirmed")
    wizard = make_wizard(asks("tts_smoke", question, answers))
    async with wizard.app.run_test(size=(80, 24)) as pilot:
        await until(pilot, wizard.ready)
        await until(pilot, lambda: asked(wizard))
        assert "y and n" in wizard.shown("#box-note").replace("\n", " ")
        await pilot.press(key)
        await until(pilot, lambda: wizard.result_shown())
    assert [one.option for one in answers] == [answer]


async def test_cancel_while_a_question_is_open(make_wizard: Make) -> None:
    answers: list[Any] = []
    wizard = make_wizard(asks("profile", Question("profile.choose", ("a", "b"), "a"), answers))
    async with wizard.app.run_test(size=(80, 24)) as pilot:
        await until(pilot, wizard.ready)
        await until(pilot, lambda: asked(wizard))
        await pilot.press("escape")
        await until(pilot, lambda: confirming(wizard))
        await pilot.press("2")
        await until(pilot, lambda: wizard.result_shown())
    assert answers == []
    assert wizard.pipeline.state.stage("profile").outcome is Outcome.CANCELLED


async def test_leaving_while_running_stops_the_thread_and_counts_as_interrupted(make_wizard: Make) -> None:
    wizard = make_wizard(waits("profile"))
    async with wizard.app.run_test(size=(80, 24)) as pilot:
        await until(pilot, wizard.ready)
        await until(pilot, lambda: wizard.pipeline.state.current is not None)
        await pilot.press("q")
        await until(pilot, lambda: confirming(wizard))
        await pilot.press("2")
        await until(pilot, lambda: wizard.app.return_value is not None)
    assert wizard.app.return_value == int(ExitCode.INTERRUPTED)
    assert wizard.finished == [(True, "pipeline")]
    assert pipeline_threads() == []


async def test_leaving_in_spite_of_a_step_that_will_not_stop(
    make_wizard: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = threading.Event()

    def deaf(context: StageContext) -> None:
        release.wait(30)

    wizard = make_wizard(Step("profile", deaf))
    monkeypatch.setattr("rocm_wizard.tui.drive.Drive.wait.__defaults__", (0.2,), raising=True)
    async with wizard.app.run_test(size=(80, 24)) as pilot:
        await until(pilot, wizard.ready)
        await until(pilot, lambda: wizard.pipeline.state.current is not None)
        await pilot.press("q", "2")
        await until(pilot, lambda: wizard.app.return_value is not None)
    assert wizard.app.return_value == int(ExitCode.INTERRUPTED)
    assert [interrupted for interrupted, _ in wizard.finished] == [True]
    release.set()
    deadline = time.monotonic() + 5
    while pipeline_threads() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert len(wizard.finished) == 1


async def test_crash_of_a_stage_is_a_result_not_an_end(make_wizard: Make) -> None:
    def broken(context: StageContext) -> None:
        raise RuntimeError("[/] boom [red]")

    wizard = make_wizard(Step("profile", broken), passes("versions"))
    async with wizard.app.run_test(size=(120, 40)) as pilot:
        await until(pilot, wizard.ready)
        await until(pilot, lambda: wizard.result_shown())
        assert "boom [red]" in wizard.shown("#page")
        await pilot.press("q")
    assert wizard.app.return_value == int(ExitCode.INTERNAL_ERROR)


async def test_what_would_lose_something_has_to_be_typed_in_full(make_wizard: Make) -> None:
    answers: list[Any] = []
    question = Question(
        "profile.replace", ("leave", "local-cu124"), "leave", {"typed": "local-cu124"}, typed="local-cu124"
    )
    wizard = make_wizard(asks("profile", question, answers))
    async with wizard.app.run_test(size=(80, 24)) as pilot:
        await until(pilot, wizard.ready)
        await until(pilot, lambda: isinstance(wizard.app.screen, QuestionDialog))
        await pilot.press("2", "tab", *"local-cu12", "enter")
        assert answers == []
        await pilot.press(*"local-cu124", "enter")
        await until(pilot, lambda: bool(answers))
    assert (answers[0].option, answers[0].answered_by) == ("local-cu124", "person")


async def test_a_path_is_completed_while_it_is_typed(make_wizard: Make, tmp_path: Path) -> None:
    (tmp_path / "Models").mkdir()
    (tmp_path / "Models" / "amy voice 声.ckpt").touch()
    answers: list[Any] = []
    facts = {"key": "TTS_GPT_MODEL_PATH", "folder": "x", "more": 0, "root": str(tmp_path)}
    question = Question("env.model_file", ("leave_out",), "leave_out", facts, free="path")
    wizard = make_wizard(asks("profile", question, answers))
    async with wizard.app.run_test(size=(80, 24)) as pilot:
        await until(pilot, wizard.ready)
        await until(pilot, lambda: isinstance(wizard.app.screen, QuestionDialog))
        line = wizard.app.screen.query_one(Input)
        await pilot.press("tab", *"Mod")
        await until(pilot, lambda: line._suggestion == "Models/")
        await pilot.press("right", "a")
        await until(pilot, lambda: line._suggestion.endswith(".ckpt"))
        await pilot.press("right", "enter")
        await until(pilot, lambda: bool(answers))
    assert answers[0].option == "Models/amy voice 声.ckpt"


async def test_the_rail_counts_the_steps_that_have_ended(make_wizard: Make) -> None:
    go = threading.Event()
    wizard = make_wizard(passes("profile"), holds("versions", go))
    async with wizard.app.run_test(size=(80, 24)) as pilot:
        await until(pilot, wizard.ready)
        await until(pilot, lambda: "1 of 2 steps" in wizard.shown("#rail"))
        go.set()
        await until(pilot, lambda: wizard.result_shown())


async def test_a_report_that_cannot_be_written_is_said_and_counts(make_wizard: Make) -> None:
    wizard = make_wizard(passes("profile"))

    def finish(interrupted: bool) -> ExitCode:
        raise OSError("disk full")

    wizard.finish = finish
    async with wizard.app.run_test(size=(80, 24)) as pilot:
        await until(pilot, wizard.ready)
        await until(pilot, lambda: wizard.result_shown())
        assert "The report could not be written: disk full" in wizard.shown("#page")
        await pilot.press("q")
    assert wizard.app.return_value == int(ExitCode.INTERNAL_ERROR)
