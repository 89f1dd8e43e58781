"""The player child: `python -I -m rocm_wizard.audio.player [--device NAME] [--host-api NAME] [--at-device-rate]`.

A process of its own, because a sound driver can hang a thread for ever or take the process with it. One process plays
one utterance. JSON Lines both ways; standard error is free text.

Standard input
    {"type":"open","sample_rate":24000}     once, first
    {"type":"audio","audio_b64":"..."}      base64 of float32 little-endian mono, finite, at least one frame
    {"type":"end"}                          no more audio; wait for `finished` before closing standard input
    {"type":"stop"}                         stop now
    End of file means stop now, also after `end`.

    Up to 120 s are queued. While the queue is full nothing is read, so the host's own write blocks until the device has
    made room for the message at hand: never longer than that sound takes to play. A host that dies meanwhile is noticed
    within half a second on POSIX; on Windows once its message is queued.

Standard output (every time is `time.monotonic_ns` of this computer, every frame count at the device's rate)
    opened       host_api, device, rate, asked_rate, latency_ms, resampled, attempts, prebuffer_ms, hands_free
    unavailable  reason, code, text, attempts                       and the process ends
    playing      at, first_audio_received_at, after_first_audio_ms, after_prebuffer_ms
                                                                    the first sample was handed to the device
    progress     counters, played_seconds, headroom_ms, open_gap_ms five times a second
    gap          at_seconds, starved_frames, length_ms              when sound resumes after a gap
    finished     outcome, counters, played_seconds, released        and the process ends
    error        reason, text                                       and the process ends, code 1

`after_prebuffer_ms` counts from the arrival of the message that filled the prebuffer (or ended the stream); null when
sound began because 1.5 s had passed.

Outcomes: `played` (no gap), `degraded` (at least one), `lost_device`, `stopped`. `released` is false when the driver
did not let go of the device within a second; the process ends all the same. Exit code 0 except after `error`.
"""

import argparse
import gc
import os
import queue
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rocm_wizard.audio.devices import Choice, NoOutput, Wanted, choices_for, load_portaudio
from rocm_wizard.audio.playback import Condition, Playback
from rocm_wizard.audio.policy import GAP_LOG_LENGTH, PREBUFFER_MS
from rocm_wizard.audio.protocol import Audio, End, LineReader, Open, ProtocolError, Stop, Writer, claim_stdout, decode

_TICK_SECONDS = 0.02
_PROGRESS_SECONDS = 0.2

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


