"""The bench as a fixture."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.stages.bench import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """A session in a folder with a blank and Chinese characters in its name."""
    folder = tmp_path / "run folder 运行"
    folder.mkdir()
    found = Bench(folder)
    yield found
    found.runner.stop_all()
    found.journal.close()
