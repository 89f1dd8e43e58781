"""Sample-rate conversion that may be fed in pieces: windowed sinc, polyphase, numpy only.

Response, as fractions of the lower of the two Nyquist frequencies: flat within 0.01 dB up to 0.90, at least 80 dB down
from 1.00 on. Kaiser window; the length follows Kaiser's estimate, taps = (attenuation - 7.95) / (2.285 * width of the
transition) (A. V. Oppenheim, R. W. Schafer, Discrete-Time Signal Processing, 7.5.3). Sums are made in float64.

Two rates with a small common divisor have as many phases as the target has hertz, and their weights would fill
gigabytes. For them the filter is sampled at fewer phases and the output is interpolated linearly between the two
nearest; for a band-limited filter that errs by (pi * passband / phases a frame of the lower rate) ** 2 / 8 at most
(J. O. Smith, Digital Audio Resampling, https://ccrma.stanford.edu/~jos/resample/), here -119 dB.
"""

import math

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

PASSBAND = 0.90
STOPBAND = 1.00
ATTENUATION_DB = 86.0
"""What the window is designed for; a few decibels above what is promised."""
_MOST_WEIGHTS = 300_000
"""Weights that are held (2.4 MB). Any two usual rates need fewer: 48,000 to 11,025 Hz takes 70,000."""
_FINE_PHASES = 1024
"""Phases for each frame of the lower rate, where they are interpolated."""
_OUTPUTS_AT_ONCE = 1024
_PRODUCTS_AT_ONCE = 1 << 19
_INPUTS_AT_ONCE = 1 << 16


class Resampler:
    """Mono stream from `source` to `target` hertz.

    The concatenated output does not depend on how the input was cut (to 1e-6) and is aligned in time with it: the delay
    of the filter is taken off, and `flush` gives the last frames. N frames in make ceil(N * target / source) out.
    """

    def __init__(self, source: int, target: int) -> None:
        """Raises ValueError for a rate below 1."""
        if source < 1 or target < 1:
            raise ValueError(f"sample rates are positive, not {source} and {target}")
        divisor = math.gcd(source, target)
        self._up, self._down = target // divisor, source // divisor
        narrow = min(1.0, target / source)
        self._half = _half_length(narrow)
        self._taps = 2 * self._half
        self._steps = self._up
        """Steps between two inputs that have weights; fewer than `_up` where the output is interpolated."""
        if self._up * self._taps > _MOST_WEIGHTS:
            self._steps = math.ceil(_FINE_PHASES * narrow)
        self._phases = weights(np.arange(self._steps + 1) / self._steps, narrow)
        self._at_once = max(1, min(_OUTPUTS_AT_ONCE, _PRODUCTS_AT_ONCE // self._taps))
        # Input before the first frame is silence; `_base` is the index in the stream of `_pending[0]`.
        self._pending = np.zeros(self._half - 1, np.float64)
        self._base = 1 - self._half
        self._received = 0
        self._made = 0

    def process(self, frames: NDArray[np.float32]) -> NDArray[np.float32]:
        """The next frames in; every frame out that they complete. Both 1-D."""
        self._received += len(frames)
        return self._convert(frames, -1)

    def flush(self) -> NDArray[np.float32]:
        """The rest, as if silence followed. Nothing may be processed afterwards."""
        return self._convert(np.zeros(self._half, np.float32), -(-self._received * self._up // self._down))

    def _convert(self, frames: NDArray[np.float32], limit: int) -> NDArray[np.float32]:
        self._pending = np.concatenate((self._pending, frames))
        # Frame m sits at input position m * down / up and needs `half` inputs from there on.
        complete = self._base + len(self._pending) - self._half
        end = max(self._made, -(-(complete * self._up) // self._down)) if limit < 0 else limit
        out = np.empty(end - self._made, np.float32)
        for start in range(self._made, end, self._at_once):
            stop = min(end, start + self._at_once)
            out[start - self._made : stop - self._made] = self._outputs(start, stop)
        self._made = end
        self._forget()
        return out

    def _outputs(self, start: int, stop: int) -> NDArray[np.float64]:
        positions = np.arange(start, stop, dtype=np.int64) * self._down
        first = positions // self._up - (self._half - 1) - self._base
        windows = sliding_window_view(self._pending, self._taps)[first]
        phase = positions % self._up
        if self._steps == self._up:
            return np.einsum("ij,ij->i", windows, self._phases[phase])
        row, rest = np.divmod(phase * self._steps, self._up)
        before = np.einsum("ij,ij->i", windows, self._phases[row])
        behind = np.einsum("ij,ij->i", windows, self._phases[row + 1])
        return before + rest / self._up * (behind - before)

    def _forget(self) -> None:
        needed = self._made * self._down // self._up - (self._half - 1)
        drop = min(max(0, needed - self._base), len(self._pending))
        self._pending = self._pending[drop:].copy()
        self._base += drop


def resample(samples: NDArray[np.float32], source: int, target: int) -> NDArray[np.float32]:
    """A whole recording (1-D) from `source` to `target` hertz; the same array when the rates are equal."""
    if source == target:
        return samples
    resampler = Resampler(source, target)
    # In pieces, because each is held in double precision.
    starts = range(0, len(samples), _INPUTS_AT_ONCE)
    pieces = [resampler.process(samples[start : start + _INPUTS_AT_ONCE]) for start in starts]
    return np.concatenate((*pieces, resampler.flush()))


def weights(phases: NDArray[np.float64], narrow: float) -> NDArray[np.float64]:
    """Shape (len(phases), taps): a row weighs the inputs around an output that lies `phase` of a frame after an input.

    `narrow`: the lower rate as a share of the source's.
    """
    half = _half_length(narrow)
    beta = 0.1102 * (ATTENUATION_DB - 8.7)
    cutoff = (PASSBAND + STOPBAND) / 2 * narrow
    offsets = np.arange(1 - half, half + 1)[None, :] - phases[:, None]
    window = np.i0(beta * np.sqrt(np.maximum(0.0, 1 - (offsets / half) ** 2))) / np.i0(beta)
    found = cutoff * np.sinc(cutoff * offsets) * window
    # Each row sums to one, or a constant input would come out rippled from phase to phase.
    return found / found.sum(axis=1, keepdims=True)


def _half_length(narrow: float) -> int:
    width = math.pi * (STOPBAND - PASSBAND) * narrow
    return math.ceil((ATTENUATION_DB - 7.95) / (2.285 * width) / 2) + 1
