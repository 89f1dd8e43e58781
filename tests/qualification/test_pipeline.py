"""Gates, retries, cancelling, our own bugs: with real stages written here."""

import threading
from collections.abc import Callable
from pathlib import Path

from rocm_wizard.qualification import events as ev
from rocm_wizard.qualification.journal import Journal, JournalReading
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.pipeline import Pipeline
from rocm_wizard.qualification.reducer import reduce
from rocm_wizard.qualification.stage import Answer, CancelToken, Question, StageContext

type Body = Callable[[StageContext], object]


class Step:
    """A stage whose body is given."""

    def __init__(self, id: str, body: Body) -> None:
        self.id = id
        self.body = body
        self.runs = 0

    def run(self, context: StageContext) -> None:
        """Counts and runs the body."""
        self.runs += 1
        self.body(context)


def passes(context: StageContext) -> None:
    """One passed finding."""
    with context.check("c"):
        context.finding("x.ok", Outcome.PASSED)


def fails(context: StageContext) -> None:
    """One failed finding after a passed one."""
    passes(context)
    context.finding("x.bad", Outcome.FAILED)


def build(folder: Path, *steps: Step) -> Pipeline:
    """A started pipeline."""
    pipeline = Pipeline(steps, Journal(folder / "journal.jsonl"))
    pipeline.start("1.0", {}, {}, "en")
    return pipeline


def test_a_failure_blocks_everything_after_it(tmp_path: Path) -> None:
    last = Step("c", passes)
    pipeline = build(tmp_path, Step("a", passes), Step("b", fails), last)
    state = pipeline.run()
    assert [stage.outcome for stage in state.stages] == [Outcome.PASSED, Outcome.FAILED, Outcome.BLOCKED]
    assert state.stage("c").blocked_by == "b"
    assert last.runs == 0
    assert pipeline.finish() == 1


def test_retry_replaces_the_result_and_clears_the_later_ones(tmp_path: Path) -> None:
    middle, last = Step("b", fails), Step("c", passes)
    pipeline = build(tmp_path, Step("a", passes), middle, last)
    pipeline.run()
    middle.body = passes
    state = pipeline.retry("b")
    assert [stage.outcome for stage in state.stages] == [Outcome.PASSED] * 3
    assert state.stage("b").attempt == 2
    assert [finding.id for finding in state.stage("b").findings] == ["x.ok"]
    assert pipeline.finish() == 0


def test_the_state_on_disk_is_the_state_in_memory(tmp_path: Path) -> None:
    pipeline = build(tmp_path, Step("a", passes), Step("b", fails), Step("c", passes))
    pipeline.run()
    pipeline.retry("a")
    pipeline.finish()
    assert reduce(JournalReading(tmp_path / "journal.jsonl")).stages == pipeline.state.stages


def test_a_stage_that_says_nothing_proves_nothing(tmp_path: Path) -> None:
    pipeline = build(tmp_path, Step("a", lambda context: None), Step("b", passes))
    state = pipeline.run()
    assert [stage.outcome for stage in state.stages] == [Outcome.COULD_NOT_CHECK, Outcome.BLOCKED]
    assert pipeline.finish() == 3


def test_a_bug_of_ours_ends_the_stage_not_the_wizard(tmp_path: Path) -> None:
    def breaks(context: StageContext) -> None:
        passes(context)
        raise ZeroDivisionError("oops")

    pipeline = build(tmp_path, Step("a", breaks), Step("b", passes))
    state = pipeline.run()
    assert state.stage("a").outcome is Outcome.CRASHED
    assert state.stage("a").findings[-1].facts["error"] == "ZeroDivisionError: oops"
    assert pipeline.finish() == 5


def test_cancel_ends_the_waiting_stage_and_blocks_the_rest(tmp_path: Path) -> None:
    waiting = threading.Event()

    def waits(context: StageContext) -> None:
        waiting.set()
        while True:
            context.cancel.raise_if_cancelled()

    pipeline = build(tmp_path, Step("a", waits), Step("b", passes))
    worker = threading.Thread(target=pipeline.run)
    worker.start()
    assert waiting.wait(5)
    pipeline.cancel()
    worker.join(5)
    assert [stage.outcome for stage in pipeline.state.stages] == [Outcome.CANCELLED, Outcome.BLOCKED]
    assert pipeline.finish(interrupted=True) == 130


def test_question_and_answer_are_in_the_journal(tmp_path: Path) -> None:
    def asks(context: StageContext) -> None:
        answer = context.ask(Question("q", ("yes", "no"), "no", {"n": 1}))
        context.finding(f"x.{answer.option}", Outcome.PASSED)

    def says_yes(question: Question, cancel: CancelToken) -> Answer:
        del cancel
        assert question.default == "no"
        return Answer("yes", "person")

    pipeline = build(tmp_path, Step("a", asks))
    pipeline.ask = says_yes
    state = pipeline.run()
    assert state.stage("a").findings[0].id == "x.yes"
    assert state.answers == (ev.QuestionAnswered("a", "q", "yes", "person"),)
    assert state.question is None


def test_an_unfinished_check_shows_as_running(tmp_path: Path) -> None:
    seen: list[object] = []

    def looks(context: StageContext) -> None:
        with context.check("slow"):
            stage = pipeline.state.current
            assert stage is not None
            seen.append(stage.checks[0].finding)
            context.finding("x.ok", Outcome.PASSED)

    pipeline = build(tmp_path, Step("a", looks))
    state = pipeline.run()
    assert seen == [None]
    assert state.stage("a").checks[0].seconds is not None


def test_what_is_said_of_an_error_belongs_to_the_check_that_it_broke(tmp_path: Path) -> None:
    def breaks(context: StageContext) -> None:
        try:
            with context.check("outer"), context.check("inner"):
                raise ValueError
        except ValueError:
            context.finding("x.died", Outcome.CRASHED)
            context.finding("x.more", Outcome.WARNING)

    checks = build(tmp_path, Step("a", breaks)).run().stage("a").checks
    assert [(check.id, check.finding.id if check.finding else None) for check in checks] == [
        ("outer", None),
        ("inner", "x.died"),
        ("x.more", "x.more"),
    ]


def test_an_error_after_the_verdict_of_a_check_is_not_its_own(tmp_path: Path) -> None:
    def breaks(context: StageContext) -> None:
        try:
            with context.check("first"):
                context.finding("x.bad", Outcome.FAILED)
                raise ValueError
        except ValueError:
            context.finding("x.died", Outcome.CRASHED)
        with context.check("second"):
            pass
        context.finding("x.later", Outcome.PASSED)

    checks = build(tmp_path, Step("a", breaks)).run().stage("a").checks
    assert [check.id for check in checks] == ["first", "x.died", "second", "x.later"]
