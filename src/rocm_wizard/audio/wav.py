"""WAV files: written whole or not at all, never over another file."""

import hashlib
import io
import os
import tempfile
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocm_wizard.audio.sound_file import NoSound, mixed_to_mono, read_frames, read_header

Subtype = Literal["PCM_16", "FLOAT"]
_HASH_BLOCK = 1 << 20


def write_wav(path: Path, samples: ArrayLike, rate: int, subtype: Subtype = "PCM_16") -> None:
    """Writes mono float samples (1-D). PCM_16 rounds and limits them to full scale; FLOAT keeps every bit.

    Raises FileExistsError when `path` exists, ValueError for NaN, infinity or more than one dimension, OSError when the
    folder cannot be written. A reader sees the whole file or none: it is written beside `path` and then moved.
    """
    import soundfile

    wave = np.asarray(samples, np.float32)
    if wave.ndim != 1 or not np.isfinite(wave).all():
        raise ValueError("a mono WAV needs one dimension of finite samples")
    if path.exists():
        raise FileExistsError(f"{path} exists")
    # libsndfile asserts where a disk refuses: it writes to memory, and the system's own error comes from our write.
    whole = io.BytesIO()
    try:
        soundfile.write(whole, _quantise(wave) if subtype == "PCM_16" else wave, rate, subtype, format="WAV")
    except soundfile.LibsndfileError as error:
        raise OSError(f"{path} could not be written: {error}") from error
    handle, name = tempfile.mkstemp(prefix=f".{path.stem}.", suffix=".tmp", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(whole.getbuffer())
            file.flush()
            os.fsync(file.fileno())
        _publish(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def read_audio(path: Path) -> tuple[NDArray[np.float32], int]:
    """Any file libsndfile reads, as mono float32 (channels averaged) and its rate.

    Raises FileNotFoundError, another OSError, or ValueError when it is no sound file or holds NaN or infinity.
    """
    try:
        header = read_header(path)
        return mixed_to_mono(read_frames(path, -1)), header.rate
    except NoSound as error:
        raise ValueError(f"{path.name} is not a readable sound file: {error}") from error


def unused_path(path: Path) -> Path:
    """`path`, or the first of `name-2.wav`, `name-3.wav`... that does not exist."""
    candidate, number = path, 1
    while candidate.exists():
        number += 1
        candidate = path.with_name(f"{path.stem}-{number}{path.suffix}")
    return candidate


def file_sha256(path: Path) -> str:
    """SHA-256 of the file's bytes, lower-case hexadecimal."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_HASH_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def _quantise(wave: NDArray[np.float32]) -> NDArray[np.int16]:
    # Done here: libsndfile truncates, and wraps around beyond full scale unless told otherwise.
    return np.clip(np.rint(wave * np.float32(32768)), -32768, 32767).astype(np.int16)


def _publish(temporary: Path, path: Path) -> None:
    """Takes the name with an empty file first: a move alone would replace what another process wrote meanwhile."""
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    try:
        temporary.replace(path)
    except OSError:
        path.unlink(missing_ok=True)
        raise
