"""Recordings of people: every format and rate arrives as 16 kHz mono, and what is wrong with one is told in numbers."""

import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile
from numpy.typing import NDArray

from rocm_wizard.audio.sound_file import missing_bytes
from rocm_wizard.qualification import events as ev
from rocm_wizard.qualification.finding import Finding
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import CancelToken, StageContext, answer_by_default
from rocm_wizard.sidecar.messages import Samples
from rocm_wizard.stages.asr_recording import MAX_BYTES, load_recording
from rocm_wizard.stages.recordings import Recording, bundled_recording

NAME = "my 录音 1"


def load(file: Path, sha256: str | None = None) -> tuple[Samples | None, dict[str, Finding]]:
    """The samples and the findings by id."""
    events: list[ev.Event] = []
    context = StageContext("asr_smoke", events.append, answer_by_default, CancelToken())
    samples = load_recording(context, Recording(file, "English", None, sha256))
    return samples, {event.finding.id: event.finding for event in events if isinstance(event, ev.FindingReported)}


def tone(rate: int, seconds: float = 1.0, level: float = 0.3) -> NDArray[np.float32]:
    """440 Hz."""
    return (level * np.sin(2 * np.pi * 440 * np.arange(round(rate * seconds)) / rate)).astype(np.float32)


def write(
    folder: Path, samples: NDArray[np.float32], rate: int, ending: str = "wav", subtype: str | None = None
) -> Path:
    """A sound file whose path has a blank and Chinese characters."""
    file = folder / f"{NAME}.{ending}"
    soundfile.write(file, samples, rate, subtype=subtype)
    return file


@pytest.mark.parametrize(
    ("ending", "subtype", "rate", "channels"),
    [
        ("wav", "PCM_16", 16000, 1),
        ("wav", "PCM_24", 44100, 2),
        ("wav", "FLOAT", 22050, 1),
        ("wav", "PCM_U8", 8000, 1),
        ("flac", "PCM_16", 48000, 2),
        ("flac", "PCM_24", 96000, 6),
        ("ogg", "VORBIS", 44100, 2),
        ("ogg", "OPUS", 48000, 1),
        ("mp3", None, 44100, 2),
        ("mp3", None, 22050, 1),
    ],
)
def test_every_format_arrives_as_16_khz_mono(
    tmp_path: Path, ending: str, subtype: str | None, rate: int, channels: int
) -> None:
    file = write(tmp_path, np.repeat(tone(rate)[:, None], channels, axis=1), rate, ending, subtype)
    samples, findings = load(file)
    assert samples is not None
    assert samples.dtype == np.float32
    assert abs(len(samples) - 16000) < 1200, "MP3 pads its ends"
    middle, wanted = samples[4000:12000], tone(16000)
    lags = np.correlate(samples, wanted[4000:6000], "valid")
    best = int(np.argmax(lags)) - 4000
    assert float(np.corrcoef(middle, np.roll(wanted, best)[4000:12000])[0, 1]) > 0.99
    assert {finding.outcome for finding in findings.values()} == {Outcome.PASSED}
    facts = findings["asr.recording"].facts
    assert (facts["rate"], facts["channels"], facts["file"]) == (rate, channels, file.name)


def test_channels_are_averaged(tmp_path: Path) -> None:
    left = tone(16000, level=0.4)
    samples, _ = load(write(tmp_path, np.stack((left, np.zeros_like(left)), axis=1), 16000, subtype="FLOAT"))
    assert samples is not None
    np.testing.assert_allclose(samples, left / 2, atol=1e-7)


def refused(file: Path, sha256: str | None = None) -> Finding:
    """The one finding about a file that cannot be used."""
    samples, findings = load(file, sha256)
    assert samples is None
    (found,) = findings.values()
    assert found.outcome is Outcome.FAILED
    assert found.private == {"file"}
    assert str(file.parent) not in str(dict(found.facts)), "no finding shows the folder"
    return found


def test_what_is_no_recording(tmp_path: Path) -> None:
    assert refused(tmp_path / "nothing.wav").id == "asr.recording_missing"
    (tmp_path / "empty.wav").touch()
    assert refused(tmp_path / "empty.wav").id == "asr.recording_empty"
    (tmp_path / "text.wav").write_text("he was not an ill disposed young man\n" * 9, encoding="utf-8")
    assert refused(tmp_path / "text.wav").id == "asr.recording_unreadable"
    content = bytearray(write(tmp_path, tone(16000), 16000).read_bytes())
    content[24:28] = (999).to_bytes(4, "little")
    (tmp_path / "rate.wav").write_bytes(content)
    found = refused(tmp_path / "rate.wav")
    assert (found.id, found.facts["reason"]) == (
        "asr.recording_unreadable",
        "its header says 999 Hz; 1000 to 768000 Hz are read",
    )
    (tmp_path / "folder.wav").mkdir()
    assert refused(tmp_path / "folder.wav").id in ("asr.recording_unreadable", "asr.recording_empty")


