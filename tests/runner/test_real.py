"""The runner against real children that misbehave."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from rocm_wizard.qualification import events as ev
from rocm_wizard.qualification.stage import Cancelled, CancelToken
from rocm_wizard.runner.child import RealChild
from rocm_wizard.runner.real import RealRunner
from rocm_wizard.runner.spec import ChildGone, ChildSpec, ChildTimeout, LineTooLong, StartFailed

CHILD = Path(__file__).parent.parent / "children" / "child.py"
posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")


class Bench:
    """A runner whose events are kept."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.events: list[ev.Event] = []
        self.runner = RealRunner(self.events.append, folder / "logs")
        self.cancel = CancelToken()

    def start(
        self, *arguments: str, line_limit: int = 2**20, environment: dict[str, str | None] | None = None
    ) -> RealChild:
        """Starts child.py with these arguments."""
        argv = [sys.executable, "-I", str(CHILD), *arguments]
        spec = ChildSpec("test child", argv, self.folder, environment or {}, line_limit)
        return self.runner.start(spec, "stage", self.cancel)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """A bench in a folder whose name has blanks and Chinese characters."""
    folder = tmp_path / "my folder 工作"
    folder.mkdir()
    found = Bench(folder)
    yield found
    found.runner.stop_all()


def read(child: RealChild) -> bytes:
    """The next line's bytes."""
    line = child.read(20)
    assert line is not None
    return line.data


def test_lines_go_in_and_come_out(bench: Bench) -> None:
    child = bench.start("echo")
    for text in (b"one", b"", "三".encode()):
        child.send(text + b"\n", 5)
        assert read(child) == text
    report = child.stop()
    assert (report.code, report.forced) == (0, "none")
    assert child.read(5) is None


def test_a_last_line_without_newline_is_not_lost(bench: Bench) -> None:
    assert read(bench.start("partial")) == b"no newline at the end"


def test_megabytes_of_stderr_neither_block_the_child_nor_the_answer(bench: Bench) -> None:
    child = bench.start("flood_stderr", "30000")
    assert read(child) == b'{"type":"survived"}'
    report = child.stop()
    assert report.code == 0
    log = bench.folder / "logs" / "test-child.log"
    assert len(log.read_text(encoding="utf-8").splitlines()) == 30000, "the file has every line"
    told = [event for event in bench.events if isinstance(event, ev.LogLines)]
    assert sum(len(event.lines) + event.dropped for event in told) == 30000
    assert sum(len(event.lines) for event in told) < 5000, "the journal must not carry a flood"
    assert len(child.stderr_tail()) == 200


def told(bench: Bench) -> list[str | int]:
    """What the journal has of the child's stderr: lines, and how many were dropped between them."""
    found: list[str | int] = []
    for event in bench.events:
        if isinstance(event, ev.LogLines):
            found += [*event.lines, *([event.dropped] if event.dropped else [])]
    return found


@pytest.mark.parametrize("sizes", ["149", "149,30", "30,1000,90,5", "199"])
def test_the_last_200_lines_of_a_child_are_in_the_journal_in_their_order(bench: Bench, sizes: str) -> None:
    child = bench.start("bursts", sizes)
    assert child.read(20) is None
    child.stop()
    count = sum(map(int, sizes.split(",")))
    error, number = "RuntimeError: out of memory", 0
    for item in told(bench):  # neither twice nor out of order; what is dropped is counted where it was
        if isinstance(item, int):
            number += item
        else:
            assert item == (f"frame {number}" if number < count else error)
            number += 1
    assert number == count + 1
    expected = [f"frame {n}" for n in range(max(0, count - 199), count)] + [error]
    assert told(bench)[-len(expected) :] == expected == child.stderr_tail()
    assert isinstance(bench.events[-1], ev.ChildEnded)


def test_a_silent_childs_lines_reach_the_journal_while_somebody_waits_for_it(bench: Bench) -> None:
    child = bench.start("bursts", "149,wait")
    deadline = time.monotonic() + 20
    while len(told(bench)) < 149 and time.monotonic() < deadline:
        with pytest.raises(ChildTimeout):
            child.read(0.1)
    assert told(bench) == [f"frame {n}" for n in range(149)]


@posix
def test_the_last_lines_do_not_wait_for_a_process_that_holds_the_pipe_open(bench: Bench) -> None:
    child = bench.start("left_behind")
    orphan = psutil.Process(int(read(child)))
    try:
        assert child.read(20) is None
        child.stop(grace=0.2)
        assert told(bench) == [*(f"frame {n}" for n in range(149)), "RuntimeError: out of memory"]
    finally:
        with suppress(psutil.NoSuchProcess):
            orphan.kill()


def test_a_line_over_the_limit_is_an_error_and_stays_one(bench: Bench) -> None:
    child = bench.start("long_line", "300000", line_limit=100_000)
    for _ in range(2):
        with pytest.raises(LineTooLong):
            child.read(20)


def test_a_long_line_within_the_limit_arrives_whole(bench: Bench) -> None:
    assert read(bench.start("long_line", "900000")) == b"y" * 900000


