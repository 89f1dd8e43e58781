"""Stands in a test's checkout as either of its sidecars, and does wrong what FAULT says. Standard library only.

FAULT comes from the `.env` file through the host's environment only: the first pass does not have it.
"""

import base64
import json
import math
import os
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

RATE = 24000
FAULT = os.environ.get("FAULT", "") if "PYTHONUNBUFFERED" not in os.environ else ""
LOGGED = {"stderr": 8400, "nearly_full": 3990, "some_stderr": 2100}
"""Bytes before `ready`; 300 more with each answer. Windows' pipe holds 4096."""
KIND = Path(__file__).parent.name


def send(**message: object) -> None:
    """One message."""
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def sound(seconds: float, level: float = 0.3) -> str:
    """A tone, or silence at level 0."""
    count = int(RATE * seconds + 0.5)
    samples = [level * math.sin(2 * math.pi * 220 * n / RATE) for n in range(count)]
    return base64.b64encode(struct.pack(f"<{count}f", *samples)).decode("ascii")


def start() -> None:
    """Up to `ready`."""
    if FAULT == "banner":
        print("auto device: cuda:0", flush=True)
    if FAULT == "load":
        send(type="error", msg="LOAD_FAIL: no weights")
        sys.exit(1)
    if FAULT == "slow_start":
        time.sleep(600)
    if FAULT in LOGGED:
        sys.stderr.write("MIOpen(HIP): Warning\n" * (LOGGED[FAULT] // 21))
        sys.stderr.flush()
    device = "cuda:0" if FAULT == "device" else "cpu"
    torch = {"torch": "1.0"} if FAULT == "torch" else {}
    send(type="ready", device=device, **torch, hip=None, attn_impl="eager", warmup_ms=0, cuda_available=False)


def answer(request: dict[str, Any]) -> None:
    """One answer."""
    if FAULT == "dies":
        os._exit(3)
    if FAULT == "dies_leaving":
        nothing, code = subprocess.DEVNULL, "import time; time.sleep(600)"
        subprocess.Popen(
            [sys.executable, "-c", code], stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True
        )
        time.sleep(1.2)
        os._exit(3)
    if FAULT in LOGGED:
        sys.stderr.write("x" * 299 + "\n")
        sys.stderr.flush()
    if FAULT == "slow_answer":
        time.sleep(600)
    if FAULT == "print":
        print("done 100%", flush=True)
    if KIND == "asr":
        send(type="result", text="you" if FAULT == "words" else "hello")
        if FAULT == "late_print":
            print("done 100%", flush=True)
        return
    request_id = request["request_id"]
    if FAULT == "refuse":
        send(type="error", request_id=request_id, msg="no voice")
        return
    level = 1e-4 if FAULT == "mute" else 0.3
    for rate in (RATE, 48000 if FAULT == "rate" else RATE):
        send(
            type="chunk",
            request_id=request_id,
            sample_rate=rate,
            audio_b64=sound(0.4, level),
            text="",
        )
    asked = request["request"]["options"].get("pause_second", 0.3)
    pause = 16000 / RATE if FAULT == "swallow" else asked
    send(type="chunk", request_id=request_id, sample_rate=RATE, audio_b64=sound(pause, 0.0), text="")
    send(type="done", request_id=request_id)


start()
for line in sys.stdin:
    answer(json.loads(line))
if FAULT == "exit":
    sys.exit(7)
