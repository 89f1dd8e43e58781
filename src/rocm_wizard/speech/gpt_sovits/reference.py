"""The reference recording as the networks read it: prompt codes, phonemes, mel, style and condition features."""

import math
from collections import OrderedDict
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Protocol

import soundfile
import torch
import torchaudio
from torch import Tensor

from rocm_wizard.models.reference import can_resample
from rocm_wizard.speech.gpt_sovits.hubert import RATE as HUBERT_RATE
from rocm_wizard.speech.gpt_sovits.mel import SPECTROGRAM_RATE, linear_spectrogram, normalised_mel
from rocm_wizard.speech.gpt_sovits.sovits import SovitsV3
from rocm_wizard.speech.gpt_sovits.text.front_end import FrontEnd, Phones
from rocm_wizard.speech.serve import RequestError

SHORTEST_S, LONGEST_S = 3.0, 10.0
"""What the public engine accepts."""
TAIL_SAMPLES = 1600
"""Silence behind the recording for HuBERT, at 16 kHz: the host's; the public engine adds 9,600."""
MEL_RATE = 24_000
_MOST_KEPT = 8


class SpeechFeatures(Protocol):
    """What is needed of a HuBERT (see `hubert.Hubert`)."""

    def ssl(self, wav: Tensor) -> Tensor:
        """[1, n] samples at 16 kHz to [1, 768, T]."""
        ...


@dataclass(frozen=True)
class ReferenceFeatures:
    """A recording of F mel frames, on the networks' device and in their dtype.

    `prompt_codes` [1, T] int64, 25 a second; `phones` of its transcript; `mel` normalised [1, 100, F]; `ge` [1, 512, 1]
    style vector; `features` [1, 512, M], the encoder's of the recording itself; `seconds` of the file.
    """

    prompt_codes: Tensor
    phones: Phones
    mel: Tensor
    ge: Tensor
    features: Tensor
    seconds: float


@dataclass(frozen=True)
class _Key:
    path: Path
    modified_ns: int
    size: int
    text: str
    language: str


class ReferenceEncoder:
    """Encodes reference recordings, each once: the last eight are kept until their file changes."""

    def __init__(self, hubert: SpeechFeatures, sovits: SovitsV3, front_end: FrontEnd) -> None:
        self._hubert = hubert
        self._sovits = sovits
        self._front_end = front_end
        self._kept: OrderedDict[_Key, ReferenceFeatures] = OrderedDict()

    def features(self, path: Path, text: str, language: str) -> ReferenceFeatures:
        """The recording's features.

        Args:
            path: a sound file of 3 to 10 s, any rate and any number of channels.
            text: what is said in it.
            language: the label of `text`, as for `FrontEnd.phones`.

        Raises RequestError for a file that is missing, no sound, too short or too long.
        """
        key = _key(path, text, language)
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        made = self._encoded(path, text, language)
        self._kept[key] = made
        if len(self._kept) > _MOST_KEPT:
            self._kept.popitem(last=False)
        return made

    @torch.inference_mode()
    def _encoded(self, path: Path, text: str, language: str) -> ReferenceFeatures:
        weight = next(self._sovits.parameters())
        wav, rate = read_recording(path)
        phones = self._front_end.phones(text, language)
        heard = torch.nn.functional.pad(resampled(wav, rate, HUBERT_RATE), (0, TAIL_SAMPLES))
        codes = self._sovits.semantic_codes(self._hubert.ssl(heard).to(weight.device, weight.dtype))
        spectrogram = linear_spectrogram(_limited(resampled(wav, rate, SPECTROGRAM_RATE)))
        ge = self._sovits.style(spectrogram.to(weight.device, weight.dtype))
        mel = normalised_mel(resampled(wav, rate, MEL_RATE))
        ids = torch.tensor([phones.ids], device=weight.device)
        return ReferenceFeatures(
            prompt_codes=codes,
            phones=phones,
            mel=mel.to(weight.device, weight.dtype),
            ge=ge,
            features=self._sovits.features(codes, ids, ge),
            seconds=wav.shape[1] / rate,
        )


def _key(path: Path, text: str, language: str) -> _Key:
    try:
        status = path.stat()
    except OSError as error:
        raise RequestError(f"reference_audio {path}: {error.strerror or error}") from error
    return _Key(path.resolve(), status.st_mtime_ns, status.st_size, text, language)


def read_recording(path: Path) -> tuple[Tensor, int]:
    """Samples float32 [1, n] of all channels together, and their rate. Raises RequestError unless it is 3 to 10 s."""
    try:
        with soundfile.SoundFile(path) as file:
            seconds, rate = file.frames / file.samplerate, file.samplerate
            if not SHORTEST_S <= seconds <= LONGEST_S:
                raise RequestError(
                    f"reference_audio {path} lasts {seconds:.2f} s: v3 needs {SHORTEST_S:g} to {LONGEST_S:g} s"
                )
            samples = torch.from_numpy(file.read(dtype="float32", always_2d=True)).mean(dim=1)[None]
    except (OSError, soundfile.SoundFileError) as error:
        raise RequestError(f"reference_audio {path} cannot be read as sound: {error}") from error
    if not can_resample(rate):
        raise RequestError(
            f"reference_audio {path} has {rate} Hz, which cannot be resampled: make it 44100 or 48000 Hz"
        )
    if samples.shape[1] < math.floor(SHORTEST_S * rate):
        raise RequestError(f"reference_audio {path} is cut off: {samples.shape[1] / rate:.2f} s of {seconds:.2f} s")
    if not bool(torch.isfinite(samples).all()):
        raise RequestError(f"reference_audio {path} has samples that are no numbers")
    return samples, rate


@lru_cache(maxsize=8)
def _resampler(rate: int, wanted: int) -> torchaudio.transforms.Resample:
    return torchaudio.transforms.Resample(rate, wanted)


def resampled(wav: Tensor, rate: int, wanted: int) -> Tensor:
    """[1, n] at another rate, windowed-sinc interpolated, on the CPU."""
    return wav if rate == wanted else _resampler(rate, wanted)(wav)


def _limited(wav: Tensor) -> Tensor:
    """Samples beyond full scale (files of floats have them) divided by their peak, by 2 at most: the public rule."""
    peak = float(wav.abs().max())
    return wav / min(2.0, peak) if peak > 1 else wav
