"""The colour of a voice, block by block: mel cepstra and spectral centroid, and whether they drift. numpy only.

Mel cepstra as in S. Davis, P. Mermelstein, "Comparison of parametric representations for monosyllabic word
recognition", IEEE Trans. ASSP 28, 1980: 25 ms frames every 10 ms, 40 triangular bands, 13 coefficients without the
zeroth, so that loudness does not count.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

COEFFICIENTS = 13
BANDS = 40
LOWEST_HZ, HIGHEST_HZ = 50.0, 12_000.0
LEAST_BLOCKS = 10
"""With fewer blocks, chance alone puts them into an order often enough."""
DRIFT_SIZE = 1.4
"""Drift from the first to the last block, over the usual spread of the blocks around their mean.

Speech without drift, 40 utterances of both embedded voices in blocks of 0.8 and 0.4 s: at most 1.22. A low-pass that
closes to 3 kHz over the utterance: at least 1.53 in 20 of 20.
"""
DRIFT_CHANCE = 0.01
"""Largest share of random orders of the same blocks that drift as much. Undrifted speech: at least 0.031."""
_FRAME_SECONDS, _HOP_SECONDS = 0.025, 0.010
_VOICED_RANGE_DB = 30.0
_LEAST_FRAMES = 10
_ORDERS = 999
_FLOOR = 1e-10


@dataclass(frozen=True, slots=True)
class Timbre:
    """The mean over the voiced frames of a stretch of sound: within 30 dB of the utterance's loud ones.

    `mfcc`: shape (13,), in decibels. `centroid`: hertz. `frames`: how many there were.
    """

    mfcc: NDArray[np.float64]
    centroid: float
    frames: int

    def distance(self, other: "Timbre") -> float:
        """Euclidean distance of the mel cepstra."""
        return float(np.linalg.norm(self.mfcc - other.mfcc))


@dataclass(frozen=True, slots=True)
class Drift:
    """How timbre changes along an utterance.

    `change`: the regression line's way from the first block to the last, in the unit of `Timbre.distance`. `spread`:
    root mean square distance of the blocks from their mean. `chance`: share of random orders that change as much.
    `octaves`: the centroid's change.
    """

    blocks: int
    change: float
    spread: float
    chance: float
    octaves: float

    @property
    def size(self) -> float:
        """Change over spread."""
        return self.change / self.spread if self.spread > 0 else 0.0

    @property
    def found(self) -> bool:
        """The change is large, and no accident of the words."""
        return self.size > DRIFT_SIZE and self.chance < DRIFT_CHANCE


def block_timbres(blocks: Sequence[ArrayLike], rate: int, highest: float = HIGHEST_HZ) -> list[Timbre | None]:
    """The timbre of each block; None where less than 100 ms are voiced.

    Args:
        blocks: the utterance's blocks, 1-D each.
        highest: upper end of the bands in hertz; recordings of different rates need the same one to be compared.
    """
    highest = min(highest, HIGHEST_HZ, rate / 2)
    # Bands at once: the spectra of a long utterance would be a hundred times larger than its timbre.
    frames = [_frames(np.asarray(block, np.float64), rate, highest) for block in blocks]
    if not frames:
        return []
    gate = float(np.percentile(np.concatenate([found.levels for found in frames]), 95)) - _VOICED_RANGE_DB
    return [_mean(found, found.levels > gate) for found in frames]


def measure_drift(timbres: Sequence[Timbre | None]) -> Drift | None:
    """The drift along the blocks, or None when fewer than 10 have a timbre.

    Words differ more than a voice drifts, so the size alone proves nothing: the same blocks in random orders (999,
    always the same ones) say how much a line through them goes up or down by accident.
    """
    kept = [timbre for timbre in timbres if timbre is not None]
    if len(kept) < LEAST_BLOCKS:
        return None
    weights = np.array([timbre.frames for timbre in kept], np.float64)
    values = np.array([timbre.mfcc for timbre in kept])
    change = _change(values, weights)
    random = np.random.default_rng(20)
    orders = (random.permutation(len(kept)) for _ in range(_ORDERS))
    as_much = sum(_change(values[order], weights[order]) >= change for order in orders)
    middle = np.average(values, axis=0, weights=weights)
    spread = float(np.sqrt(np.average(np.square(values - middle).sum(axis=1), weights=weights)))
    octaves = np.log2([max(timbre.centroid, 1.0) for timbre in kept])[:, None]
    chance = (as_much + 1) / (_ORDERS + 1)
    return Drift(len(kept), change, spread, chance, float(_line(octaves, weights)[0]))


def _line(values: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weighted regression on the position, times the length: shape (columns,)."""
    position = np.arange(len(values)) - np.average(np.arange(len(values)), weights=weights)
    return (position * weights) @ values / (np.square(position) @ weights) * (len(values) - 1)


def _change(values: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    return float(np.linalg.norm(_line(values, weights)))


@dataclass(frozen=True, slots=True)
class _Frames:
    """Of each frame: mel bands in decibels, shape (frames, 40), the centroid in hertz, the level in decibels."""

    bands: NDArray[np.float64]
    centroids: NDArray[np.float64]
    levels: NDArray[np.float64]


def _frames(wave: NDArray[np.float64], rate: int, highest: float) -> _Frames:
    width, hop = round(_FRAME_SECONDS * rate), round(_HOP_SECONDS * rate)
    bins = 1 << (width - 1).bit_length()
    wave = np.pad(wave, (0, max(0, width - len(wave))))
    windows = np.lib.stride_tricks.sliding_window_view(wave, width)[::hop] * np.hanning(width)
    power = np.square(np.abs(np.fft.rfft(windows, bins)))
    frequencies = np.fft.rfftfreq(bins, 1 / rate)
    inside = frequencies <= highest
    amplitude = np.sqrt(power[:, inside])
    return _Frames(
        10 * np.log10(power @ _mel_bands(frequencies, highest).T + _FLOOR),
        amplitude @ frequencies[inside] / np.maximum(amplitude.sum(axis=1), _FLOOR),
        10 * np.log10(power.sum(axis=1) + _FLOOR),
    )


def _mean(frames: _Frames, voiced: NDArray[np.bool_]) -> Timbre | None:
    count = int(voiced.sum())
    if count < _LEAST_FRAMES:
        return None
    order = np.arange(1, COEFFICIENTS + 1)[:, None]
    cosines = np.cos(np.pi / BANDS * order * (np.arange(BANDS) + 0.5)) * np.sqrt(2 / BANDS)
    return Timbre(cosines @ frames.bands[voiced].mean(axis=0), float(frames.centroids[voiced].mean()), count)


def _mel_bands(frequencies: NDArray[np.float64], highest: float) -> NDArray[np.float64]:
    """Triangles of height 1, shape (bands, bins). Mel: 2595 log10(1 + f / 700)."""
    low_mel, high_mel = 2595 * math.log10(1 + LOWEST_HZ / 700), 2595 * math.log10(1 + highest / 700)
    edges = 700 * (10 ** (np.linspace(low_mel, high_mel, BANDS + 2) / 2595) - 1)
    low, centre, high = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    return np.maximum(0.0, np.minimum((frequencies - low) / (centre - low), (high - frequencies) / (high - centre)))
