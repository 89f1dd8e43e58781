"""How soon a block of speech is heard, and whether sound runs dry while every core is busy.

Run from the repository's root: python -m benchmarks.playback [--null-sink] [--device NAME] [--utterances 20]
`--null-sink` starts a PulseAudio without a sound card (Linux, for machines that have none). Prints one JSON object:
- `first_sample_ms`: first PCM block received by the player -> first sample handed to the device, beyond the stated
  prebuffer (the block fills it). Budget: 20 ms at the 95th percentile; the device asks for sound once a period, so
  up to one period of it is the device's.
- `starved_frames`: frames of silence inside the sound over all utterances that were synthesised at 1.5 times real time
  while one loop a core kept the computer busy. Budget: 0.
Exit code 1 where a budget is passed, 2 where nothing can be played.
"""

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.audio.player_host import RATE, PlayerHost, blocks, speech_like
from tests.audio.pulse_server import PulseServer

FIRST_SAMPLE_BUDGET_MS = 20.0
STARVED_FRAMES_BUDGET = 0
SPEED = 1.5
BLOCK_SECONDS = 0.4


class NothingToPlayOn(Exception):
    """The player found no output; the text says why."""


def speak(environment: Mapping[str, str], device: str | None, seconds: float, speed: float | None) -> dict[str, Any]:
    """Plays one utterance; returns the fields of `playing` and `finished`. `speed` None: all blocks at once."""
    with PlayerHost(environment) as host:
        host.send("open", sample_rate=RATE, device=device)
        _opened(host)
        # A device asks faster than real time until its buffer is full; measured is what comes after.
        while host.until("progress")["counters"]["callbacks"] < 30:
            pass
        begun = time.monotonic()
        for number, block in enumerate(blocks(speech_like(seconds), BLOCK_SECONDS)):
            if speed is not None:
                time.sleep(max(0.0, begun + number * BLOCK_SECONDS / speed - time.monotonic()))
            host.audio(block)
        host.send("end")
        finished = host.until("finished", seconds + 30)
        host.end()
    return {**host.of("playing")[0], **finished}


def _opened(host: PlayerHost) -> None:
    try:
        host.until("opened")
    except AssertionError as error:
        refused = host.of("unavailable")
        raise NothingToPlayOn(refused[0]["text"] if refused else str(error)) from error


@contextlib.contextmanager
def every_core_busy() -> Any:
    """One endless loop a core."""
    with contextlib.ExitStack() as stack:
        for _ in range(os.cpu_count() or 1):
            loop = stack.enter_context(subprocess.Popen([sys.executable, "-c", "while True: pass"]))
            stack.callback(loop.kill)  # before its own exit, which waits for it
        yield


def measure(environment: Mapping[str, str], device: str | None, utterances: int) -> dict[str, Any]:
    """Both measurements, with their budgets."""
    waits = sorted(
        speak(environment, device, BLOCK_SECONDS, None)["after_prebuffer_ms"] for _ in range(max(2, utterances))
    )
    with every_core_busy():
        loaded = [speak(environment, device, 6.0, SPEED) for _ in range(max(1, utterances // 5))]
    counters = [one["counters"] for one in loaded]
    return {
        "first_sample_ms": {
            "median": round(statistics.median(waits), 2),
            "p95": round(statistics.quantiles(waits, n=20, method="inclusive")[18], 2),
            "max": round(waits[-1], 2),
            "utterances": len(waits),
        },
        "first_sample_budget_ms": FIRST_SAMPLE_BUDGET_MS,
        "starved_frames": sum(one["starved_frames"] for one in counters),
        "starved_frames_budget": STARVED_FRAMES_BUDGET,
        "underflows_of_the_device": sum(one["host_underflow_flags"] for one in counters),
        "least_headroom_ms": min(one["min_headroom_ms"] for one in counters),
        "utterances_under_load": len(loaded),
    }


def main() -> int:
    """Measures, prints, judges."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--null-sink", action="store_true")
    parser.add_argument("--device")
    parser.add_argument("--utterances", type=int, default=20)
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        environment: Mapping[str, str] = os.environ
        if options.null_sink:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            environment = stack.enter_context(PulseServer(Path(folder))).child_environment()
        try:
            result = measure(environment, options.device, options.utterances)
        except NothingToPlayOn as error:
            print(f"nothing to play on: {error}; --null-sink plays without a sound card", file=sys.stderr)
            return 2
    print(json.dumps(result, indent=2))
    late = result["first_sample_ms"]["p95"] > FIRST_SAMPLE_BUDGET_MS
    return 1 if late or result["starved_frames"] > STARVED_FRAMES_BUDGET else 0


if __name__ == "__main__":
    sys.exit(main())
