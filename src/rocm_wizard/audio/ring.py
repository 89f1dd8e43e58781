"""Bounded ring of mono float32 frames between one producer thread and one consumer (the audio callback)."""

import threading
import time

import numpy as np
from numpy.typing import NDArray


class FrameRing:
    """Single producer, single consumer.

    Each side moves only its own counter, after its copy is done, so neither waits for the other's copy and the consumer
    takes no lock. The one lock is the flag that wakes a producer waiting for room; the consumer touches it only then.
    Memory is taken once, in the constructor (the system commits pages as the producer first writes them).
    """

    def __init__(self, capacity: int) -> None:
        """`capacity` in frames; raises ValueError below 1."""
        if capacity < 1:
            raise ValueError(f"a ring holds at least one frame, not {capacity}")
        self._frames = np.empty(capacity, np.float32)
        self._capacity = capacity
        self._written = 0
        self._read = 0
        self._closed = False
        self._producer_waits = False
        self._room = threading.Event()

    @property
    def capacity(self) -> int:
        """Frames it can hold."""
        return self._capacity

    @property
    def queued(self) -> int:
        """Frames written and not yet read."""
        return self._written - self._read

    @property
    def free(self) -> int:
        """Frames a write would take now."""
        return self._capacity - self.queued

    @property
    def written(self) -> int:
        """Frames ever taken from the producer."""
        return self._written

    @property
    def read(self) -> int:
        """Frames ever given to the consumer."""
        return self._read

    @property
    def closed(self) -> bool:
        return self._closed

    def write(self, frames: NDArray[np.float32], timeout: float = 0.0) -> int:
        """Producer: puts `frames` (1-D) in, in order, and returns how many fitted.

        With `timeout` 0 it takes what fits now; otherwise it waits up to `timeout` seconds for the consumer to make
        room for the rest. A closed ring takes nothing.
        """
        deadline = time.monotonic() + timeout
        done = self._put(frames)
        while done < len(frames) and not self._closed:
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                break
            self._wait_for_room(remaining)
            done += self._put(frames[done:])
        return done

    def read_into(self, out: NDArray[np.float32]) -> int:
        """Consumer: fills the start of `out` (1-D, any stride) with what is queued; returns how many frames."""
        count = min(len(out), self._written - self._read)
        start = self._read % self._capacity
        first = min(count, self._capacity - start)
        out[:first] = self._frames[start : start + first]
        out[first:count] = self._frames[: count - first]
        self._read += count
        if self._producer_waits:
            self._room.set()
        return count

    def close(self) -> None:
        """Any thread: takes nothing more and wakes a waiting producer."""
        self._closed = True
        self._room.set()

    def _put(self, frames: NDArray[np.float32]) -> int:
        count = 0 if self._closed else min(len(frames), self.free)
        start = self._written % self._capacity
        first = min(count, self._capacity - start)
        self._frames[start : start + first] = frames[:first]
        self._frames[: count - first] = frames[first:count]
        self._written += count
        return count

    def _wait_for_room(self, seconds: float) -> None:
        self._room.clear()
        self._producer_waits = True
        # Looked at again after the flag is up: the consumer may have read in between and seen it down.
        if self.free == 0 and not self._closed:
            self._room.wait(seconds)
        self._producer_waits = False
