"""A speaking sidecar that plays a recording: `python speaking_sidecar.py JSON`. Standard library and numpy.

Keys: wav (mono 16-bit file), characters (of what is said in it: shorter texts get a shorter part), fault, at (number
of the block it strikes, from 0), delay (seconds a block; slow: from utterance slow_from), log (a line for stderr),
dies_after (utterances), only (number of the one utterance with the fault, from 0), from (number of the first
utterance with it). Blocks have the length that the request asks for; a pause follows, as on the wire.
"""

import base64
import json
import os
import sys
import time
import wave
from typing import Any

import numpy as np


def send(**message: object) -> None:
    """One message on the wire."""
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def read(path: str) -> tuple[Any, int]:
    """The recording's samples and rate."""
    with wave.open(path, "rb") as file:
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(np.float32) / 32768
        return samples, file.getframerate()


def closing(samples: Any, share: float) -> Any:
    """A one-pole low-pass, twice, that closes as `share` goes from 0 to 1."""
    pole = 0.93 * share
    for _ in range(2):
        decay = pole ** np.arange(400)
        samples = np.convolve(samples, (1 - pole) * decay)[: len(samples)]
    return samples.astype(np.float32)


def spoil(blocks: list[Any], fault: str, at: int) -> list[Any]:
    """The blocks with the fault in them."""
    if fault == "click":
        blocks[at] = blocks[at] + np.float32(0.3) * np.exp(-np.arange(len(blocks[at])) / 300).astype(np.float32)
    elif fault == "repeat":
        blocks[at] = blocks[at - 1].copy()
    elif fault == "dc":
        blocks = [block + np.float32(0.03) for block in blocks]
    elif fault == "clip":
        blocks = [np.clip(block * 20, -1, 1) for block in blocks]
    elif fault == "drift":
        blocks = [closing(block, number / (len(blocks) - 1)) for number, block in enumerate(blocks)]
    elif fault == "lead":
        blocks = [np.zeros(len(blocks[0]) * 2, np.float32), *blocks]
    elif fault == "mostly_silent":
        blocks = [block if number % 5 == 1 else block * 0 for number, block in enumerate(blocks)]
    elif fault == "swallowed":
        blocks = [*blocks[:at], np.zeros(16_000, np.float32)]
    elif fault == "endless":
        blocks = blocks * 9
    elif fault == "mute":
        blocks = [block * 0 for block in blocks]
    elif fault == "breaks_off":
        blocks = blocks[:1]
    elif fault == "whole":
        blocks = [np.concatenate(blocks)]
    return blocks


def speak(script: dict[str, Any], message: dict[str, Any], fault: str, slow: bool) -> None:
    """One utterance."""
    request = message["request"]
    samples, rate = read(script["wav"])
    samples = samples[: len(samples) * len(request["text"]) // script.get("characters", 1)]
    size = int(rate * request["chunk_size_seconds"])
    blocks = [samples[begin : begin + size] for begin in range(0, len(samples) - size // 4, size)]
    at = script.get("at", 3)
    for number, block in enumerate(spoil(blocks, fault, at)):
        time.sleep(
            (script["slow"] if slow else script.get("delay", 0.0)) + (1.6 if fault == "late" and number == at else 0.0)
        )
        chunk(message["request_id"], rate, block)
        if fault == "fails" and number == at:
            send(type="error", request_id=message["request_id"], msg="out of memory")
            return
    if fault not in ("swallowed", "whole"):
        chunk(message["request_id"], rate, np.zeros(int(rate * request["options"]["pause_second"]), np.float32))
    if "log" in script:
        sys.stderr.write(script["log"] + "\n")
        sys.stderr.flush()
        time.sleep(0.2)
    send(type="done", request_id=message["request_id"], cfm_ms=40.0, bigvgan_ms=20.0)


def chunk(request_id: str, rate: int, block: Any) -> None:
    """One block on the wire."""
    audio = base64.b64encode(np.asarray(block, "<f4").tobytes()).decode("ascii")
    send(type="chunk", request_id=request_id, sample_rate=rate, audio_b64=audio, text="")


def main(script: dict[str, Any]) -> None:
    """Ready, then utterances until stdin ends."""
    send(type="ready", device="cpu", torch="2.9.1", hip=None, engine="recording")
    for spoken, line in enumerate(sys.stdin):
        if spoken == script.get("dies_after"):
            os._exit(3)
        struck = spoken == script.get("only", spoken) and spoken >= script.get("from", 0)
        slow = "slow" in script and spoken >= script["slow_from"]
        speak(script, json.loads(line), script.get("fault", "") if struck else "", slow)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
