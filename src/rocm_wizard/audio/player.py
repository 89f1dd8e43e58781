"""The player child: `python -I -m rocm_wizard.audio.player [--at-device-rate]`.

A process of its own, because a sound driver can hang a thread for ever or take the process with it. One process plays
one utterance. JSON Lines both ways; standard error is free text.

Standard input
    {"type":"open","sample_rate":24000}     once, first; may name the output as a whole with "device" and "host_api"
                                            (else the default), "or_default" takes another one where it cannot be had,
                                            "resumed" fades in: the sound begins in its middle
    {"type":"audio","audio_b64":"..."}      base64 of float32 little-endian mono, finite, at least one frame
    {"type":"end"}                          no more audio; wait for `finished` before closing standard input
    {"type":"stop"}                         stop now
    End of file means stop now, also after `end`.

    Up to 120 s are queued. While the queue is full nothing is read, so the host's own write blocks until the device has
    made room for the message at hand: never longer than that sound takes to play. A host that dies meanwhile is noticed
    within half a second on POSIX; on Windows once its message is queued.

Standard output (every time is `time.monotonic_ns` of this computer, every frame count at the device's rate)
    opened       host_api, device, rate, asked_rate, latency_ms, resampled, attempts, outputs, prebuffer_ms, hands_free,
                 heard_by_nobody
    unavailable  reason, code, text, attempts, outputs              and the process ends
    playing      at, first_audio_received_at, after_first_audio_ms, after_prebuffer_ms
                                                                    the first sample was handed to the device
    progress     counters, played_seconds, headroom_ms, open_gap_ms five times a second
    gap          at_seconds, starved_frames, length_ms              when sound resumes after a gap
    finished     outcome, counters, played_seconds, last_sample_at, released
                                                                    and the process ends
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
import time
from collections.abc import Sequence
from typing import Any

from rocm_wizard.audio.devices import Choice, Wanted, choices_for, load_portaudio
from rocm_wizard.audio.playback import Condition, Playback
from rocm_wizard.audio.policy import GAP_LOG_LENGTH, PREBUFFER_MS
from rocm_wizard.audio.protocol import LineReader, ProtocolError, Stop, Writer, claim_stdout
from rocm_wizard.audio.reader import Reader
from rocm_wizard.audio.refusals import NoOutput

_TICK_SECONDS = 0.02
_PROGRESS_SECONDS = 0.2


class Player:
    """The main thread: owns PortAudio, tells the host what happens and decides when it is over."""

    def __init__(self, writer: Writer, reader: Reader, choices: Sequence[Choice]) -> None:
        self._writer = writer
        self._reader = reader
        self._choices = tuple(choices)
        self._gaps_told = 0
        self._playing_told = False

    def run(self) -> int:
        """Plays one utterance; returns the exit code."""
        self._reader.start()
        notice = self._reader.notices.get()
        if isinstance(notice, Stop):
            return 0
        if isinstance(notice, ProtocolError):
            return self._fail(notice.reason, str(notice))
        wanted = Wanted(notice.device, notice.host_api, notice.or_default)
        try:
            # Not before: PortAudio lists the devices when it is loaded, and never again (python-sounddevice issue 125).
            sound = load_portaudio()
            playback = Playback(sound, self._choices, wanted, notice.sample_rate, resumed=notice.resumed)
        except NoOutput as error:
            attempts = [attempt.as_fact() for attempt in error.attempts]
            self._writer.send(
                "unavailable",
                reason=error.reason,
                code=error.code,
                text=str(error),
                attempts=attempts,
                outputs=error.outputs,
            )
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
            "finished",
            outcome=outcome,
            counters=counters,
            played_seconds=playback.played_seconds,
            last_sample_at=playback.feed.last_sample_at,
            released=released,
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
            outputs=opened.outputs,
            prebuffer_ms=PREBUFFER_MS,
            hands_free=opened.hands_free,
            heard_by_nobody=opened.heard_by_nobody,
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
    parser.add_argument("--at-device-rate", action="store_true", help="leave no rate conversion to the system")
    options = parser.parse_args(arguments)
    writer = claim_stdout()
    # A collection or a long turn of another thread would come between the audio thread and its block.
    gc.disable()
    sys.setswitchinterval(0.001)
    choices: Sequence[Choice] = choices_for(sys.platform)
    if options.at_device_rate:
        choices = [choice for choice in choices if choice.rate == "device"]
    player = Player(writer, Reader(LineReader(0)), choices)
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
