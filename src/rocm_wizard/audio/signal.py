"""Numbers about one utterance. Everything is finite; `samples` are 1-D float32 with full scale at 1.0."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

DBFS_FLOOR = -120.0
"""What silence is reported as."""
SILENT_DBFS = -50.0
VOICED_DBFS = -45.0
FULL_SCALE = 32767 / 32768
_WINDOW_SECONDS = 0.01


@dataclass(frozen=True, slots=True)
class Signal:
    """What `measure_signal` found."""

    frames: int
    seconds: float
    peak: float
    rms_dbfs: float
    """Relative to a full-scale square wave; never below `DBFS_FLOOR`."""
    dc_offset: float
    clipped: int
    """Samples beyond full scale, or at it next to another of the same sign: one lone full-scale peak is no clipping."""
    silent_ratio: float
    """Share of the 10 ms windows whose RMS is below -50 dBFS; 1.0 for an empty signal."""
    leading_silence_ms: float
    """Until the first sample at or above -50 dBFS; the whole length when there is none."""


def measure_signal(samples: ArrayLike, rate: int) -> Signal:
    """Measures one utterance. Raises ValueError for NaN, infinity or more than one dimension."""
    wave = _wave(samples)
    frames = len(wave)
    if not frames:
        return Signal(0, 0.0, 0.0, DBFS_FLOOR, 0.0, 0, 1.0, 0.0)
    threshold = 10 ** (SILENT_DBFS / 20)
    loud = np.abs(wave) >= threshold
    leading = int(np.argmax(loud)) if loud.any() else frames
    return Signal(
        frames=frames,
        seconds=frames / rate,
        peak=float(np.abs(wave).max()),
        rms_dbfs=_dbfs(float(np.mean(np.square(wave)))),
        dc_offset=float(wave.mean()),
        clipped=_clipped(wave),
        silent_ratio=_silent_ratio(wave, max(1, round(rate * _WINDOW_SECONDS)), threshold),
        leading_silence_ms=leading * 1000 / rate,
    )


def envelope(samples: ArrayLike, bins: int) -> NDArray[np.float32]:
    """Peak of |x| in each of `bins` equal parts, shape (bins,); with more bins than samples, samples repeat."""
    wave = np.abs(_wave(samples))
    if bins < 1:
        raise ValueError(f"an envelope has at least one bin, not {bins}")
    if not len(wave):
        return np.zeros(bins, np.float32)
    starts = np.arange(bins, dtype=np.int64) * len(wave) // bins
    return np.maximum.reduceat(wave, starts).astype(np.float32)


def first_voiced(samples: ArrayLike, rate: int) -> int | None:
    """Index of the first 10 ms window whose RMS reaches -45 dBFS, which the host's onset gate takes for speech."""
    wave = _wave(samples)
    if not len(wave):
        return None
    window = max(1, round(rate * _WINDOW_SECONDS))
    voiced = _window_rms(wave, window) >= 10 ** (VOICED_DBFS / 20)
    return int(np.argmax(voiced)) * window if voiced.any() else None


def _wave(samples: ArrayLike) -> NDArray[np.float64]:
    wave = np.asarray(samples, np.float64)
    if wave.ndim != 1:
        raise ValueError(f"mono samples have one dimension, not {wave.ndim}")
    if not np.isfinite(wave).all():
        raise ValueError("samples hold NaN or infinity")
    return wave


def _dbfs(mean_square: float) -> float:
    return max(DBFS_FLOOR, 10 * math.log10(mean_square)) if mean_square > 0 else DBFS_FLOOR


def _clipped(wave: NDArray[np.float64]) -> int:
    sign = np.where(wave >= FULL_SCALE, 1, np.where(wave <= -FULL_SCALE, -1, 0))
    paired = np.zeros(len(wave), bool)
    same = (sign[1:] == sign[:-1]) & (sign[1:] != 0)
    paired[1:] |= same
    paired[:-1] |= same
    return int(np.count_nonzero(paired | (np.abs(wave) > 1.0)))


def _silent_ratio(wave: NDArray[np.float64], window: int, threshold: float) -> float:
    return float(np.mean(_window_rms(wave, window) < threshold))


def _window_rms(wave: NDArray[np.float64], window: int) -> NDArray[np.float64]:
    starts = np.arange(0, len(wave), window)
    sums = np.add.reduceat(np.square(wave), starts)
    return np.sqrt(sums / np.diff(np.append(starts, len(wave))))
