"""The log of a real child that dies is on the screen down to its last line."""

import sys
from collections.abc import Callable
from pathlib import Path

from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import StageContext
from rocm_wizard.runner.real import RealRunner
from rocm_wizard.runner.spec import ChildSpec
from rocm_wizard.tui.logpane import LogPane
from tests.tui.scripted_stages import Step, Wizard, until

CHILD = Path(__file__).parent.parent / "children" / "child.py"


async def test_the_error_line_behind_a_burst_of_frames_is_in_the_log(
    make_wizard: Callable[..., Wizard], tmp_path: Path
) -> None:
    def work(context: StageContext) -> None:
        runner = RealRunner(context.emit, tmp_path / "logs")
        argv = [sys.executable, "-I", str(CHILD), "bursts", "149"]
        child = runner.start(ChildSpec("tts sidecar", argv, tmp_path), context.stage, context.cancel)
        with context.check("machine"):
            assert child.read(20) is None
            context.finding("sidecar.died", Outcome.FAILED, sidecar="tts sidecar", detail=str(child.stop().meaning))

    wizard = make_wizard(Step("tts_smoke", work))
    async with wizard.app.run_test(size=(120, 40)) as pilot:
        await until(pilot, wizard.ready)
        await until(pilot, lambda: wizard.result_shown())
        await pilot.press("home", "x")
        await until(pilot, lambda: "RuntimeError: out of memory" in wizard.screen_text())
        lines = [line.removeprefix("tts sidecar | ") for line in wizard.app.screen.query_one(LogPane).lines]
        assert [line for line in lines if line.startswith("frame ")] == [f"frame {number}" for number in range(149)]
        assert lines.index("RuntimeError: out of memory") == lines.index("frame 148") + 1
