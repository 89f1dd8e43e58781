"""Fixtures of the wizard's tests."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.tui.scripted_stages import Step, Wizard


@pytest.fixture
def make_wizard(tmp_path: Path) -> Iterator[Callable[..., Wizard]]:
    """Builds a wizard whose journal lies in the test's folder; closes the journal afterwards."""
    made: list[Wizard] = []

    def make(*stages: Step, **options: Any) -> Wizard:
        made.append(Wizard(tmp_path, stages, **options))
        return made[-1]

    yield make
    for wizard in made:
        wizard.journal.close()
