"""The gate before Whisper: recordings pass, silence, noise and tones do not."""

import numpy as np
import pytest
import soundfile

from rocm_wizard.assets import asset
from rocm_wizard.speech.voice_gate import RATE, read_gate

TIME = np.arange(RATE * 3) / RATE
NOISE = np.random.default_rng(0).standard_normal(TIME.size)


def recording(number: str) -> np.ndarray:
    return soundfile.read(asset("audio", f"en-sense-and-sensibility-{number}.wav"), dtype="float32")[0]


def sloped(power: float) -> np.ndarray:
    """Noise whose power falls with frequency to the given power, peak 0.5."""
    spectrum = np.fft.rfft(NOISE)
    shaped = np.fft.irfft(spectrum / (np.arange(spectrum.size) + 1) ** (power / 2), TIME.size)
    return 0.5 * shaped / np.abs(shaped).max()


@pytest.mark.parametrize("number", ["0870", "0880"])
@pytest.mark.parametrize("snr_db", [None, 20, 10, 5])
def test_a_talker_passes_also_in_noise(number: str, snr_db: int | None) -> None:
    samples = recording(number)
    if snr_db is not None:
        level = float(np.sqrt(np.mean(samples**2))) * 10 ** (-snr_db / 20)
        samples = samples + NOISE[: samples.size].repeat(2 if samples.size <= NOISE.size else 3)[: samples.size] * level
    reading = read_gate(samples.astype(np.float32))
    assert reading.speech
    assert reading.speech_ratio > 0.3


@pytest.mark.parametrize("gain", [0.1, 0.3, 3.0])
def test_loudness_does_not_decide(gain: float) -> None:
    assert read_gate((recording("0880") * gain).astype(np.float32)).speech


@pytest.mark.parametrize(
    "samples",
    [
        np.zeros(RATE * 3),
        np.full(RATE * 3, 0.5),
        NOISE * 1e-3,
        NOISE * 0.1,
        sloped(1),
        sloped(2),
        NOISE * 0.2 * (np.sin(2 * np.pi * 4 * TIME) > 0),
        0.5 * np.sin(2 * np.pi * 440 * TIME),
        0.5 * np.sin(2 * np.pi * 440 * TIME) + 0.05 * NOISE,
        0.5 * np.sin(2 * np.pi * 440 * TIME) * (TIME % 1 < 0.5),
        sum(0.2 * np.sin(2 * np.pi * f * TIME) for f in (220, 277, 330)),
        sum(0.2 / k * np.sin(2 * np.pi * 100 * k * TIME) for k in range(1, 12)),
        (np.arange(TIME.size) % 8_000 == 0) * 1.0,
        np.array([0.5]),
    ],
    ids=[
        "silence",
        "offset",
        "white -60 dBFS",
        "white -20 dBFS",
        "pink",
        "brown",
        "noise in bursts",
        "440 Hz",
        "440 Hz in noise",
        "440 Hz in bursts",
        "chord",
        "mains hum",
        "clicks",
        "one sample",
    ],
)
def test_what_is_no_talker_does_not_pass(samples: np.ndarray) -> None:
    reading = read_gate(samples.astype(np.float32))
    assert not reading.speech
    assert reading.speech_ratio == 0.0
