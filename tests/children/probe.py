"""A compute probe that goes wrong. Run like the real one: `python probe.py <JSON>`; the device names the way."""

import ctypes
import json
import os
import signal
import sys
import time


def say(**message: object) -> None:
    """One message."""
    print(json.dumps(message), flush=True)


def right(step: str) -> None:
    """One operation that is right."""
    say(type="before", step=step)
    say(type="operation", step=step, right=True, cold=0.1, warm=0.01, max_error=0.0, tolerance=0.0, elements=1)


def main(mode: str) -> None:
    """Announces, then misbehaves."""
    say(type="before", step="enumerate")
    say(type="device", device="cuda:0", name="AMD Radeon 780M Graphics", gfx="gfx1103", memory=2**29, count=1)
    say(type="before", step="fp32_product")
    if mode == "segfault":
        ctypes.string_at(0)
    elif mode == "abort":
        os.abort()
    elif mode == "illegal":
        os.kill(os.getpid(), signal.SIGILL)
    elif mode == "hang":
        time.sleep(600)
    elif mode == "rubbish":
        print("MIOpen(HIP): Warning", flush=True)
    elif mode == "exit_7":
        os._exit(7)
    elif mode == "wrong":
        say(
            type="operation",
            step="fp32_product",
            right=False,
            cold=0.1,
            warm=0.1,
            max_error=256.0,
            tolerance=0.0,
            worst_index=5,
            worst_value="0.0",
            expected_value="256.0",
            elements=65536,
        )
        say(type="done")
    elif mode == "error":
        say(type="operation_error", step="fp32_product", error="RuntimeError", message="HIP error:\n invalid")
    elif mode == "says_done":
        say(type="done")
    elif mode == "would_not_exit":
        for step in ("fp32_product", "conv1d", "fft"):
            right(step)
        say(type="done")
        time.sleep(600)


if __name__ == "__main__":
    main(os.environ.get("BAD_PROBE") or json.loads(sys.argv[1])["device"])
