"""A sidecar that breaks the wire in one chosen way. Standard library only: `python bad_sidecar.py KIND MODE`.

KIND is asr or tts. A mode that is not about the start sends a proper `ready` first and misbehaves when asked.
"""

import base64
import json
import math
import os
import struct
import sys
import time

RATE = 24000


def send(**message: object) -> None:
    """One message on the wire."""
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def ready(**more: object) -> None:
    """The first message of a healthy CPU sidecar."""
    send(**{"type": "ready", "device": "cpu", "torch": "2.9.1", "hip": None, "engine": "test", **more})


def sound(seconds: float = 0.4, *, value: float | None = None) -> str:
    """A 220 Hz tone as base64 float32."""
    count = int(RATE * seconds)
    samples = [0.3 * math.sin(2 * math.pi * 220 * n / RATE) if value is None else value for n in range(count)]
    return base64.b64encode(struct.pack(f"<{count}f", *samples)).decode("ascii")


def chunk(request_id: str, audio: str, rate: object = RATE) -> None:
    """One block of an utterance."""
    send(type="chunk", request_id=request_id, sample_rate=rate, audio_b64=audio, text="")


def start(mode: str) -> None:
    """Everything that goes wrong before `ready`."""
    if mode == "never_ready":
        time.sleep(600)
    if mode == "banner_first":
        print("Loading the model ...", flush=True)
    if mode == "load_fail":
        send(type="error", msg="LOAD_FAIL: no such weights\x1b[31m")
        sys.exit(1)
    if mode == "traceback":
        raise ImportError("No module named 'qwen_asr'")
    if mode == "other_first":
        send(type="hello")
    ready(**{"device": "cuda:0"} if mode == "wrong_device" else {})


def answer_asr(mode: str) -> None:
    """One answer of a recogniser."""
    if mode == "no_text":
        send(type="result", words=[])
    elif mode == "wrong_text":
        send(type="result", text="something else entirely was said here")
    elif mode == "refuses":
        send(type="error", msg="out of memory")
    else:
        misbehave(mode, "")


def answer_tts(mode: str, request_id: str) -> None:
    """One utterance of a speaker."""
    bad_blocks = {
        "nan": (sound(0.01, value=math.nan), RATE),
        "infinite": (sound(0.01, value=math.inf), RATE),
        "bad_base64": ("!!!!", RATE),
        "odd_bytes": (base64.b64encode(b"12345").decode("ascii"), RATE),
        "empty_chunk": ("", RATE),
        "no_rate": (sound(), None),
    }
    chunk(request_id, sound())
    if mode in bad_blocks:
        chunk(request_id, *bad_blocks[mode])
    elif mode == "wrong_id":
        chunk("0" * 32, sound())
    elif mode == "rate_changes":
        chunk(request_id, sound(), 48000)
    elif mode == "refuses":
        send(type="error", request_id=request_id, msg="collapsed semantics")
    elif mode == "tone":
        for _ in range(20):
            chunk(request_id, sound())
        send(type="done", request_id=request_id)
    elif mode == "too_short":
        send(type="done", request_id=request_id)
    else:
        misbehave(mode, request_id)


def misbehave(mode: str, request_id: str) -> None:
    """What either kind can do wrong."""
    if mode == "print":
        print("100%|##########| 4/4", flush=True)
    elif mode == "array":
        print("[1, 2]", flush=True)
    elif mode == "no_type":
        print('{"text": "x"}', flush=True)
    elif mode == "silent":
        time.sleep(600)
    elif mode == "dies":
        os._exit(3)
    elif mode == "killed":
        os.kill(os.getpid(), 9)
    elif mode == "unknown_then_silent":
        send(type="progress", request_id=request_id)
        time.sleep(600)


def main(kind: str, mode: str) -> None:
    """Starts, then answers until stdin ends."""
    start(mode)
    for line in sys.stdin:
        request = json.loads(line)
        if kind == "asr":
            answer_asr(mode)
        elif mode == "nothing":
            send(type="done", request_id=request["request_id"])
        elif mode == "silence":
            for _ in range(10):
                chunk(request["request_id"], sound(0.8, value=0.0))
            send(type="done", request_id=request["request_id"])
        else:
            answer_tts(mode, request["request_id"])
    if mode == "lingers" or mode == "tone":
        sys.stderr.write("bye\n")
    if mode == "lingers":
        time.sleep(600)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
