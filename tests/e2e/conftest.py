"""The audio server for whole runs."""

from tests.audio.conftest import own_pulse, pulse

__all__ = ["own_pulse", "pulse"]
