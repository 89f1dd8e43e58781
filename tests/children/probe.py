"""A compute probe that goes wrong. Run like the real one: `python probe.py <JSON>`; `BAD_PROBE` names the way."""

import ctypes
import faulthandler
import json
import os
import signal
import sys
import time
from typing import Any

GPU_780M = {"device": "cuda:0", "name": "AMD Radeon 780M Graphics", "gfx": "gfx1103", "memory": 2**29, "count": 1}
C_STACK = """Fatal Python error: Segmentation fault

Current thread 0x00007f0000000000 (most recent call first):
  File "/opt/站点 packages/torch/nn/modules/conv.py", line 366 in _conv_forward

Current thread's C stack trace (most recent call first):
  Binary file "/opt/python/lib/libpython3.14.so.1.0", at _Py_DumpStack+0x3e [0x7f1]
  Binary file "/opt/站点 packages/torch/lib/libMIOpen.so", at miopenConvolutionForward+0x2a [0x7f2]
"""


def say(**message: object) -> None:
    """One message."""
    print(json.dumps(message), flush=True)


def operation(step: str, **changes: object) -> None:
    """One operation that is right, but for `changes`."""
    message: dict[str, Any] = {"cold": 0.1, "warm": 0.01, "max_error": 0.0, "elements": 65536, "not_finite": 0}
    message |= {"worst_index": 5, "worst_value": "256.0", "expected_value": "256.0", "right": True}
    message |= {"result_device": "cuda:0", "device_ms": 0.5, "device_bytes": 2**18}
    say(type="before", step=step)
    say(type="operation", step=step, **(message | changes))


def die(mode: str) -> None:
    """Ends the process the hard way; returns when the mode is none of these."""
    if mode == "segfault":
        ctypes.string_at(0)
    elif mode == "abort":
        os.abort()
    elif mode == "illegal":
        os.kill(os.getpid(), signal.SIGILL)
    elif mode == "bus":
        os.kill(os.getpid(), signal.SIGBUS)
    elif mode == "c_stack":
        faulthandler.disable()
        sys.stderr.write(C_STACK)
        sys.stderr.flush()
        os.kill(os.getpid(), signal.SIGSEGV)
    elif mode.startswith("exit_"):
        os._exit(int(mode.removeprefix("exit_")))


CHANGES: dict[str, dict[str, object]] = {
    "wrong": {"max_error": 256.0, "worst_value": "0.0", "right": False},
    "wrong_but_says_right": {"max_error": 1e-30},
    "nan": {"max_error": 1e308, "worst_value": "nan", "not_finite": 3},
    "no_error_given": {"max_error": None},
    "nothing_computed": {"elements": 0},
    "on_cpu": {"result_device": "cpu"},
    "no_memory_used": {"device_bytes": 0},
    "no_time_spent": {"device_ms": None},
}


def vocoder(mode: str, order: dict[str, Any]) -> None:
    """The vocoder's messages: a search of five seconds for each new length, and what may be wrong beside it."""
    step, lengths = order["id"], order["options"]["lengths"]
    evidence = {"result_device": "cpu" if mode == "vocoder_on_cpu" else "cuda:0", "device_ms": 1.0, "device_bytes": 1}
    cold = 5.1 if mode == "search" else 0.11
    for length in lengths[1:] if mode == "vocoder_missing" else lengths:
        say(type="vocoder_length", step=step, mels=length, cold=cold, warm=0.1, **evidence)
    for number, length in enumerate(lengths):
        say(type="vocoder_padded", step=step, mels=length, cold=0.12 if number else cold, warm=0.12, **evidence)
    facts: dict[str, Any] = {"bucket": 80, "channels": 1536, "model_channels": 1536, "dtype": "float16"}
    facts |= {"frames_differ": 14, "receptive_frames": 27, "max_error": 0.0, "not_finite": 0}
    facts |= {"vocoder_differs": {"max_error": 0.7}, "vocoder_nan": {"not_finite": 9}}.get(mode, {})
    say(type="vocoder", step=step, **facts)


def talk(mode: str, orders: list[dict[str, Any]]) -> None:
    """The ways to go wrong without dying."""
    names = [order["id"] for order in orders]
    if mode == "hang":
        time.sleep(600)
    elif mode == "rubbish":
        print("MIOpen(HIP): Warning", flush=True)
    elif mode == "chatter":
        while True:
            say(type="before", step="fp32_product")
            time.sleep(0.05)
    elif mode in CHANGES:
        for number, name in enumerate(names):
            operation(name, **(CHANGES[mode] if number == 0 else {}))
    elif mode == "two_wrong_one_refused":
        operation(names[0], **CHANGES["wrong"])
        say(type="before", step=names[1])
        say(type="operation_error", step=names[1], error="RuntimeError", message="HIPRTC_ERROR_COMPILATION")
        operation(names[2], **CHANGES["nan"])
    elif mode == "error":
        say(type="operation_error", step="fp32_product", error="RuntimeError", message="HIP error:\n invalid")
    elif mode == "lost":
        say(type="operation_error", step="fp32_product", error="RuntimeError", message="HIP error: unspecified")
        say(type="device_lost", step="fp32_product")
        return
    elif mode == "lacks_everything":
        for name in names:
            say(type="unavailable", step=name, reason="No viable backend")
    else:
        for order in orders if mode != "says_done" else []:
            say(type="before", step=order["id"])
            if mode == "lacks_flash" and order["id"].startswith("sdpa_flash"):
                say(type="unavailable", step=order["id"], reason="No viable backend")
                continue
            vocoder(mode, order) if order["function"] == "vocoder" else operation(order["id"])
    say(type="done")
    if mode == "would_not_exit":
        time.sleep(600)


def main(mode: str, request: dict[str, Any]) -> None:
    """Announces, then misbehaves."""
    orders = request["operations"]
    say(type="before", step="enumerate")
    say(type="device", **GPU_780M)
    say(type="before", step=orders[0]["id"])
    die(mode)
    talk(mode, orders)


if __name__ == "__main__":
    faulthandler.enable()
    main(os.environ["BAD_PROBE"], json.loads(sys.argv[1]))
