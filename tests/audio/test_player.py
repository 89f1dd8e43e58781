"""The real player against a real PulseAudio."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import psutil
import pytest
from numpy.typing import NDArray

from rocm_wizard.audio.resample import resample

from .player_host import ARGV, RATE, PlayerHost, blocks, encoded, speech_like, with_environment
from .pulse_server import SINKS, Match, PulseServer, align, silent_environment, wait_until


def play_whole(
    pulse: PulseServer, sink: str, samples: NDArray[np.float32], arguments: Sequence[str] = (), **wanted: str
) -> tuple[PlayerHost, NDArray[np.float32]]:
    """Feeds everything at once in blocks of 0.2 s; returns the host with all messages, and the capture.

    A busy computer can let the device itself run dry, which no player prevents. PortAudio flags it: only then is the
    playback repeated, twice at most.
    """
    for _ in range(2):
        host, captured = play_once(pulse, sink, samples, arguments, **wanted)
        if not host.of("finished")[0]["counters"]["host_underflow_flags"]:
            return host, captured
    return play_once(pulse, sink, samples, arguments, **wanted)


def play_once(
    pulse: PulseServer, sink: str, samples: NDArray[np.float32], arguments: Sequence[str] = (), **wanted: str
) -> tuple[PlayerHost, NDArray[np.float32]]:
    with pulse.capture(sink) as capture, PlayerHost(pulse.child_environment(), arguments) as host:
        host.send("open", sample_rate=RATE, **wanted)
        host.until("opened")
        for block in blocks(samples):
            host.audio(block)
        host.send("end")
        host.until("finished")
        assert host.end() == 0
    return host, capture.samples


def assert_gapless(host: PlayerHost, frames: int) -> None:
    finished = host.of("finished")[0]
    assert finished["outcome"] == "played"
    assert finished["released"] is True
    counters = finished["counters"]
    assert counters["frames_played"] == frames
    zero = ("gaps", "starved_frames", "starved_callbacks", "reprimes", "longest_gap_ms")
    assert {name: counters[name] for name in zero} == dict.fromkeys(zero, 0)
    assert counters["min_headroom_ms"] >= 300 - 30  # what one callback takes
    assert not host.of("gap")


def test_mono_device_at_the_streams_rate_plays_every_sample_unchanged(pulse: PulseServer) -> None:
    sent = speech_like()
    host, captured = play_whole(pulse, "v24", sent, device="v24", host_api="ALSA")
    assert_gapless(host, len(sent))
    match = align(captured, sent)
    assert match.largest_difference == 0
    assert not captured[: match.offset].any()
    assert not captured[match.offset + len(sent) :].any()
    opened = host.of("opened")[0]
    assert (opened["device"], opened["host_api"], opened["rate"]) == ("v24", "ALSA", RATE)
    assert opened["resampled"] is False
    assert opened["hands_free"] is False
    assert [attempt["step"] for attempt in opened["attempts"]] == ["opened"]


def test_stereo_device_at_48_khz_plays_the_same_sound(pulse: PulseServer) -> None:
    sent = speech_like()
    host, captured = play_whole(pulse, "vspk", sent)
    assert_gapless(host, len(sent))
    match = at_sink_rate(captured, sent)
    # The server's own resampler at its default quality takes off what lies near 12 kHz.
    assert match.correlation > 0.998
    playing, progress = host.of("playing")[0], host.of("progress")
    assert playing["first_audio_received_at"] < playing["at"] <= time.monotonic_ns()
    assert len(progress) >= 12
    played = [message["played_seconds"] for message in progress]
    assert played == sorted(played)
    assert 2.5 < played[-1] <= 3.0


def test_own_resampler_plays_the_same_sound(pulse: PulseServer) -> None:
    sent = speech_like()
    host, captured = play_whole(pulse, "vspk", sent, ["--at-device-rate"])
    opened = host.of("opened")[0]
    assert opened["resampled"] is True
    assert opened["asked_rate"] == RATE
    assert opened["rate"] == 44_100
    assert_gapless(host, len(sent) * 44_100 // RATE)
    assert at_sink_rate(captured, sent).correlation > 0.998


def at_sink_rate(captured: NDArray[np.float32], sent: NDArray[np.float32]) -> Match:
    """The sink's 48 kHz against ours, both made four times finer: a resampler may delay by a part of a frame."""
    fine = resample(sent, RATE, 4 * SINKS["vspk"][0])
    return align(resample(captured, SINKS["vspk"][0], 4 * SINKS["vspk"][0]), fine)


