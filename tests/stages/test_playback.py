"""Playback as the stage drives it: the real player process, a real audio server, sinks that come and go."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest
from numpy.typing import NDArray

from rocm_wizard.qualification import events as ev
from rocm_wizard.qualification.finding import Finding
from rocm_wizard.qualification.journal import Record
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.pipeline import Pipeline
from rocm_wizard.qualification.stage import Answer, CancelToken, Question, StageContext
from rocm_wizard.qualification.state import StageState
from rocm_wizard.report.catalogue import Catalogue
from rocm_wizard.stages.playback import PLAYED, PLAYING, Player
from rocm_wizard.stages.playback_findings import ask_heard, report_playback
from rocm_wizard.stages.session import Session
from rocm_wizard.tui.sound import Playhead, playhead
from tests.audio.player_host import RATE, blocks, speech_like
from tests.audio.pulse_server import Capture, PulseServer, align, require_tools, silent_environment, wait_until
from tests.stages.bench import Bench

BLOCK_SECONDS = 0.2

if sys.platform != "linux":
    pytest.skip("null sinks in place of a sound card need PulseAudio on Linux", allow_module_level=True)


class Speaks:
    """A stage that plays `sound` and reports it as the TTS smoke does; `between` is called before each block."""

    id = "tts_smoke"

    def __init__(
        self,
        session: Session,
        sound: NDArray[np.float32],
        *,
        output_device: str | None = None,
        real_time_factor: float = 0.2,
        between: Callable[[int], None] = lambda number: None,
    ) -> None:
        self._session = session
        self._sound = sound
        self._output_device = output_device
        self._real_time_factor = real_time_factor
        self._between = between

    def run(self, context: StageContext) -> None:
        """See `Stage.run`."""
        player = Player(context, self._session, self._output_device)
        try:
            player.open(RATE)
            for number, block in enumerate(blocks(self._sound, BLOCK_SECONDS)):
                self._between(number)
                player.play(block)
            with context.check("playback"):
                player.finish(len(self._sound) / RATE)
                played = report_playback(context, player, self._real_time_factor)
            if played:
                with context.check("heard"):
                    ask_heard(context, player)
        finally:
            player.close()


@pytest.fixture
def pulse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PulseServer]:
    """A server that the test may take apart; children find it."""
    require_tools()
    with PulseServer(tmp_path) as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        yield server


def when_heard(bench: Bench, seconds: float, act: Callable[[], None]) -> None:
    """Calls `act` once, in a thread of its own, when that much was heard (progress is rounded to 10 ms)."""
    done = threading.Event()

    def look(record: Record) -> None:
        event = record.event
        if isinstance(event, ev.Progressed) and event.done >= seconds + 0.01 and not done.is_set():
            done.set()
            threading.Thread(target=act).start()

    bench.journal.subscribe(look)


def run(bench: Bench, stage: Speaks, answer: str = "yes") -> StageState:
    """Runs the one stage, with a person who answers so; checks that its players are gone."""

    def ask(question: Question, cancel: CancelToken) -> Answer:
        return Answer(answer, "person")

    pipeline = Pipeline([stage], bench.journal, ask=ask, clean_up=bench.runner.stop_all)
    pipeline.start("test", {}, {}, "en")
    state = pipeline.run().stage(stage.id)
    assert not [pid for pid in players(state) if psutil.pid_exists(pid)]
    return state


def players(stage: StageState) -> list[int]:
    """The ids of the player processes, in the order of their starts."""
    return [child.pid for child in stage.children if isinstance(child, ev.ChildStarted) and child.purpose == "player"]


def played(stage: StageState) -> Finding:
    """The finding of the check `playback`."""
    return next(finding for finding in stage.findings if finding.id.startswith("playback."))


def values(stage: StageState, id: str) -> list[float]:
    """The measurements of that name, in order."""
    return [taken.value for taken in stage.measurements if taken.id == id]


def test_a_removed_sink_is_a_lost_device_and_the_rest_plays_on_the_next_one(bench: Bench, pulse: PulseServer) -> None:
    sound = speech_like(3.0)
    ends: list[ev.ChildEnded] = []
    bench.journal.subscribe(lambda r: ends.append(r.event) if isinstance(r.event, ev.ChildEnded) else None)
    with contextlib.ExitStack() as captures:
        first = captures.enter_context(pulse.capture("v24"))
        second: list[Capture] = []

        def change_the_headset() -> None:
            # The other sink goes too, or the server would move the stream by itself.
            pulse.unplug("vspk")
            pulse.unplug("v24")
            # One player has lost its device, the next has found none: now there is another one.
            wait_until(lambda: len(ends) >= 2, "two players end", 15)
            pulse.plug_in("headset", RATE, 1)
            second.append(captures.enter_context(pulse.capture("headset")))

        when_heard(bench, 1.2, change_the_headset)
        stage = run(bench, Speaks(bench.session, sound, output_device="v24"))
    finding = played(stage)
    assert (finding.id, finding.outcome) == ("playback.lost_device_recovered", Outcome.WARNING)
    assert (finding.facts["losses"], finding.facts["recovered"]) == (1, True)
    assert finding.facts["causes"] == ["lost_device"]
    assert finding.facts["devices"] == ["ALSA: v24", "ALSA: default"]
    assert finding.facts["starved_frames"] == 0
    (resumed_at,), (silence,) = values(stage, "playback.gap_at"), values(stage, "playback.gap")
    assert finding.facts["break_ms"] == pytest.approx(silence * 1000)
    assert 1.0 < silence < 6.0, "the third player is tried a second after the second one"
    rest = sound[round(resumed_at * RATE) :]
    assert align(second[0].samples, rest).correlation > 0.999
    begin = align(first.samples, sound[: RATE // 2]).offset
    heard = first.samples[begin:]
    same = sound[: len(heard)] == heard[: len(sound)]
    until = len(same) if same.all() else int(np.argmin(same))
    assert 1.0 < until / RATE < 3.0
    assert until / RATE - 0.25 < resumed_at <= until / RATE, "nothing lost, a quarter of a second repeated at most"


def test_a_dead_player_and_a_stuck_one_are_replaced(bench: Bench, pulse: PulseServer) -> None:
    sound = speech_like(2.0)
    pids: list[int] = []
    bench.journal.subscribe(lambda r: pids.append(r.event.pid) if isinstance(r.event, ev.ChildStarted) else None)
    when_heard(bench, 0.3, lambda: os.kill(pids[0], signal.SIGKILL))
    when_heard(bench, 0.7, lambda: os.kill(pids[1], signal.SIGSTOP))
    finding = played(run(bench, Speaks(bench.session, sound)))
    assert (finding.id, finding.facts["recovered"]) == ("playback.lost_device_recovered", True)
    assert finding.facts["causes"] == ["player_died", "player_silent"]
    assert len(pids) == 3
    assert isinstance(finding.facts["break_ms"], float)
    assert 3000 < finding.facts["break_ms"] < 6000, "three seconds without a word, and a new player"


def test_a_player_that_never_played_is_no_loss_in_the_middle(bench: Bench, pulse: PulseServer) -> None:
    pids: list[int] = []

    def kill_the_first(record: Record) -> None:
        if isinstance(record.event, ev.ChildStarted):
            pids.append(record.event.pid)
            if len(pids) == 1:
                os.kill(record.event.pid, signal.SIGKILL)

    bench.journal.subscribe(kill_the_first)
    finding = played(run(bench, Speaks(bench.session, speech_like(1.0))))
    assert (finding.id, finding.outcome) == ("playback.opened_late", Outcome.WARNING)
    assert finding.facts["causes"] == ["player_died"]
    assert finding.facts["starved_frames"] == 0


def test_no_frame_is_starved_while_every_core_is_loaded(bench: Bench, pulse: PulseServer) -> None:
    """The synthesis is three times faster than real time; it and the player compete with as many loops as cores."""
    sound = speech_like(3.0)
    recorders: list[str] = []
    speakers: list[str] = []

    def between(number: int) -> None:
        time.sleep(BLOCK_SECONDS / 3)
        if number == 12:
            recorders.extend(pulse.streams("source-outputs"))
            speakers.extend(pulse.streams("sink-inputs"))

    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)]
    try:
        with pulse.capture("v24") as capture:
            stage = run(bench, Speaks(bench.session, sound, output_device="v24", between=between))
    finally:
        for loop in loops:
            loop.kill()
            loop.wait(10)
    finding = played(stage)
    zero = ("gaps", "starved_frames", "starved_callbacks", "reprimes", "longest_gap_ms")
    assert {name: finding.facts[name] for name in zero} == dict.fromkeys(zero, 0)
    assert finding.facts["frames_played"] == len(sound)
    assert finding.id in ("playback.played", "playback.device_underran")
    if finding.id == "playback.played":  # what the server lacked no player can give
        match = align(capture.samples, sound)
        assert match.correlation > 0.999
        assert match.largest_difference <= 1
    assert len(speakers) == 1
    assert len(recorders) == 1, "our own recorder: the player opens no input"
    assert values(stage, "playback.latency") == [pytest.approx(0.07, abs=0.05)]
    assert values(stage, "playback.starved_frames") == [0]
    assert finding.facts["prebuffer_ms"] == 300


def test_progress_says_what_was_heard_and_a_late_block_is_a_gap_where_it_was(bench: Bench, pulse: PulseServer) -> None:
    sound = speech_like(1.6)
    steps: list[ev.Progressed] = []
    bench.journal.subscribe(lambda r: steps.append(r.event) if isinstance(r.event, ev.Progressed) else None)

    def between(number: int) -> None:
        if number == 4:
            wait_until(lambda: bool(steps) and steps[-1].done > 0.6, "0.6 s were heard")
            time.sleep(0.5)

    stage = run(bench, Speaks(bench.session, sound, between=between, real_time_factor=1.4), answer="no")
    assert played(stage).id == "playback.synthesis_too_slow"
    assert values(stage, "playback.gap_at") == [pytest.approx(0.8)]
    longest = played(stage).facts["longest_gap_ms"] / 1000  # pyright: ignore
    assert values(stage, "playback.gap") == [longest]
    assert values(stage, "playback.gaps") == values(stage, "playback.reprimes") == [1]
    heard = [step.done for step in steps]
    assert heard == sorted(heard)
    assert {step.unit for step in steps[:-1]} == {PLAYING}
    assert (steps[-1].unit, steps[-1].done, steps[-1].total) == (PLAYED, 1.6, 1.6)
    assert all(step.done <= (step.total or 0) for step in steps)
    gap = values(stage, "playback.gap_at")[0], longest
    assert playhead(stage, 1.6) == Playhead(1.6, True, (gap,)), "the step is over, its progress is gone"
    advice = stage.findings[-1]
    assert (advice.id, advice.outcome) == ("heard.no_other_output", Outcome.WARNING)
    assert "v24" in advice.facts["other_outputs"]  # pyright: ignore
    assert Catalogue("en").action(advice) == f'rocm-wizard tts --output-device "{advice.facts["other"]}"'


@pytest.mark.parametrize("device", [None, "扬声器"])
def test_without_an_output_nothing_is_played_and_nobody_asked(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, device: str | None
) -> None:
    for name, value in silent_environment(tmp_path / "silent").items():
        monkeypatch.setenv(name, value)
    stage = run(bench, Speaks(bench.session, speech_like(0.5), output_device=device))
    assert [(finding.id, finding.outcome) for finding in stage.findings] == [
        ("playback.no_output_device", Outcome.SKIPPED)
    ]


def test_an_unknown_output_is_told_with_the_names_there_are(bench: Bench, pulse: PulseServer) -> None:
    stage = run(bench, Speaks(bench.session, speech_like(0.5), output_device="扬声器"))
    (finding,) = stage.findings
    assert (finding.id, finding.outcome) == ("playback.device_not_found", Outcome.WARNING)
    assert {"vspk", "v24"} <= set(finding.facts["other_outputs"])  # pyright: ignore


def test_sound_that_only_a_remote_session_takes_has_its_own_advice(
    bench: Bench, pulse: PulseServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SESSIONNAME", "RDP-Tcp#3")
    stage = run(bench, Speaks(bench.session, speech_like(0.4)), answer="no")
    assert played(stage).facts["frames_played"] == round(0.4 * RATE)
    assert stage.findings[-1].id == "heard.no_remote"


def test_a_cancelled_stage_stops_the_sound_and_leaves_no_player(bench: Bench, pulse: PulseServer) -> None:
    pipeline = Pipeline([Speaks(bench.session, speech_like(20.0))], bench.journal, clean_up=bench.runner.stop_all)
    pipeline.start("test", {}, {}, "en")
    when_heard(bench, 0.3, pipeline.cancel)
    began = time.monotonic()
    stage = pipeline.run().stage("tts_smoke")
    assert time.monotonic() - began < 10
    assert stage.outcome is Outcome.CANCELLED
    assert 0.3 <= values(stage, "playback.heard")[0] < 10
    assert not [pid for pid in players(stage) if psutil.pid_exists(pid)]
    assert pulse.streams("sink-inputs") == []
