"""A child whose stderr nobody reads, as the host leaves its recogniser's."""

import sys
import time

import pytest

from rocm_wizard.runner.child import RealChild
from rocm_wizard.runner.spec import ChildSpec, ChildTimeout
from tests.runner.test_real import CHILD, Bench, bench, read

__all__ = ["bench"]


def start(bench: Bench, *arguments: str) -> RealChild:
    argv = [sys.executable, "-I", str(CHILD), *arguments]
    return bench.runner.start(ChildSpec("test child", argv, bench.folder, undrained=True), "stage", bench.cancel)


def log(bench: Bench) -> str:
    return (bench.folder / "logs" / "test-child.log").read_text(encoding="utf-8")


def test_what_fits_is_counted_before_it_is_read(bench: Bench) -> None:
    child = start(bench, "logs", "3200")
    assert read(child) == b"logged"
    assert (child.stderr_bytes(), child.stderr_lines(), child.stderr_tail()) == (3200, 0, [])
    report = child.stop()
    assert (report.code, report.forced) == (0, "none")
    assert (child.stderr_bytes(), child.stderr_lines(), len(log(bench))) == (3200, 50, 3200)


@pytest.mark.skipif(sys.platform == "darwin", reason="its pipes are larger")
def test_what_does_not_fit_stops_the_child_until_it_is_read(bench: Bench) -> None:
    child = start(bench, "logs", "8192")
    with pytest.raises(ChildTimeout):
        child.read(1.0)
    assert child.stderr_bytes() <= 4096
    child.drain()
    assert read(child) == b"logged"
    assert child.stop().code == 0
    assert len(log(bench)) == child.stderr_bytes() == 8192


@pytest.mark.skipif(sys.platform == "darwin", reason="its pipes are larger")
def test_stopping_reads_the_rest(bench: Bench) -> None:
    child = start(bench, "logs", "8192")
    deadline = time.monotonic() + 20
    while child.stderr_bytes() < 4096 - 64 and time.monotonic() < deadline:
        time.sleep(0.02)
    report = child.stop(grace=20)
    assert (report.code, report.forced, len(log(bench))) == (0, "none", 8192)


def test_a_child_that_ends_by_itself_has_last_words(bench: Bench) -> None:
    child = start(bench, "escape")
    assert child.read(20) is None
    deadline = time.monotonic() + 20
    while child.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    assert child.stderr_tail() == ["100%", "after"]
