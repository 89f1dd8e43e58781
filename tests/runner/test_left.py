"""What a child leaves behind when it ends is found, named and ended."""

import signal
import sys
import threading
import time

import psutil
import pytest

from rocm_wizard.qualification import events as ev
from rocm_wizard.runner import family
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


@posix
def test_a_server_of_the_desktop_stays_though_the_child_has_started_it(bench: Bench) -> None:
    server = bench.folder / "pulseaudio"
    server.symlink_to("/bin/sleep")
    child = bench.start("detached_program", str(server))
    found = psutil.Process(int(read(child)))
    try:
        assert child.stop(0.5).left == ()
        assert found.is_running() and found.name() == "pulseaudio"
    finally:
        found.kill()


def test_a_look_waits_for_that_of_another_thread(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """`stop_all` comes from another thread than the one that talks to the child; neither may lose what it saw."""
    child = bench.start("grandchild")
    grandchild = int(read(child))
    inside, most, below = 0, 0, family._below

    def slowly(process: psutil.Process) -> list[psutil.Process]:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        time.sleep(0.05)
        inside -= 1
        return below(process)

    monkeypatch.setattr(family, "_below", slowly)
    looks = [threading.Thread(target=child.close_stdin) for _ in range(4)]
    for look in looks:
        look.start()
    for look in looks:
        look.join()
    assert most == 1
    bench.runner.stop_all()
    assert gone(grandchild)


def test_one_child_that_cannot_be_stopped_keeps_none_of_the_others_alive(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    grandchildren = [int(read(bench.start("grandchild"))) for _ in range(2)]
    broken = bench.start("grandchild")
    grandchildren += [int(read(broken)), int(read(bench.start("grandchild")))]
    events = list(bench.events)

    def fail(event: object) -> None:
        if isinstance(event, ev.ChildEnded) and len(bench.events) == len(events):
            bench.events.append(event)
            raise OSError("the disk is full")

    monkeypatch.setattr(bench.runner, "emit", fail)
    with pytest.raises(OSError, match="the disk is full"):
        bench.runner.stop_all()
    assert all(gone(grandchild) for grandchild in grandchildren)


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