def test_late_blocks_are_gaps_of_the_size_they_are_late(pulse: PulseServer) -> None:
    sent = speech_like(2.0)
    parts = blocks(sent)
    with pulse.capture("v24") as capture, PlayerHost(pulse.child_environment()) as host:
        host.send("open", sample_rate=RATE, device="v24")
        host.until("opened")
        # A device asks faster than real time until its buffer is full; only then can its appetite be foretold.
        while host.until("progress")["counters"]["callbacks"] < 30:
            pass
        for part in parts[:2]:
            host.audio(part)
        dry = host.until("playing")["at"] / 1e9 + 0.4
        # The block fills the cushion of 150 ms.
        resumed = send_at(host, dry + 0.3, parts[2])
        dry_again = resumed + 0.2
        # The first block falls short of the cushion, now 250 ms; the second fills it.
        send_at(host, dry_again + 0.2, parts[3])
        resumed_again = send_at(host, dry_again + 0.35, parts[4])
        for part in parts[5:]:
            host.audio(part)
        host.send("end")
        finished = host.until("finished")
        assert host.end() == 0
    counters = finished["counters"]
    assert finished["outcome"] == "degraded"
    assert (counters["gaps"], counters["reprimes"], counters["frames_played"]) == (2, 2, len(sent))
    gaps = host.of("gap")
    assert [gap["at_seconds"] for gap in gaps] == pytest.approx([0.4, 0.6])
    assert [gap["length_ms"] for gap in gaps] == pytest.approx(
        [late * 1000 for late in (resumed - dry, resumed_again - dry_again)], abs=60
    )
    assert counters["starved_frames"] == sum(gap["starved_frames"] for gap in gaps)
    assert counters["longest_gap_ms"] == max(gap["length_ms"] for gap in gaps)
    assert counters["min_headroom_ms"] == 0
    assert_heard_gaps(capture.samples, sent, gaps)


def send_at(host: PlayerHost, moment: float, samples: NDArray[np.float32]) -> float:
    """Sends at `moment` of `time.monotonic`; returns when it was sent, later on a busy computer."""
    time.sleep(max(0.0, moment - time.monotonic()))
    host.audio(samples)
    return time.monotonic()


def assert_heard_gaps(captured: NDArray[np.float32], sent: NDArray[np.float32], gaps: list[dict[str, float]]) -> None:
    """The capture is the sent sound, cut where the gaps are told to be, changed in the first 5 ms after each only."""
    fade = round(0.005 * RATE)
    at = align(captured, sent[: round(0.4 * RATE)]).offset
    start = 0
    for gap in gaps:
        stop = round(gap["at_seconds"] * RATE)
        faded = fade if start else 0
        assert np.array_equal(captured[at + faded : at + stop - start], sent[start + faded : stop])
        at += stop - start
        silence = int(gap["starved_frames"])
        assert not captured[at + fade : at + silence].any()
        assert np.abs(np.diff(captured[at - 1 : at + fade + 1])).max() < 0.02
        at += silence
        start = stop
    assert np.array_equal(captured[at + fade : at + len(sent) - start], sent[start + fade :])


def test_no_sound_device_is_told_with_its_reason(tmp_path: Path) -> None:
    if sys.platform != "linux":
        pytest.skip("an ALSA configuration without devices")
    with PlayerHost(with_environment(silent_environment(tmp_path / "空"))) as host:
        host.send("open", sample_rate=RATE)
        message = host.until("unavailable")
        assert host.end() == 0
    assert (message["reason"], message["code"], message["attempts"]) == ("no_output_device", None, [])


def test_unknown_device_is_not_replaced_by_another(pulse: PulseServer) -> None:
    with PlayerHost(pulse.child_environment()) as host:
        host.send("open", sample_rate=RATE, device="扬声器")
        message = host.until("unavailable")
        assert host.end() == 0
    assert message["reason"] == "device_not_found"
    assert "扬声器" in message["text"]


def test_server_that_is_not_there_is_an_attempt_with_a_code(own_pulse: PulseServer) -> None:
    environment = own_pulse.child_environment()
    own_pulse.stop()
    with PlayerHost(environment) as host:
        host.send("open", sample_rate=RATE)
        message = host.until("unavailable")
        assert host.end() == 0
    assert message["reason"] in ("no_output_device", "could_not_open")
    assert all(attempt["code"] < 0 and attempt["text"] for attempt in message["attempts"])


