"""A child that misbehaves in one chosen way. Standard library only; run as `python child.py MODE [ARGUMENT]`."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

WAIT = 600


def detached(seconds: float, *program: str) -> int:
    """A process with a session of its own, which no group signal reaches, and without our pipes.

    `program`: what takes the seconds as its argument; Python's sleep without one.
    """
    argv = [*program, str(seconds)] if program else [sys.executable, "-c", f"import time; time.sleep({seconds})"]
    nothing = subprocess.DEVNULL
    return subprocess.Popen(argv, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True).pid


def main(mode: str, argument: str) -> None:
    """Does what the mode says."""
    if mode == "echo":
        for line in sys.stdin:
            print(line, end="", flush=True)
    elif mode == "flood_stderr":
        for _ in range(int(argument)):
            sys.stderr.write("x" * 1023 + "\n")
        print('{"type":"survived"}', flush=True)
    elif mode == "long_line":
        print("y" * int(argument), flush=True)
        time.sleep(WAIT)
    elif mode == "grandchild":
        code = f"import time; time.sleep({WAIT})"
        child = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.DEVNULL)
        print(child.pid, flush=True)
        time.sleep(WAIT)
    elif mode == "detached":
        print(detached(WAIT), flush=True)
        sys.stdin.read()
    elif mode == "detached_program":
        print(detached(WAIT, argument), flush=True)
        sys.stdin.read()
    elif mode == "detached_at_the_end":
        sys.stdin.read()
        print(detached(WAIT), flush=True)
    elif mode == "daemon":
        code = f"import child; print(child.detached({WAIT}))"
        print(
            subprocess.check_output([sys.executable, "-c", code], cwd=Path(__file__).parent, text=True),
            end="",
            flush=True,
        )
        sys.stdin.read()
    elif mode == "detached_briefly":
        print(detached(float(argument)), flush=True)
        sys.stdin.read()
    elif mode == "logs":
        for _ in range(int(argument) // 64):
            sys.stderr.write("x" * 63 + "\n")
        print("logged", flush=True)
        sys.stdin.read()
    elif mode == "orphan":
        code = f"import time; time.sleep({WAIT})"
        print(subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.DEVNULL).pid, flush=True)
    elif mode == "ignore_polite":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        print("deaf", flush=True)
        while True:
            time.sleep(WAIT)
    elif mode == "not_reading":
        print("here", flush=True)
        time.sleep(WAIT)
    elif mode == "segfault":
        ctypes.string_at(0)
    elif mode == "signal":
        os.kill(os.getpid(), int(argument))
        time.sleep(WAIT)
    elif mode == "exit":
        os._exit(int(argument))
    elif mode == "escape":
        sys.stderr.write("\x1b]0;owned\x07\x1b[31mred\x1b[0m 10%\r50%\r100%\n\x1b]52;c;ZXZpbA==\x07after\n")
    elif mode == "environment":
        print(os.environ.get(argument, "(unset)"), flush=True)
    elif mode == "partial":
        sys.stdout.write("no newline at the end")
    elif mode == "bursts":
        bursts(argument)
    elif mode == "left_behind":
        code = f"import time; time.sleep({WAIT})"
        print(subprocess.Popen([sys.executable, "-c", code], start_new_session=True).pid, flush=True)
        bursts("149")
        os._exit(1)


def bursts(sizes: str) -> None:
    """Numbered frames on stderr, so many at once; then an error line, or `wait`."""
    number = 0
    for size in sizes.split(","):
        if size == "wait":
            time.sleep(WAIT)
        os.write(2, "".join(f"frame {number + n}\n" for n in range(int(size))).encode("ascii"))
        number += int(size)
        time.sleep(0.15)
    os.write(2, b"RuntimeError: out of memory\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "")
