"""How long a key press takes to reach the screen while a stage writes 20,000 log lines a second.

Run: python benchmarks/tui_flood.py [--seconds 10] [--batch 100]
Prints one JSON object: latencies in milliseconds (key to repaint, with the log pane open), the lines per second that
were really written, peak memory of the process in MiB, and the time to the first painted frame beside that of an
empty Textual app. Exit code 1 where the 95th percentile passes 50 ms or memory passes 110 MiB.
"""

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

import psutil
from textual.app import App, ComposeResult
from textual.widgets import Static

from rocm_wizard.qualification import events as ev
from rocm_wizard.qualification.exit_codes import ExitCode
from rocm_wizard.qualification.journal import Journal
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.pipeline import Pipeline
from rocm_wizard.qualification.stage import StageContext
from rocm_wizard.report.catalogue import Catalogue
from rocm_wizard.tui.app import RunParts, WizardApp
from rocm_wizard.tui.text import Paper

LINES_A_SECOND = 20_000
LATENCY_BUDGET_MS = 50.0
MEMORY_BUDGET_MIB = 110.0


class Flood:
    """Writes log lines at a steady rate until told to stop."""

    id = "compute"

    def __init__(self, batch: int) -> None:
        self.stop = threading.Event()
        self.written = 0
        self.seconds = 0.0
        self._batch = batch

    def run(self, context: StageContext) -> None:
        """See `Stage.run`."""
        lines = [f"line {number:4} of a library that says too much about every kernel" for number in range(self._batch)]
        began = time.monotonic()
        with context.check("kernels"):
            while not self.stop.is_set():
                context.emit(ev.LogLines(self.id, "probe", lines))
                self.written += self._batch
                ahead = self.written / LINES_A_SECOND - (time.monotonic() - began)
                if ahead > 0:
                    self.stop.wait(ahead)
            self.seconds = time.monotonic() - began
            context.finding("compute.flood", Outcome.PASSED)


class Hello(App[None]):
    """The yardstick for the first frame."""

    def compose(self) -> ComposeResult:
        """See `App.compose`."""
        yield Static("hello")


async def first_frame(app: "App[None] | WizardApp") -> float:
    """Milliseconds from the start to the first painted frame."""
    began = time.monotonic()
    async with app.run_test(size=(120, 40)):
        return (time.monotonic() - began) * 1000


async def key_latencies(app: WizardApp, seconds: float) -> list[float]:
    """Moves the rail's cursor again and again; each time in milliseconds until the new selection is drawn."""
    latencies: list[float] = []
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("x", "tab")
        rail = app.screen.query_one("#rail")
        rail.focus()
        title = app.screen.query_one("#title", Paper)
        until = time.monotonic() + seconds
        down = True
        while time.monotonic() < until:
            before = title.visual
            began = time.monotonic()
            app.simulate_key("down" if down else "up")
            while title.visual is before or app.screen._dirty_widgets:
                await asyncio.sleep(0)
            latencies.append((time.monotonic() - began) * 1000)
            down = not down
            await asyncio.sleep(0.023)
    return latencies


async def measure(seconds: float, batch: int) -> dict[str, float]:
    """Everything that is printed."""
    hello = min([await first_frame(Hello()) for _ in range(5)])
    frames: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(5):
            app, flood, journal = wizard(Path(folder) / f"{number}.jsonl", batch)
            flood.stop.set()
            frames.append(await first_frame(app))
            journal.close()
        app, flood, journal = wizard(Path(folder) / "flood.jsonl", batch)
        asked = asyncio.get_running_loop().call_later(seconds + 5, flood.stop.set)
        latencies = sorted(await key_latencies(app, seconds))
        asked.cancel()
        journal.close()
    return {
        "keys": len(latencies),
        "median_ms": round(statistics.median(latencies), 1),
        "p95_ms": round(latencies[int(len(latencies) * 0.95)], 1),
        "max_ms": round(latencies[-1], 1),
        "lines_a_second": round(flood.written / flood.seconds) if flood.seconds else round(flood.written / seconds),
        "memory_mib": round(psutil.Process().memory_info().rss / 2**20, 1),
        "hello_first_frame_ms": round(hello, 1),
        "wizard_first_frame_ms": round(min(frames), 1),
    }


def wizard(journal_path: Path, batch: int) -> tuple[WizardApp, Flood, Journal]:
    """The app over one flooding stage."""
    flood, journal = Flood(batch), Journal(journal_path)
    pipeline = Pipeline([flood], journal)
    pipeline.start("0", {}, {}, "en")

    def finish(interrupted: bool) -> ExitCode:
        return pipeline.finish(interrupted=interrupted)

    return WizardApp(lambda: RunParts(pipeline, Catalogue("en"), finish)), flood, journal


def main() -> int:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--batch", type=int, default=100, help="lines in one event")
    options = parser.parse_args()
    result = asyncio.run(measure(options.seconds, options.batch))
    print(json.dumps(result))
    return int(result["p95_ms"] > LATENCY_BUDGET_MS or result["memory_mib"] > MEMORY_BUDGET_MIB)


if __name__ == "__main__":
    sys.exit(main())
