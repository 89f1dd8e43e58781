"""The recordings that the ASR smoke sends: the bundled ones, or the person's own."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from rocm_wizard.assets import asset

ALLOWED_ERROR = 0.10
"""Error rate up to which a transcript counts as right, where the recording's entry says nothing else."""


@dataclass(frozen=True, slots=True)
class Recording:
    """An utterance on disk.

    `language`: full English name, None where nobody named it. `transcript` None: nobody has written down what is said
    in it. `sha256`: of the file's bytes, for bundled recordings.
    """

    file: Path
    language: str | None
    transcript: str | None
    sha256: str | None = None
    id: str = ""
    allowed_error: float = ALLOWED_ERROR


def bundled_recordings() -> list[Recording]:
    """Every recording of `assets/audio/recordings.toml`, in its order."""
    return [_recording(entry) for entry in _entries()]


def bundled_recording(recording_id: str | None = None) -> Recording:
    """A recording of `assets/audio/recordings.toml`, the first one without an id.

    Raises:
        KeyError: there is no such recording.
    """
    for recording in bundled_recordings():
        if recording_id in (None, recording.id):
            return recording
    raise KeyError(recording_id)


def recording_for(language: str) -> Recording | None:
    """The first bundled recording in a language (full English name); None: there is none."""
    return next((recording for recording in bundled_recordings() if recording.language == language), None)


def _recording(entry: dict[str, Any]) -> Recording:
    return Recording(
        asset("audio", entry["file"]),
        entry["language"],
        entry["transcript"],
        entry["sha256"],
        entry["id"],
        entry.get("allowed_error", ALLOWED_ERROR),
    )


@cache
def _entries() -> list[dict[str, Any]]:
    with asset("audio", "recordings.toml").open("rb") as file:
        return tomllib.load(file)["recording"]
