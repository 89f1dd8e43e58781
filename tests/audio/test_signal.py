import dataclasses
import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rocm_wizard.audio.signal import envelope, first_voiced, measure_signal

RATE = 24_000


def sine(amplitude: float, seconds: float = 1.0, frequency: float = 200.0) -> np.ndarray:
    return (amplitude * np.sin(2 * np.pi * frequency * np.arange(round(seconds * RATE)) / RATE)).astype(np.float32)


def test_a_known_signal() -> None:
    wave = np.concatenate((np.zeros(6000, np.float32), sine(0.5), np.zeros(6000, np.float32))) + np.float32(0.001)
    found = measure_signal(wave, RATE)
    assert found.seconds == 1.5
    assert found.peak == pytest.approx(0.501, abs=1e-4)
    assert found.rms_dbfs == pytest.approx(20 * math.log10(0.5 / math.sqrt(2) * math.sqrt(2 / 3)), abs=0.01)
    assert found.dc_offset == pytest.approx(0.001, abs=1e-6)
    assert found.silent_ratio == pytest.approx(1 / 3, abs=0.01)
    assert found.leading_silence_ms == pytest.approx(250, abs=1)
    assert found.clipped == 0


@pytest.mark.parametrize(
    ("samples", "clipped"),
    [
        ([0.0, 1.0, 0.0], 0),
        ([0.0, 1.0, 1.0, 0.5], 2),
        ([1.0, -1.0, 1.0], 0),
        ([0.2, 1.2, 0.2], 1),
        ([-1.0, -1.0, -1.0, 32767 / 32768], 3),
        ([0.999, 0.999], 0),
    ],
)
def test_clipping(samples: list[float], clipped: int) -> None:
    assert measure_signal(samples, RATE).clipped == clipped


@given(arrays(np.float32, st.integers(0, 500), elements=st.floats(-4, 4, width=32)))
def test_everything_is_finite(samples: np.ndarray) -> None:
    values = dataclasses.asdict(measure_signal(samples, RATE))
    assert all(math.isfinite(value) for value in values.values())
    assert 0 <= values["silent_ratio"] <= 1
    assert values["rms_dbfs"] >= -120
    assert np.isfinite(envelope(samples, 40)).all()


@given(arrays(np.float32, st.integers(1, 500), elements=st.floats(-1, 1, width=32)), st.integers(1, 80))
def test_envelope_loses_no_peak_and_invents_none(samples: np.ndarray, bins: int) -> None:
    outline = envelope(samples, bins)
    assert outline.shape == (bins,)
    assert outline.max() == np.abs(samples).max() or bins > len(samples)
    assert set(outline.tolist()) <= set(np.abs(samples).tolist())


def test_envelope_follows_the_sound() -> None:
    wave = np.concatenate((sine(0.1), sine(0.8), sine(0.3)))
    assert envelope(wave, 6) == pytest.approx([0.1, 0.1, 0.8, 0.8, 0.3, 0.3], abs=0.01)


def test_the_first_voice_after_silence_is_found() -> None:
    quiet = np.random.default_rng(5).normal(0, 10 ** (-60 / 20), RATE // 2).astype(np.float32)
    assert first_voiced(np.concatenate((quiet, sine(0.1))), RATE) == RATE // 2
    assert first_voiced(sine(0.1), RATE) == 0
    assert first_voiced(quiet, RATE) is None
    assert first_voiced([], RATE) is None


def test_refusals() -> None:
    with pytest.raises(ValueError, match="NaN"):
        measure_signal([float("nan")], RATE)
    with pytest.raises(ValueError, match="one dimension"):
        envelope(np.zeros((2, 2)), 3)
    with pytest.raises(ValueError, match="at least one bin"):
        envelope([0.0], 0)


def test_importable_where_no_sound_library_is() -> None:
    code = (
        "import sys; import rocm_wizard.audio.signal, rocm_wizard.audio.policy, rocm_wizard.audio.resample\n"
        "print(sorted({'sounddevice', 'soundfile', 'torch', 'textual'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, timeout=30, check=True)
    assert done.stdout.strip() == "[]"