def test_unplugged_device_is_lost_within_four_seconds(own_pulse: PulseServer) -> None:
    with PlayerHost(own_pulse.child_environment()) as host:
        host.send("open", sample_rate=RATE, device="v24")
        host.until("opened")
        host.audio(speech_like(8.0))
        while host.until("progress")["played_seconds"] < 0.5:
            pass
        own_pulse.unplug("vspk")
        own_pulse.unplug("v24")
        unplugged = time.monotonic()
        finished = host.until("finished")
        assert host.end() == 0
        assert time.monotonic() - unplugged < 4
    assert finished["outcome"] == "lost_device"
    assert 0.5 <= finished["played_seconds"] < 3


def test_stop_is_heard_at_once(pulse: PulseServer) -> None:
    with pulse.capture("v24") as capture, PlayerHost(pulse.child_environment()) as host:
        host.send("open", sample_rate=RATE, device="v24")
        host.until("opened")
        host.audio(speech_like(8.0))
        host.until("playing")
        host.send("stop")
        finished = host.until("finished")
        assert host.end() == 0
    assert finished["outcome"] == "stopped"
    assert finished["played_seconds"] < 1.5
    assert np.count_nonzero(capture.samples) <= finished["counters"]["frames_played"]


def test_end_of_input_before_open_is_a_quiet_exit(tmp_path: Path) -> None:
    done = subprocess.run(
        ARGV, stdin=subprocess.DEVNULL, capture_output=True, timeout=20, check=False,
        env=with_environment(silent_environment(tmp_path)),
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, b"")


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (['{"type":"audio","audio_b64":"AAAAAA=="}'], "out_of_order"),
        (['{"type":"open","sample_rate":24000}', '{"type":"open","sample_rate":24000}'], "out_of_order"),
        (['{"type":"open","sample_rate":24000}', '{"type":"audio","audio_b64":"AAAAAA="}'], "bad_audio"),
        (['{"type":"open","sample_rate":24000}', '{"type":"end"}', '{"type":"end"}'], "out_of_order"),
        (["PortAudio says hello"], "not_json"),
    ],
)
def test_broken_protocol_is_an_error_and_code_1(pulse: PulseServer, lines: list[str], reason: str) -> None:
    done = subprocess.run(
        ARGV, input="\n".join([*lines, ""]).encode(), capture_output=True, timeout=20, check=False,
        env=pulse.child_environment(),
    )  # fmt: skip
    last = json.loads(done.stdout.splitlines()[-1])
    assert (done.returncode, last["type"], last["reason"]) == (1, "error", reason)


_HOST = """
import json, subprocess, sys
player = subprocess.Popen(json.loads(sys.argv[1]), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
print(player.pid, flush=True)
player.stdin.write(b'{"type":"open","sample_rate":24000,"device":"v24"}\\n'); player.stdin.flush()
player.stdout.readline()
block = json.dumps({"type": "audio", "audio_b64": sys.stdin.readline().strip()}).encode() + b"\\n"
for number in range(1, int(sys.argv[2]) + 1):
    player.stdin.write(block); player.stdin.flush()
    print(number, flush=True)
for line in player.stdout:
    pass
"""


@pytest.fixture
def killed_players() -> Iterator[list[int]]:
    pids: list[int] = []
    yield pids
    for pid in pids:
        if is_running(pid):
            psutil.Process(pid).kill()


def is_running(pid: int) -> bool:
    """An orphan whose reaper is slow is a zombie: it has ended."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.mark.parametrize(("blocks_sent", "why"), [(1, "playing"), (41, "its queue of 120 s is full")])
def test_player_ends_within_two_seconds_of_its_killed_host(
    pulse: PulseServer, killed_players: list[int], blocks_sent: int, why: str
) -> None:
    player_argv = json.dumps(ARGV)
    argv = [sys.executable, "-I", "-c", _HOST, player_argv, "1000" if blocks_sent > 1 else "1"]
    host = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=pulse.child_environment())
    assert host.stdin is not None
    assert host.stdout is not None
    try:
        player = int(host.stdout.readline())
        killed_players.append(player)
        host.stdin.write(encoded(np.full(3 * RATE, 0.1, np.float32)).encode() + b"\n")
        host.stdin.flush()
        while int(host.stdout.readline()) < blocks_sent:
            pass
        assert is_running(player)
        os.kill(host.pid, signal.SIGKILL)
    finally:
        host.kill()
        host.wait(10)
    wait_until(lambda: not is_running(player), f"the player ends while {why}", seconds=2)
