"""The player's producer thread: what the host sends goes into the queue as it comes."""

import queue
import threading
import time

from rocm_wizard.audio.playback import Playback
from rocm_wizard.audio.policy import PREBUFFER_MS
from rocm_wizard.audio.protocol import Audio, End, LineReader, Open, ProtocolError, Stop, decode

Notice = Open | Stop | ProtocolError


class Reader:
    """The producer thread: audio goes straight into the queue, everything else to the main thread as a notice."""

    def __init__(self, lines: LineReader) -> None:
        self.notices: queue.SimpleQueue[Notice] = queue.SimpleQueue()
        self.first_audio_at = 0
        self.first_audio_clock = 0.0
        self.prebuffered_clock: float | None = None
        self._lines = lines
        self._playback: Playback | None = None
        self._opened = threading.Event()
        self._state = "closed"

    def start(self) -> None:
        threading.Thread(target=self._run, name="read-stdin", daemon=True).start()

    def opened(self, playback: Playback) -> None:
        """The device is open: audio may come."""
        self._playback = playback
        self._opened.set()

    def _run(self) -> None:
        try:
            while (line := self._lines.read()) is not None:
                self._take(line)
            self.notices.put(Stop())
        except ProtocolError as error:
            self.notices.put(error)
        except OSError:
            self.notices.put(Stop())
        except Exception as error:  # noqa: BLE001 - the main thread must hear of it, or the host waits for ever
            self.notices.put(ProtocolError("reader_failed", repr(error)))

    def _take(self, line: bytes) -> None:
        arrived, clock = time.monotonic_ns(), time.perf_counter()
        message = decode(line)
        if message is None:
            return
        if isinstance(message, Stop):
            self.notices.put(message)
        elif isinstance(message, Open):
            self._expect("closed", "open comes once")
            self._state = "open"
            self.notices.put(message)
            self._opened.wait()
        elif isinstance(message, Audio):
            self._expect("open", "audio comes between open and end")
            if not self.first_audio_at:
                self.first_audio_at, self.first_audio_clock = arrived, clock
            self._write(message, clock)
        else:
            assert isinstance(message, End)
            self._expect("open", "end comes once, after open")
            self._state = "ended"
            if self._playback is not None:
                self._prebuffered(clock)
                self._playback.end(self._lines.host_is_gone)

    def _write(self, message: Audio, clock: float) -> None:
        playback = self._playback
        if playback is None:
            return
        # Noted before the write: the audio thread may take the first sample before this one runs again.
        coming_ms = len(message.frames) * 1000 / playback.stream_rate
        if playback.headroom_ms + coming_ms >= PREBUFFER_MS:
            self._prebuffered(clock)
        if not playback.write(message.frames, self._lines.host_is_gone):
            self.notices.put(Stop())

    def _prebuffered(self, clock: float) -> None:
        if self.prebuffered_clock is None:
            self.prebuffered_clock = clock

    def _expect(self, state: str, rule: str) -> None:
        if self._state != state:
            raise ProtocolError("out_of_order", rule)
