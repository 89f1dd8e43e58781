"""What a child leaves behind when it ends is found, named and ended."""

import signal
import sys
import time

import psutil
import pytest

from rocm_wizard.runner.child import RealChild
from rocm_wizard.runner.real import RealRunner
from tests.runner.test_real import Bench, bench, gone, posix, read

__all__ = ["bench"]

linux = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
PYTHON = psutil.Process().name()


def left_of(child: RealChild, grandchild: int, grace: float) -> tuple[str, ...]:
    """The names in the report; the grandchild is gone after."""
    report = child.stop(grace)
    assert report.forced == "none"
    assert gone(grandchild)
    return report.left


def test_a_process_of_another_session_is_left_behind(bench: Bench) -> None:
    child = bench.start("detached")
    assert left_of(child, int(read(child)), 0.5) == (PYTHON,)


def test_it_is_known_to_a_caller_that_waits_for_the_end_first(bench: Bench) -> None:
    child = bench.start("detached")
    grandchild = int(read(child))
    child.close_stdin()
    assert child.read(20) is None
    deadline = time.monotonic() + 20
    while child.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    assert left_of(child, grandchild, 0.2) == (PYTHON,)


@linux
@pytest.mark.parametrize("how", ["detached_at_the_end", "daemon"])
def test_one_that_was_never_seen_below_the_child_is_known_by_its_environment(bench: Bench, how: str) -> None:
    child = bench.start(how)
    child.close_stdin()
    grandchild = int(read(child))
    assert child.read(20) is None
    assert left_of(child, grandchild, 0.2) == (PYTHON,)


@posix
def test_one_that_stays_in_the_childs_session_is_known_by_that(bench: Bench) -> None:
    child = bench.start("orphan")
    grandchild = int(read(child))
    assert child.read(20) is None
    assert left_of(child, grandchild, 0.2) == (PYTHON,)


def test_one_that_ends_within_the_grace_is_no_fault(bench: Bench) -> None:
    child = bench.start("detached_briefly", "1")
    grandchild = int(read(child))
    started = time.monotonic()
    assert left_of(child, grandchild, 20) == ()
    assert time.monotonic() - started < 5


@posix
def test_a_killed_child_leaves_nothing(bench: Bench) -> None:
    child = bench.start("detached")
    grandchild = int(read(child))
    psutil.Process(child.pid).kill()
    assert child.read(20) is None
    assert left_of(child, grandchild, 0.2) == (PYTHON,)
    assert child.poll() == -signal.SIGKILL


def test_a_child_that_is_ended_by_force_takes_all_with_it_and_leaves_nothing(bench: Bench) -> None:
    child = bench.start("grandchild")
    grandchild = int(read(child))
    report = child.stop(grace=0.1)
    assert (report.forced, report.left) == ("terminate", ())
    assert gone(grandchild)


def test_healthy_children_end_at_once(bench: Bench) -> None:
    child = bench.start("echo")
    child.send(b"one\n", 5)
    read(child)
    started = time.monotonic()
    assert child.stop(grace=20).left == ()
    assert time.monotonic() - started < 3


def test_the_runners_end_takes_detached_processes_too(bench: Bench) -> None:
    grandchild = int(read(bench.start("detached")))
    runner: RealRunner = bench.runner
    runner.stop_all()
    assert gone(grandchild)
