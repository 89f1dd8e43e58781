"""The host's side of the player's wire, and sound to play through it."""

import base64
import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

RATE = 24_000
ARGV = [sys.executable, "-I", "-m", "rocm_wizard.audio.player"]


def speech_like(seconds: float = 3.0, rate: int = RATE) -> NDArray[np.float32]:
    """Gliding harmonics in syllables, a noise burst in the middle; on the 16-bit grid so that copies can be exact."""
    random = np.random.default_rng(20_240_601)
    time_axis = np.arange(round(seconds * rate)) / rate
    phase = 2 * np.pi * (140 * time_axis + 6 * np.sin(2.1 * time_axis))
    voice = sum((np.sin(harmonic * phase) / harmonic for harmonic in range(1, 12)), np.zeros_like(time_axis))
    wave = 0.25 * voice * (0.55 + 0.45 * np.sin(2 * np.pi * 3.7 * time_axis))
    start, stop = len(wave) // 2, len(wave) // 2 + rate // 5
    wave[start:stop] += random.normal(0, 0.12, stop - start)
    wave[0] = 0.3  # a step, so that the very first sample is told from silence
    return (np.rint(np.clip(wave, -0.95, 0.95) * 32768) / 32768).astype(np.float32)


class PlayerHost:
    """Starts the real player; every message it says lands in `messages` in order."""

    def __init__(self, environment: Mapping[str, str], arguments: Sequence[str] = ()) -> None:
        self.messages: list[dict[str, Any]] = []
        self._queue: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        self.process = subprocess.Popen(
            [*ARGV, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=dict(environment)
        )
        threading.Thread(target=self._read, daemon=True).start()

    def __enter__(self) -> "PlayerHost":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait(10)

    def send(self, kind: str, **fields: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"type": kind, **fields}).encode() + b"\n")
        self.process.stdin.flush()

    def audio(self, samples: NDArray[np.float32]) -> None:
        self.send("audio", audio_b64=encoded(samples))

    def until(self, kind: str, seconds: float = 15.0) -> dict[str, Any]:
        """The next message of that type; AssertionError when the player ends or says nothing for `seconds`."""
        deadline = time.monotonic() + seconds
        while True:
            message = self._queue.get(timeout=max(0.001, deadline - time.monotonic()))
            assert message is not None, f"the player ended before {kind}: {self.messages}"
            if message["type"] == kind:
                return message

    def end(self, seconds: float = 10.0) -> int:
        return self.process.wait(seconds)

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [message for message in self.messages if message["type"] == kind]

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            message = json.loads(line)
            self.messages.append(message)
            self._queue.put(message)
        self._queue.put(None)


def encoded(samples: NDArray[np.float32]) -> str:
    return base64.b64encode(samples.astype("<f4").tobytes()).decode("ascii")


def blocks(samples: NDArray[np.float32], seconds: float = 0.2, rate: int = RATE) -> list[NDArray[np.float32]]:
    size = round(seconds * rate)
    return [samples[start : start + size] for start in range(0, len(samples), size)]


def with_environment(extra: Mapping[str, str]) -> dict[str, str]:
    return {**os.environ, **extra}
