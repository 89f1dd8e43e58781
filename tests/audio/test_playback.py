"""The watchdog, the close budget and the callback, on a stream that does what drivers do at their worst."""

import threading
import time
from types import SimpleNamespace

import numpy as np

from rocm_wizard.audio.devices import WINDOWS_CHOICES, Wanted
from rocm_wizard.audio.playback import Feed, Playback

from .pulse_server import wait_until
from .scripted_portaudio import ScriptedPortAudio

CLEAN = SimpleNamespace(output_underflow=False, priming_output=False)


def make_playback(sound: ScriptedPortAudio) -> Playback:
    return Playback(sound, WINDOWS_CHOICES, Wanted(), 24_000)


def test_device_that_stops_calling_back_is_lost_after_two_seconds() -> None:
    playback = make_playback(ScriptedPortAudio())
    began = time.monotonic()
    wait_until(lambda: playback.look() == "lost_device", "the watchdog", 4)
    assert 1.9 < time.monotonic() - began < 3.5


def test_callbacks_keep_the_watchdog_quiet() -> None:
    playback = make_playback(ScriptedPortAudio())
    out = np.zeros((240, 1), np.float32)
    deadline = time.monotonic() + 2.3
    while time.monotonic() < deadline:
        playback.feed.callback(out, 240, None, CLEAN)
        assert playback.look() == "playing"
        time.sleep(0.01)


def test_stream_that_ended_by_itself_is_lost_at_once() -> None:
    sound = ScriptedPortAudio()
    playback = make_playback(sound)
    assert playback.look() == "playing"
    sound.streams[0].active = False
    assert playback.look() == "lost_device"


def test_driver_that_does_not_let_go_costs_one_second() -> None:
    release = threading.Event()
    playback = make_playback(ScriptedPortAudio(hang=release))
    began = time.monotonic()
    assert playback.close(drain=True) is False
    assert 0.9 < time.monotonic() - began < 2
    release.set()


def test_close_lets_go_and_unblocks_the_producer() -> None:
    sound = ScriptedPortAudio()
    playback = make_playback(sound)
    results: list[bool] = []
    too_much = np.zeros(121 * 24_000, np.float32)
    producer = threading.Thread(target=lambda: results.append(playback.write(too_much, lambda: False)))
    producer.start()
    wait_until(lambda: playback.feed.ring.free == 0, "the queue is full")
    assert playback.headroom_ms == 120_000
    assert playback.close(drain=False) is True
    producer.join(2)
    assert results == [False]
    assert sound.streams[0].closed


def test_finished_only_after_latency_and_110_ms_of_silence() -> None:
    playback = make_playback(ScriptedPortAudio())
    playback.write(np.full(480, 0.5, np.float32), lambda: False)
    playback.end(lambda: False)
    out = np.zeros((240, 2), np.float32)
    callbacks = 0
    while playback.look() == "playing":
        playback.feed.callback(out, 240, None, CLEAN)
        callbacks += 1
    assert callbacks == 2 + (100 + 110) // 10
    assert playback.feed.first_sample_at > 0


def test_callback_error_is_kept_and_silence_goes_out() -> None:
    playback = make_playback(ScriptedPortAudio())
    out = np.ones((240, 2), np.float32)
    playback.feed.callback(out, 240, None, None)  # no flags: nothing PortAudio would send
    assert not out.any()
    assert isinstance(playback.feed.error, AttributeError)
    assert playback.look() == "callback_failed"
    out.fill(1.0)
    playback.feed.callback(out, 240, None, CLEAN)
    assert not out.any()


def test_both_channels_get_the_sound_and_flags_are_counted_without_priming() -> None:
    feed = Feed(24_000)
    feed.ring.write(np.linspace(0.1, 0.5, 480, dtype=np.float32))
    feed.renderer.ended = True
    out = np.zeros((240, 2), np.float32)
    feed.callback(out, 240, None, SimpleNamespace(output_underflow=True, priming_output=True))
    assert np.array_equal(out[:, 0], out[:, 1])
    assert out.all()
    assert feed.renderer.policy.counters.host_underflow_flags == 0
    feed.callback(out, 240, None, SimpleNamespace(output_underflow=True, priming_output=False))
    assert feed.renderer.policy.counters.host_underflow_flags == 1


def test_resampled_playback_counts_in_device_frames() -> None:
    sound = ScriptedPortAudio(lambda host_api, rate, settings: (-9997, "Invalid rate") if rate == 24_000 else None)
    playback = make_playback(sound)
    assert (playback.rate, playback.resampled) == (48_000, True)
    playback.write(np.zeros(24_000, np.float32), lambda: False)
    playback.end(lambda: False)
    assert playback.feed.ring.written == 48_000
    assert playback.headroom_ms == 1000
