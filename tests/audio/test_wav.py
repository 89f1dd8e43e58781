import errno
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rocm_wizard.audio.sound_file import NoSound, read_header
from rocm_wizard.audio.wav import file_sha256, read_audio, unused_path, write_wav


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "录音 with blanks"
    path.mkdir()
    return path


@given(samples=arrays(np.float32, st.integers(0, 200), elements=st.floats(-3, 3, width=32)))
def test_float_keeps_every_bit_and_16_bit_is_within_half_a_step(
    tmp_path_factory: pytest.TempPathFactory, samples: np.ndarray
) -> None:
    folder = tmp_path_factory.mktemp("wav")
    write_wav(folder / "float.wav", samples, 24_000, "FLOAT")
    read, rate = read_audio(folder / "float.wav")
    assert (rate, read.dtype) == (24_000, np.float32)
    assert np.array_equal(read, samples)
    write_wav(folder / "pcm.wav", samples, 16_000)
    read, rate = read_audio(folder / "pcm.wav")
    assert rate == 16_000
    assert np.abs(read - np.clip(samples, -1, 32767 / 32768)).max(initial=0) <= 0.5 / 32768


def test_subtypes_in_the_file(folder: Path) -> None:
    write_wav(folder / "a.wav", [0.0, 0.5], 24_000)
    write_wav(folder / "b.wav", [0.0, 0.5], 24_000, "FLOAT")
    assert [soundfile.info(folder / name).subtype for name in ("a.wav", "b.wav")] == ["PCM_16", "FLOAT"]
    assert soundfile.info(folder / "a.wav").format == "WAV"


def test_never_over_another_file(folder: Path) -> None:
    path = folder / "tts-smoke.wav"
    assert unused_path(path) == path
    path.write_bytes(b"precious")
    with pytest.raises(FileExistsError):
        write_wav(path, [0.0], 24_000)
    assert path.read_bytes() == b"precious"
    assert unused_path(path).name == "tts-smoke-2.wav"
    write_wav(unused_path(path), [0.0], 24_000)
    assert unused_path(path).name == "tts-smoke-3.wav"


@pytest.mark.parametrize("samples", [[float("nan")], [float("inf")], [[0.0], [0.0]]])
def test_a_refused_write_leaves_nothing_behind(folder: Path, samples: list[float]) -> None:
    with pytest.raises(ValueError, match="finite"):
        write_wav(folder / "a.wav", samples, 24_000)
    with pytest.raises(FileNotFoundError):
        write_wav(folder / "missing" / "a.wav", [0.0], 24_000)
    with pytest.raises(OSError, match="could not be written"):
        write_wav(folder / "a.wav", [0.0], 0)
    assert list(folder.iterdir()) == []


def test_reads_other_formats_and_averages_channels(folder: Path) -> None:
    left, right = np.full(2000, 0.5), np.full(2000, -0.25)
    soundfile.write(folder / "stereo.flac", np.stack((left, right), axis=1), 44_100)
    samples, rate = read_audio(folder / "stereo.flac")
    assert (rate, samples.shape) == (44_100, (2000,))
    assert np.abs(samples - 0.125).max() < 1e-4


def test_what_cannot_be_read(folder: Path) -> None:
    (folder / "text.wav").write_text("not sound", encoding="utf-8")
    with pytest.raises(ValueError, match=r"text\.wav is not a readable sound file"):
        read_audio(folder / "text.wav")
    with pytest.raises(FileNotFoundError):
        read_audio(folder / "none.wav")
    soundfile.write(folder / "nan.wav", np.array([0.0, np.nan]), 24_000, subtype="FLOAT")
    with pytest.raises(ValueError, match="NaN"):
        read_audio(folder / "nan.wav")


def with_rate(file: Path, rate: int) -> Path:
    """A WAV file of a tenth of a second whose header says `rate`."""
    soundfile.write(file, np.full(1600, 0.25), 16_000, subtype="PCM_16")
    content = bytearray(file.read_bytes())
    content[24:28] = rate.to_bytes(4, "little")
    file.write_bytes(content)
    return file


@pytest.mark.parametrize("rate", [0, 1, 999, 768_001, 2**31 - 1, 2**32 - 1])
def test_a_rate_that_nobody_records_at_is_refused(folder: Path, rate: int) -> None:
    file = with_rate(folder / "rate.wav", rate)
    with pytest.raises(NoSound):
        read_header(file)
    with pytest.raises(ValueError, match=r"rate\.wav is not a readable sound file"):
        read_audio(file)


@pytest.mark.parametrize("rate", [1000, 44_101, 768_000])
def test_a_rate_within_the_limits_is_read(folder: Path, rate: int) -> None:
    file = with_rate(folder / "rate.wav", rate)
    assert (read_header(file).rate, read_audio(file)[1]) == (rate, rate)


def test_hash_is_of_the_whole_file(folder: Path) -> None:
    data = bytes(range(256)) * 5000
    (folder / "big.bin").write_bytes(data)
    assert file_sha256(folder / "big.bin") == hashlib.sha256(data).hexdigest()


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="mounts a tiny file system")
def test_a_full_disk_is_an_os_error_and_leaves_no_part(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        with pytest.raises(OSError) as caught:
            write_wav(disk / "a.wav", np.zeros(100_000, np.float32), 24_000)
        assert caught.value.errno == errno.ENOSPC
        assert list(disk.iterdir()) == []
    finally:
        subprocess.run(["umount", str(disk)], check=True)
