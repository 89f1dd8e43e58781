"""Fills the device's blocks from the ring as the policy says, with fades at gaps and nowhere else.

Both fades follow half a cosine over 5 ms. Fade-in multiplies the first 5 ms after a gap. Fade-out needs no sample that
has not come: the last one is held and let down to zero inside the gap, so every frame before a gap goes out unchanged
and a stream without gaps is bit-exact.
"""

import numpy as np
from numpy.typing import NDArray

from rocm_wizard.audio.policy import PlaybackPolicy
from rocm_wizard.audio.ring import FrameRing

FADE_SECONDS = 0.005


class Renderer:
    """Called by the audio thread: takes no lock, makes no array, does no I/O."""

    def __init__(self, ring: FrameRing, rate: int, *, fade_in: bool = False) -> None:
        """`fade_in`: the stream begins in the middle of a sound."""
        self.policy = PlaybackPolicy(rate)
        self.ended = False
        """Set by the producer after its last write."""
        self.silence_after_end = 0
        """Frames of silence handed out since the last frame of an ended stream."""
        self._ring = ring
        self._length = max(1, round(FADE_SECONDS * rate))
        self._rising = (0.5 - 0.5 * np.cos(np.pi * (np.arange(self._length) + 0.5) / self._length)).astype(np.float32)
        self._falling = np.ascontiguousarray(self._rising[::-1])
        self._release = np.zeros(self._length, np.float32)
        self._risen = 0 if fade_in else self._length
        self._fallen = self._length
        self._last = np.float32(0.0)

    def fill(self, out: NDArray[np.float32], now: float) -> int:
        """Writes every frame of `out` (1-D); returns how many are the stream's. `now`: seconds on a steady clock."""
        # In this order: a producer that has set `ended` has no write left that `queued` could miss.
        ended = self.ended
        policy = self.policy
        played = policy.take(self._ring.queued, len(out), ended, now)
        self._ring.read_into(out[:played])
        out[played:] = 0.0
        if policy.resumed:
            self._risen = 0
        if self._risen < self._length:
            self._fade_in(out[:played])
        start = 0
        if played:
            self._last = out[played - 1]
        if policy.ran_short:
            np.multiply(self._falling, self._last, out=self._release)
            self._fallen = 0
            start = played
        if self._fallen < self._length:
            self._let_down(out[start:])
        if policy.drained:
            self.silence_after_end += len(out) - played
        return played

    def _fade_in(self, frames: NDArray[np.float32]) -> None:
        count = min(len(frames), self._length - self._risen)
        frames[:count] *= self._rising[self._risen : self._risen + count]
        self._risen += count

    def _let_down(self, frames: NDArray[np.float32]) -> None:
        count = min(len(frames), self._length - self._fallen)
        frames[:count] += self._release[self._fallen : self._fallen + count]
        self._fallen += count
