"""Sample-rate conversion that may be fed in pieces: windowed sinc, polyphase, numpy only.

Response, as fractions of the lower of the two Nyquist frequencies: flat within 0.01 dB up to 0.90, at least 80 dB down
from 1.00 on. Kaiser window; the length follows Kaiser's estimate, taps = (attenuation - 7.95) / (2.285 * width of the
transition) (A. V. Oppenheim, R. W. Schafer, Discrete-Time Signal Processing, 7.5.3). Sums are made in float64.
"""

import math

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

PASSBAND = 0.90
STOPBAND = 1.00
ATTENUATION_DB = 86.0
"""What the window is designed for; a few decibels above what is promised."""
_OUTPUTS_AT_ONCE = 1024


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
        self._phases = _design(self._up, self._down)
        self._taps = self._phases.shape[1]
        self._half = self._taps // 2
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
        for start in range(self._made, end, _OUTPUTS_AT_ONCE):
            stop = min(end, start + _OUTPUTS_AT_ONCE)
            out[start - self._made : stop - self._made] = self._outputs(start, stop)
        self._made = end
        self._forget()
        return out

    def _outputs(self, start: int, stop: int) -> NDArray[np.float64]:
        positions = np.arange(start, stop, dtype=np.int64) * self._down
        first = positions // self._up - (self._half - 1) - self._base
        windows = sliding_window_view(self._pending, self._taps)[first]
        return np.einsum("ij,ij->i", windows, self._phases[positions % self._up])

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
    return np.concatenate((resampler.process(samples), resampler.flush()))


def _design(up: int, down: int) -> NDArray[np.float64]:
    """Shape (up, taps): row p weighs the inputs around an output that lies p / up of a frame after an input."""
    narrow = min(1.0, up / down)
    width = math.pi * (STOPBAND - PASSBAND) * narrow
    half = math.ceil((ATTENUATION_DB - 7.95) / (2.285 * width) / 2) + 1
    beta = 0.1102 * (ATTENUATION_DB - 8.7)
    cutoff = (PASSBAND + STOPBAND) / 2 * narrow
    offsets = np.arange(1 - half, half + 1)[None, :] - np.arange(up)[:, None] / up
    window = np.i0(beta * np.sqrt(np.maximum(0.0, 1 - (offsets / half) ** 2))) / np.i0(beta)
    phases = cutoff * np.sinc(cutoff * offsets) * window
    # Each row sums to one, or a constant input would come out rippled from phase to phase.
    return phases / phases.sum(axis=1, keepdims=True)