def test_five_gigabytes_are_never_opened(tmp_path: Path) -> None:
    size = MAX_BYTES + 1 if sys.platform == "win32" else 5 * 2**30  # NTFS would reserve them
    file = write(tmp_path, tone(16000), 16000)
    with file.open("r+b") as grown:
        grown.truncate(size)
    found = refused(file)
    assert (found.id, found.facts["bytes"]) == ("asr.recording_too_big", size)


def test_an_hour_is_refused_by_its_header(tmp_path: Path) -> None:
    file = tmp_path / f"{NAME}.flac"
    with soundfile.SoundFile(file, "w", 8000, 1) as sound:
        for _ in range(60):
            sound.write(np.zeros(8000 * 60, np.int16))
    found = refused(file)
    assert (found.id, found.facts["seconds"], found.facts["limit"]) == ("asr.recording_too_long", 3600.0, 30.0)


@pytest.mark.parametrize(("seconds", "id"), [(30.0, None), (30.01, "asr.recording_too_long")])
def test_thirty_seconds_are_the_limit(tmp_path: Path, seconds: float, id: str | None) -> None:
    file = write(tmp_path, tone(8000, seconds), 8000)
    assert (refused(file).id if id else load(file)[1]["asr.recording"].id) == (id or "asr.recording")


def test_too_short_for_a_word(tmp_path: Path) -> None:
    found = refused(write(tmp_path, tone(16000, 0.1), 16000))
    assert (found.id, found.facts["seconds"]) == ("asr.recording_too_short", 0.1)


def test_silence_and_channels_that_cancel(tmp_path: Path) -> None:
    assert refused(write(tmp_path, np.zeros(16000, np.float32), 16000)).id == "asr.recording_silent"
    both = np.stack((tone(16000), -tone(16000)), axis=1)
    assert refused(write(tmp_path, both, 16000, subtype="FLOAT")).id == "asr.recording_cancels"


def test_not_a_number_is_no_sound(tmp_path: Path) -> None:
    samples = tone(16000)
    samples[100] = np.nan
    found = refused(write(tmp_path, samples, 16000, subtype="FLOAT"))
    assert (found.id, found.facts["reason"]) == ("asr.recording_unreadable", "it holds NaN or infinity")


def test_signal_faults_are_warnings_with_numbers(tmp_path: Path) -> None:
    loud = np.clip(3 * tone(16000, level=0.5), -1, 1)
    clipped = load(write(tmp_path, loud, 16000))[1]["asr.recording_clipped"]
    assert clipped.outcome is Outcome.WARNING
    assert isinstance(clipped.facts["share"], float)
    assert 0.4 < clipped.facts["share"] < 0.6, "a sine of 1.5 is beyond 1.0 for 54 % of the time"
    offset = load(write(tmp_path, tone(16000) + np.float32(0.05), 16000))[1]["asr.recording_dc"]
    assert offset.facts["dc_offset"] == pytest.approx(0.05, abs=1e-3)
    quiet = load(write(tmp_path, tone(16000, level=0.005), 16000, subtype="FLOAT"))[1]["asr.recording_quiet"]
    assert quiet.facts["rms_dbfs"] == pytest.approx(20 * np.log10(0.005 / np.sqrt(2)), abs=0.1)


def cut(file: Path, share: float) -> Path:
    """The file's beginning only."""
    file.write_bytes(file.read_bytes()[: int(file.stat().st_size * share)])
    return file


@pytest.mark.parametrize(("ending", "missing"), [("wav", 32000), ("mp3", 0)])
def test_a_file_that_broke_off_is_used_and_told(tmp_path: Path, ending: str, missing: int) -> None:
    file = cut(write(tmp_path, tone(16000, 2.0), 16000, ending), 0.5)
    assert missing_bytes(file) == pytest.approx(missing, abs=50)
    samples, findings = load(file)
    assert samples is not None
    assert 8000 < len(samples) < 20000
    assert findings["asr.recording_truncated"].outcome is Outcome.WARNING


@pytest.mark.parametrize(("ending", "subtype"), [("flac", None), ("ogg", "OPUS"), ("ogg", "VORBIS")])
def test_other_files_that_broke_off_are_refused(tmp_path: Path, ending: str, subtype: str | None) -> None:
    file = cut(write(tmp_path, tone(48000), 48000, ending, subtype), 0.5)
    assert refused(file).id in ("asr.recording_unreadable", "asr.recording_too_short")


def test_a_streamed_wav_promises_nothing(tmp_path: Path) -> None:
    file = write(tmp_path, tone(16000), 16000)
    raw = bytearray(file.read_bytes())
    at = raw.index(b"data") + 4
    raw[at : at + 4] = b"\xff\xff\xff\xff"
    file.write_bytes(raw)
    samples, findings = load(file)
    assert samples is not None
    assert len(samples) == 16000
    assert list(findings) == ["asr.recording"]


def test_a_bundled_recording_that_was_changed_is_refused(tmp_path: Path) -> None:
    recording = bundled_recording()
    file = tmp_path / recording.file.name
    shutil.copy(recording.file, file)
    assert load(file, recording.sha256)[0] is not None
    raw = bytearray(file.read_bytes())
    raw[-1] ^= 1
    file.write_bytes(raw)
    assert refused(file, recording.sha256).id == "asr.recording_changed"
