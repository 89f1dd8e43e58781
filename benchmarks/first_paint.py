"""First painted frame: the wizard against a hello-world Textual app, in turns, in one run. POSIX only (a pty).

`python benchmarks/first_paint.py [ROUNDS]` prints the median seconds from the start of the process to the first frame
that holds the program's own words, and the ratio (budget: 1.3).
"""

import fcntl
import os
import pty
import select
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time

HELLO = (
    "from textual.app import App\nfrom textual.widgets import Label\n"
    "class H(App):\n def compose(self): yield Label('HELLOWORLD')\nH().run()"
)


def seconds_to(word: bytes, argv: list[str]) -> float:
    """Starts a program in a 120x40 terminal and waits for a word on its screen."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    environment = {k: v for k, v in os.environ.items() if k not in ("CI", "ACCESSIBLE")} | {"TERM": "xterm-256color"}
    started = time.perf_counter()
    process = subprocess.Popen(
        argv, stdin=follower, stdout=follower, stderr=follower, env=environment, start_new_session=True
    )
    seen = b""
    try:
        while word not in seen:
            if time.perf_counter() - started > 60:
                raise TimeoutError(f"{word!r} not within a minute; the end of the screen: {seen[-300:]!r}")
            if select.select([leader], [], [], 0.5)[0]:
                seen += os.read(leader, 65536)
        return time.perf_counter() - started
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(5)
        os.close(leader)
        os.close(follower)


def main(rounds: int) -> None:
    """Measures in turns, so that both see the same machine."""
    hello: list[float] = []
    wizard: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        wizard_argv = [sys.executable, "-m", "rocm_wizard", "--runs-dir", folder]
        for round_ in range(rounds + 1):
            times = seconds_to(b"HELLOWORLD", [sys.executable, "-c", HELLO]), seconds_to(b"rocm-wizard", wizard_argv)
            if round_:  # the first round warms the disk
                hello.append(times[0])
                wizard.append(times[1])
    ours, theirs = statistics.median(wizard), statistics.median(hello)
    print(f"hello world  {theirs:.3f} s (median of {rounds})")
    print(f"wizard       {ours:.3f} s")
    print(f"ratio        {ours / theirs:.2f} (budget 1.30)")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 9)
