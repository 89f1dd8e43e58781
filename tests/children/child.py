"""A child that misbehaves in one chosen way. Standard library only; run as `python child.py MODE [ARGUMENT]`."""

import ctypes
import os
import signal
import subprocess
import sys
import time

WAIT = 600


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


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "")