def test_silence_ends_at_the_deadline(bench: Bench) -> None:
    child = bench.start("not_reading")
    assert read(child) == b"here"
    started = time.monotonic()
    with pytest.raises(ChildTimeout):
        child.read(0.5)
    assert 0.4 < time.monotonic() - started < 3


def test_a_child_that_does_not_read_does_not_hold_us(bench: Bench) -> None:
    child = bench.start("not_reading")
    with pytest.raises(ChildTimeout):
        child.send(b"z" * 5_000_000, 0.5)


def test_a_dead_child_takes_no_input(bench: Bench) -> None:
    child = bench.start("exit", "0")
    assert child.read(20) is None
    with pytest.raises(ChildGone):
        for _ in range(3):
            child.send(b"x" * 100_000 + b"\n", 5)


def test_cancel_wakes_a_waiting_read(bench: Bench) -> None:
    child = bench.start("not_reading")
    assert read(child) == b"here"
    threading.Timer(0.3, bench.cancel.cancel).start()
    with pytest.raises(Cancelled):
        child.read(60)


def test_stopping_takes_the_grandchildren_too(bench: Bench) -> None:
    child = bench.start("grandchild")
    grandchild = int(read(child))
    child.stop(grace=0.1)
    assert not psutil.pid_exists(child.pid) or psutil.Process(child.pid).status() == psutil.STATUS_ZOMBIE
    assert gone(grandchild)


@posix
def test_what_a_dead_child_left_behind_goes_too(bench: Bench) -> None:
    child = bench.start("orphan")
    orphan = int(read(child))
    assert child.read(20) is None, "the orphan holds stdout open, but the child itself is gone"
    child.stop(grace=0.2)
    assert gone(orphan)


def gone(pid: int) -> bool:
    """Whether a process is no longer there, within two seconds."""
    deadline = time.monotonic() + 2
    while time.monotonic() < deadline:
        if not psutil.pid_exists(pid):
            return True
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.02)
    return False


@posix
def test_a_child_deaf_to_terminate_is_killed(bench: Bench) -> None:
    child = bench.start("ignore_polite")
    assert read(child) == b"deaf"
    report = child.stop(grace=0.1)
    assert (report.forced, report.code) == ("kill", -9)
    assert bench.events[-1] == ev.ChildEnded("stage", "test child", -9, str(report.meaning), "kill", report.seconds)


@posix
@pytest.mark.parametrize(
    ("arguments", "name", "crashed"),
    [
        (("segfault",), "SIGSEGV", True),
        (("signal", "6"), "SIGABRT", True),
        (("signal", "4"), "SIGILL", True),
        (("signal", "9"), "SIGKILL", True),
        (("exit", "3"), "exit code 3", False),
    ],
)
def test_ends_are_named(bench: Bench, arguments: tuple[str, ...], name: str, crashed: bool) -> None:
    child = bench.start(*arguments)
    assert child.read(20) is None
    meaning = child.stop().meaning
    assert meaning.name == name
    assert meaning.crashed is crashed


def test_escape_sequences_never_leave_the_runner(bench: Bench) -> None:
    child = bench.start("escape")
    assert child.read(20) is None
    child.stop()
    assert child.stderr_tail() == ["100%", "after"]
    log = (bench.folder / "logs" / "test-child.log").read_text(encoding="utf-8")
    assert "\x1b" not in log


def test_environment_changes_and_secrets(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/somewhere")
    changes = {"HF_TOKEN": "hf_secret", "PYTHONPATH": None, "TTS_DEVICE": "cpu"}
    assert read(bench.start("environment", "HF_TOKEN", environment=changes)) == b"hf_secret"
    assert read(bench.start("environment", "PYTHONPATH", environment=changes)) == b"(unset)"
    started = next(event for event in bench.events if isinstance(event, ev.ChildStarted))
    assert started.environment == {"HF_TOKEN": "***", "PYTHONPATH": None, "TTS_DEVICE": "cpu"}
    assert started.argv[-1] == "HF_TOKEN"


def test_a_secret_is_not_told_by_the_command_by_stderr_or_by_the_spec_itself(bench: Bench) -> None:
    child = bench.start("bursts", "2", "frame 1", environment={"HF_TOKEN": "frame 1", "OTHER": "frame 0"})
    assert "frame 1" not in repr(replace(child.spec, argv=(), hidden=frozenset({"frame 1"})))
    assert child.read(20) is None
    child.stop()
    started = next(event for event in bench.events if isinstance(event, ev.ChildStarted))
    assert started.argv[-1] == "***"
    assert told(bench) == child.stderr_tail() == ["frame 0", "***", "RuntimeError: out of memory"]


def test_a_missing_program_says_so(bench: Bench) -> None:
    spec = ChildSpec("nothing", [str(bench.folder / "no such program")], bench.folder)
    with pytest.raises(StartFailed) as caught:
        bench.runner.start(spec, "stage", bench.cancel)
    assert caught.value.reason


def test_stop_all_leaves_nothing(bench: Bench) -> None:
    children = [bench.start("not_reading") for _ in range(3)]
    bench.runner.stop_all()
    assert all(child.poll() is not None for child in children)
