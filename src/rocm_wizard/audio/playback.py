"""One utterance on one device: ring, renderer, resampler and the open stream, and how it is watched and closed."""

import threading
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rocm_wizard.audio.devices import Choice, Opened, Wanted, open_output
from rocm_wizard.audio.render import Renderer
from rocm_wizard.audio.resample import Resampler
from rocm_wizard.audio.ring import FrameRing

RING_SECONDS = 120
LOST_AFTER_SECONDS = 2.0
CLOSE_SECONDS = 1.0
TAIL_SECONDS = 0.110
"""Beside the stream's latency: without that much silence before stop() the last buffer, up to 100 ms, is not heard."""
_LONGEST_TICK = 0.25

Condition = Literal["playing", "finished", "lost_device", "callback_failed"]


class Feed:
    """What the audio thread sees. One is made for each rate that is tried; the stream that opens keeps its own."""

    def __init__(self, rate: int, *, fade_in: bool = False) -> None:
        self.ring = FrameRing(RING_SECONDS * rate)
        self.renderer = Renderer(self.ring, rate, fade_in=fade_in)
        self.error: BaseException | None = None
        self.first_sample_at = 0
        """`time.monotonic_ns` when the first sample was handed to the device; 0 before."""
        self.first_sample_clock = 0.0
        """The same moment on `time.perf_counter`, which is finer on Windows."""
        self.last_sample_at = 0
        """`time.monotonic_ns` when a sample was last handed to the device; 0 before."""

    def callback(self, out: NDArray[np.float32], frames: int, times: Any, status: Any) -> None:
        """PortAudio's; `out` has shape (frames, channels). Never raises: an error is kept and silence goes out."""
        del frames, times
        try:
            if self.error is None:
                played = self.renderer.fill(out[:, 0], time.perf_counter())
                if out.shape[1] > 1:
                    out[:, 1:] = out[:, :1]
                if status.output_underflow and not status.priming_output:
                    self.renderer.policy.counters.host_underflow_flags += 1
                if played:
                    self.last_sample_at = time.monotonic_ns()
                    if not self.first_sample_at:
                        self.first_sample_at = self.last_sample_at
                        self.first_sample_clock = time.perf_counter()
                return
        except BaseException as error:  # noqa: BLE001 - one that leaves a callback ends the stream without a word
            self.error = error
        out.fill(0.0)


class Playback:
    """Made by the thread that owns PortAudio; `write` and `end` belong to the one producer thread."""

    def __init__(
        self, sound: Any, choices: tuple[Choice, ...], wanted: Wanted, stream_rate: int, *, resumed: bool = False
    ) -> None:
        """Opens and starts the device; `resumed`: the sound begins in its middle. Raises `refusals.NoOutput`."""
        feeds: dict[int, Feed] = {}

        def make_callback(rate: int) -> Callable[..., None]:
            feeds[rate] = Feed(rate, fade_in=resumed)
            return feeds[rate].callback

        self.stream_rate = stream_rate
        self.opened: Opened = open_output(sound, choices, wanted, stream_rate, make_callback)
        self.rate = self.opened.rate
        self.feed = feeds[self.rate]
        self.latency = float(self.opened.stream.latency)
        self._resampler = Resampler(stream_rate, self.rate) if self.rate != stream_rate else None
        self._tail_frames = round((self.latency + TAIL_SECONDS) * self.rate)
        self._still = 0.0
        self._callbacks = 0
        self._looked_at = time.perf_counter()

    @property
    def resampled(self) -> bool:
        return self._resampler is not None

    @property
    def headroom_ms(self) -> float:
        """Sound queued and not yet handed to the device."""
        return self.feed.ring.queued * 1000 / self.rate

    @property
    def played_seconds(self) -> float:
        """Sound handed to the device, without silence."""
        return self.feed.renderer.policy.counters.frames_played / self.rate

    def write(self, frames: NDArray[np.float32], give_up: Callable[[], bool]) -> bool:
        """Queues frames at the stream's rate, waiting for room; asks `give_up` four times a second while it waits.

        False when it gave up or the playback was closed.
        """
        if self._resampler is not None:
            frames = self._resampler.process(frames)
        return self._queue(frames, give_up)

    def end(self, give_up: Callable[[], bool]) -> None:
        """No more frames will come."""
        if self._resampler is None or self._queue(self._resampler.flush(), give_up):
            self.feed.renderer.ended = True

    def look(self) -> Condition:
        """What has become of it; to be asked several times a second."""
        if self.feed.error is not None:
            return "callback_failed"
        if self.feed.renderer.silence_after_end >= self._tail_frames:
            return "finished"
        now = time.perf_counter()
        # A computer that slept for an hour was not without callbacks for that long.
        passed, self._looked_at = min(now - self._looked_at, _LONGEST_TICK), now
        callbacks = self.feed.renderer.policy.counters.callbacks
        self._still = self._still + passed if callbacks == self._callbacks else 0.0
        self._callbacks = callbacks
        if self._still >= LOST_AFTER_SECONDS or not self.opened.stream.active:
            return "lost_device"
        return "playing"

    def close(self, *, drain: bool) -> bool:
        """Stops within one second; False when the driver did not let go (a thread stuck there cannot be ended)."""
        self.feed.ring.close()
        stream = self.opened.stream

        def release() -> None:
            (stream.stop if drain else stream.abort)()
            stream.close()

        thread = threading.Thread(target=release, name="close-stream", daemon=True)
        thread.start()
        thread.join(CLOSE_SECONDS)
        self.feed.renderer.policy.close()
        return not thread.is_alive()

    def counters(self) -> dict[str, int | float]:
        """The counters by name."""
        return asdict(self.feed.renderer.policy.counters)

    def _queue(self, frames: NDArray[np.float32], give_up: Callable[[], bool]) -> bool:
        done = self.feed.ring.write(frames)
        while done < len(frames):
            if self.feed.ring.closed or give_up():
                return False
            done += self.feed.ring.write(frames[done:], timeout=0.25)
        return True
