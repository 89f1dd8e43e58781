"""The recordings that the ASR smoke sends: the bundled one, or the person's own."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from rocm_wizard.assets import asset


@dataclass(frozen=True, slots=True)
class Recording:
    """An utterance on disk. `transcript` None: nobody has written down what is said in it."""

    file: Path
    language: str
    transcript: str | None
    sha256: str | None = None


def bundled_recording(recording_id: str | None = None) -> Recording:
    """A recording of `assets/audio/recordings.toml`, the first one without an id.

    Raises:
        KeyError: there is no such recording.
    """
    with asset("audio", "recordings.toml").open("rb") as file:
        entries = tomllib.load(file)["recording"]
    for entry in entries:
        if recording_id in (None, entry["id"]):
            path = asset("audio", entry["file"])
            return Recording(path, entry["language"], entry["transcript"], entry["sha256"])
    raise KeyError(recording_id)
