"""Human speech for tests: the bundled recordings, cut into blocks."""

from typing import Any

import numpy as np

from rocm_wizard.audio.wav import read_audio
from rocm_wizard.stages.recordings import bundled_recordings


def recordings() -> list[tuple[Any, int]]:
    """Samples and rate of each."""
    return [read_audio(recording.file) for recording in bundled_recordings()]


def blocks_of(samples: Any, rate: int, seconds: float) -> list[Any]:
    """Blocks of equal length; the last may be shorter."""
    size = int(seconds * rate)
    return np.split(samples, range(size, len(samples), size))
