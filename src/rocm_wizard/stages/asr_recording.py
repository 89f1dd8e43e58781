"""The recording that the ASR smoke sends: which one it is, whether it can be read, and what its signal is worth."""

import math
from dataclasses import dataclass
from typing import Any

from rocm_wizard.audio.sound_file import (
    NoSound,
    SoundHeader,
    missing_bytes,
    mixed_to_mono,
    read_frames,
    read_header,
)
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import StageContext
from rocm_wizard.sidecar.messages import Samples
from rocm_wizard.stages.recordings import Recording

SAMPLE_RATE = 16000
"""What the host sends, hertz."""
MAX_SECONDS = 30.0
"""The host never sends more (`ASR_MAX_SPEECH_SECONDS`)."""
MIN_SECONDS = 0.3
MAX_BYTES = 256 * 2**20
"""Larger than 30 s at 384 kHz in six channels of float: such a file is not even opened."""
QUIET_DBFS = -45.0
DC_OFFSET = 0.01
CLIPPED_SHARE = 1e-4
_SILENT_PEAK = 1e-4
_KINDS = "WAV, FLAC, OGG, MP3"


@dataclass(frozen=True, slots=True)
class Utterance:
    """What goes over the wire: 16 kHz mono float32 samples of a recording, and the language sent with them."""

    recording: Recording
    samples: Samples
    sent: str | None

    @property
    def seconds(self) -> float:
        """How long it lasts."""
        return len(self.samples) / SAMPLE_RATE


class Refused(Exception):
    """The recording cannot be used; `id` and `facts` are the finding that says why."""

    def __init__(self, id: str, **facts: Any) -> None:
        super().__init__(id)
        self.id = id
        self.facts = facts


def load_recording(context: StageContext, recording: Recording) -> Samples | None:
    """The recording at 16 kHz, after findings about file and signal; None: it cannot be used, and why is told."""
    from rocm_wizard.audio.resample import resample

    try:
        header, frames = _read(recording)
        mono = mixed_to_mono(frames)
        _judge_signal(context, recording, header, frames, mono)
        return resample(mono, header.rate, SAMPLE_RATE)
    except Refused as refusal:
        context.finding(refusal.id, Outcome.FAILED, ["file"], **{"file": recording.file.name, **refusal.facts})
        return None


def read_bundled(recording: Recording) -> Samples:
    """A bundled recording at 16 kHz.

    Raises:
        Refused: the installation is damaged.
    """
    from rocm_wizard.audio.resample import resample

    header, frames = _read(recording)
    return resample(mixed_to_mono(frames), header.rate, SAMPLE_RATE)


def _read(recording: Recording) -> tuple[SoundHeader, Samples]:
    """Header and frames, shape (frames, channels). Nothing long is ever decoded. Raises `Refused`."""
    from rocm_wizard.audio.wav import file_sha256

    try:
        size = recording.file.stat().st_size
        if size == 0:
            raise Refused("asr.recording_empty")
        if size > MAX_BYTES:
            raise Refused("asr.recording_too_big", bytes=size, limit=MAX_BYTES, seconds_limit=MAX_SECONDS)
        if recording.sha256 is not None and file_sha256(recording.file) != recording.sha256:
            raise Refused("asr.recording_changed")
        header = read_header(recording.file)
        _check_length(header.seconds, header)
        frames = read_frames(recording.file, math.ceil(MAX_SECONDS * header.rate) + 1)
    except FileNotFoundError:
        raise Refused("asr.recording_missing") from None
    except OSError as error:
        raise Refused("asr.recording_unreadable", reason=error.strerror or error, kinds=_KINDS) from None
    except NoSound as error:
        raise Refused("asr.recording_unreadable", reason=str(error).rstrip("."), kinds=_KINDS) from None
    _check_length(len(frames) / header.rate, header, least=MIN_SECONDS)
    return header, frames


def _check_length(seconds: float, header: SoundHeader, least: float = 0.0) -> None:
    facts = {"seconds": round(seconds, 2), "rate": header.rate}
    if seconds > MAX_SECONDS:
        raise Refused("asr.recording_too_long", limit=MAX_SECONDS, **facts)
    if seconds < least:
        raise Refused("asr.recording_too_short", limit=least, **facts)


def _judge_signal(
    context: StageContext, recording: Recording, header: SoundHeader, frames: Samples, mono: Samples
) -> None:
    """Findings with their numbers. Raises `Refused` for silence."""
    from rocm_wizard.audio.signal import measure_signal

    channels = [measure_signal(frames[:, channel], header.rate) for channel in range(frames.shape[1])]
    mixed = measure_signal(mono, header.rate)
    facts: dict[str, Any] = {
        "file": recording.file.name,
        "seconds": round(mixed.seconds, 2),
        "rate": header.rate,
        "channels": header.channels,
        "format": header.format,
        "language": recording.language,
        "peak": round(mixed.peak, 4),
        "rms_dbfs": round(mixed.rms_dbfs, 1),
    }
    if mixed.peak < _SILENT_PEAK:
        cancels = max(channel.peak for channel in channels) >= _SILENT_PEAK
        raise Refused("asr.recording_cancels" if cancels else "asr.recording_silent", **facts)
    context.finding("asr.recording", Outcome.PASSED, ["file"], **facts)
    lost = missing_bytes(recording.file)
    decoded = len(frames) / header.rate
    if lost or decoded < header.seconds - 0.1:
        told = round(header.seconds, 2)
        context.finding("asr.recording_truncated", Outcome.WARNING, ["file"], missing_bytes=lost, told=told, **facts)
    clipped = max(channel.clipped for channel in channels)
    if clipped / len(frames) > CLIPPED_SHARE:
        share = clipped / len(frames)
        context.finding("asr.recording_clipped", Outcome.WARNING, ["file"], clipped=clipped, share=share, **facts)
    offset = max((channel.dc_offset for channel in channels), key=abs)
    if abs(offset) > DC_OFFSET:
        dc = {"dc_offset": round(offset, 4), "limit": DC_OFFSET}
        context.finding("asr.recording_dc", Outcome.WARNING, ["file"], **dc, **facts)
    if mixed.rms_dbfs < QUIET_DBFS:
        context.finding("asr.recording_quiet", Outcome.WARNING, ["file"], limit=QUIET_DBFS, **facts)
