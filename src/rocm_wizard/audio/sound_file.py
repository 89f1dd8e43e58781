"""Sound files of people: looked at before they are read, whatever libsndfile knows (WAV, FLAC, OGG, MP3 ...)."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

RATES = range(1_000, 768_001)
"""Sample rates in hertz of sound that somebody recorded; another one is damage, or made to exhaust the reader."""
_STREAMED = (0, 0xFFFFFFFF)
"""Sizes that a writer leaves when it cannot go back: they promise nothing."""


class NoSound(ValueError):
    """The bytes are no sound that can be read; the message says why, without the file's name."""


@dataclass(frozen=True, slots=True)
class SoundHeader:
    """What a file says about itself."""

    frames: int
    rate: int
    channels: int
    format: str

    @property
    def seconds(self) -> float:
        """The length that the header tells."""
        return self.frames / self.rate


def read_header(path: Path) -> SoundHeader:
    """The file's own description; the sound is not decoded.

    Raises OSError, and `NoSound` when it is no sound file or its rate is none of `RATES`.
    """
    import soundfile

    with path.open("rb") as file:
        try:
            with soundfile.SoundFile(file) as sound:
                name = f"{sound.format} {sound.subtype}"
                header = SoundHeader(sound.frames, sound.samplerate, sound.channels, name)
        except soundfile.LibsndfileError as error:
            raise NoSound(error.error_string) from error
    if header.rate not in RATES:
        raise NoSound(f"its header says {header.rate} Hz; {RATES.start} to {RATES.stop - 1} Hz are read")
    return header


def read_frames(path: Path, most: int) -> NDArray[np.float32]:
    """At most `most` frames from the beginning, shape (frames, channels), full scale at 1.0.

    Raises OSError, and `NoSound` when decoding breaks off or a sample is NaN or infinite.
    """
    import soundfile

    with path.open("rb") as file:
        try:
            with soundfile.SoundFile(file) as sound:
                frames = sound.read(most, dtype="float32", always_2d=True)
        except soundfile.LibsndfileError as error:
            raise NoSound(error.error_string) from error
    if not np.isfinite(frames).all():
        raise NoSound("it holds NaN or infinity")
    return np.asarray(frames, np.float32)


def mixed_to_mono(frames: NDArray[np.float32]) -> NDArray[np.float32]:
    """The mean of the channels, shape (frames,)."""
    if frames.shape[1] == 1:
        return np.ascontiguousarray(frames[:, 0])
    return frames.mean(axis=1, dtype=np.float64).astype(np.float32)


def missing_bytes(path: Path) -> int:
    """How many bytes of sound a WAV file promises beyond its end; 0 for every other format. Raises OSError."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(0)
        head = file.read(12)
        if head[:4] != b"RIFF" or head[8:12] != b"WAVE":
            return 0
        while len(chunk := file.read(8)) == 8:
            length = int.from_bytes(chunk[4:], "little")
            if chunk[:4] == b"data":
                return 0 if length in _STREAMED else max(0, file.tell() + length - size)
            file.seek(length + length % 2, 1)
    return 0
