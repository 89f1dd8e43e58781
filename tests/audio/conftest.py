import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from .pulse_server import PulseServer, require_tools


@pytest.fixture(scope="session")
def pulse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PulseServer]:
    """One server for every test that leaves its sinks alone."""
    _linux_only()
    with PulseServer(tmp_path_factory.mktemp("pulse")) as server:
        yield server


@pytest.fixture
def own_pulse(tmp_path: Path) -> Iterator[PulseServer]:
    """A server for a test that takes it apart."""
    _linux_only()
    with PulseServer(tmp_path) as server:
        yield server


def _linux_only() -> None:
    if sys.platform != "linux":
        pytest.skip("null sinks in place of a sound card need PulseAudio on Linux")
    require_tools()