class Player:
    """The main thread: owns PortAudio, tells the host what happens and decides when it is over."""

    def __init__(self, writer: Writer, reader: Reader, choices: Sequence[Choice], wanted: Wanted) -> None:
        self._writer = writer
        self._reader = reader
        self._choices = tuple(choices)
        self._wanted = wanted
        self._gaps_told = 0
        self._playing_told = False

    def run(self) -> int:
        """Plays one utterance; returns the exit code."""
        try:
            sound: Any = load_portaudio()
        except NoOutput as error:
            sound = error  # told when the host asks, or it would find us gone instead
        self._reader.start()
        notice = self._reader.notices.get()
        if isinstance(notice, Stop):
            return 0
        if isinstance(notice, ProtocolError):
            return self._fail(notice.reason, str(notice))
        try:
            if isinstance(sound, NoOutput):
                raise sound
            playback = Playback(sound, self._choices, self._wanted, notice.sample_rate)
        except NoOutput as error:
            attempts = [asdict(attempt) for attempt in error.attempts]
            self._writer.send("unavailable", reason=error.reason, code=error.code, text=str(error), attempts=attempts)
            return 0
        self._tell_opened(playback)
        self._reader.opened(playback)
        return self._watch(playback)

    def _watch(self, playback: Playback) -> int:
        next_progress = time.perf_counter()
        while True:
            try:
                notice = self._reader.notices.get(timeout=_TICK_SECONDS)
            except queue.Empty:
                notice = None
            condition = playback.look()
            self._tell_events(playback)
            if isinstance(notice, ProtocolError):
                playback.close(drain=False)
                return self._fail(notice.reason, str(notice))
            if condition == "callback_failed":
                playback.close(drain=False)
                return self._fail(condition, repr(playback.feed.error))
            if notice is not None or condition != "playing":
                return self._finish(playback, condition)
            if time.perf_counter() >= next_progress:
                next_progress += _PROGRESS_SECONDS
                self._tell_progress(playback)

    def _finish(self, playback: Playback, condition: Condition) -> int:
        released = playback.close(drain=condition == "finished")
        self._tell_events(playback)
        counters = playback.counters()
        outcome: str = condition if condition == "lost_device" else "stopped"
        if condition == "finished":
            outcome = "degraded" if counters["gaps"] else "played"
        self._writer.send(
            "finished", outcome=outcome, counters=counters, played_seconds=playback.played_seconds, released=released
        )
        return 0

    def _fail(self, reason: str, text: str) -> int:
        self._writer.send("error", reason=reason, text=text)
        return 1

    def _tell_opened(self, playback: Playback) -> None:
        opened = playback.opened
        self._writer.send(
            "opened",
            host_api=opened.output.host_api,
            device=opened.output.name,
            rate=playback.rate,
            asked_rate=playback.stream_rate,
            latency_ms=playback.latency * 1000,
            resampled=playback.resampled,
            attempts=opened.attempts_as_facts(),
            prebuffer_ms=PREBUFFER_MS,
            hands_free=opened.hands_free,
        )

    def _tell_events(self, playback: Playback) -> None:
        feed, policy = playback.feed, playback.feed.renderer.policy
        if feed.first_sample_clock and not self._playing_told:
            self._playing_told = True
            self._tell_playing(feed.first_sample_at, feed.first_sample_clock)
        while self._gaps_told < policy.counters.gaps:
            slot = self._gaps_told % GAP_LOG_LENGTH
            start, length = policy.gap_starts[slot], policy.gap_lengths[slot]
            self._gaps_told += 1
            at_seconds, length_ms = start / playback.rate, length * 1000 / playback.rate
            self._writer.send("gap", at_seconds=at_seconds, starved_frames=length, length_ms=length_ms)

    def _tell_playing(self, at: int, clock: float) -> None:
        reader = self._reader
        filled = reader.prebuffered_clock
        self._writer.send(
            "playing",
            at=at,
            first_audio_received_at=reader.first_audio_at,
            after_first_audio_ms=(clock - reader.first_audio_clock) * 1000,
            after_prebuffer_ms=(clock - filled) * 1000 if filled is not None and filled <= clock else None,
        )

    def _tell_progress(self, playback: Playback) -> None:
        self._writer.send(
            "progress",
            counters=playback.counters(),
            played_seconds=playback.played_seconds,
            headroom_ms=playback.headroom_ms,
            open_gap_ms=playback.feed.renderer.policy.open_gap_ms,
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the player on this process's own standard streams; returns the exit code."""
    parser = argparse.ArgumentParser(prog="rocm_wizard.audio.player", allow_abbrev=False)
    parser.add_argument("--device", help="name of the output, whole")
    parser.add_argument("--host-api", help="name of its host API")
    parser.add_argument("--at-device-rate", action="store_true", help="leave no rate conversion to the system")
    options = parser.parse_args(arguments)
    writer = claim_stdout()
    # A collection or a long turn of another thread would come between the audio thread and its block.
    gc.disable()
    sys.setswitchinterval(0.001)
    choices: Sequence[Choice] = choices_for(sys.platform)
    if options.at_device_rate:
        choices = [choice for choice in choices if choice.rate == "device"]
    player = Player(writer, Reader(LineReader(0)), choices, Wanted(options.device, options.host_api))
    try:
        return player.run()
    except OSError as error:
        print(f"the host is gone: {error}", file=sys.stderr)
        return 0


def _exit(code: Any) -> None:
    """Leaves without finalisation: PortAudio's own ending can hang on a driver that already does."""
    try:
        sys.stderr.flush()
    finally:
        os._exit(code if isinstance(code, int) else 1)


if __name__ == "__main__":
    _exit(main())
