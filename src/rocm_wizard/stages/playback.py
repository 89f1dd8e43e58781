"""Playback of one utterance as the TTS smoke sees it: blocks go in as they come, what the device did comes out."""

import threading
import time
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from typing import Any

from rocm_wizard.qualification.stage import Cancelled, StageContext
from rocm_wizard.runner.spec import StartFailed
from rocm_wizard.sidecar.messages import Samples
from rocm_wizard.stages.playback_child import LOSSES, Ending, PlayerProcess
from rocm_wizard.stages.playback_tally import Tally
from rocm_wizard.stages.session import Session

MOST_LOSSES = 3
REOPEN_AFTER_SECONDS = (0.0, 1.0, 2.0)
"""Waits before each try to open a device again: Windows names a new default at once, a person replugs in seconds."""
PLAYING, PLAYED = "seconds playing", "seconds played"
"""Units of the progress while sound is played and when that is over."""
_TICK = 0.02
_AHEAD_SECONDS = 60.0
"""Most sound that a player holds: less than its queue, so that it always takes a block at once."""
_AFTER_END_SECONDS = 15.0
_A_LOSS_SECONDS = 10.0


class Player:
    """Never lets playback fail the synthesis: every trouble ends in `outcome` with its facts.

    A player process that lost its device, died or got stuck is replaced by a fresh one (a driver's thread cannot be
    ended, and only a new process sees the devices as they are now): on the same output if it is there, else on the next
    one, from the last sample that was heard on. That happens three times at most.

    `outcome` is None until known, then `unavailable`, `played`, `degraded`, `lost_device`, `stopped` or `player_died`.
    `other_outputs` are the names of the outputs beside the one that played.
    """

    def __init__(self, context: StageContext, session: Session, output_device: str | None = None) -> None:
        """`output_device`: the whole name of an output; None is the default one."""
        self.outcome: str | None = None
        self.facts: dict[str, Any] = {}
        self.other_outputs: list[str] = []
        self._context = context
        self._session = session
        self._wanted: dict[str, Any] = {"device": output_device} if output_device else {}
        self._rate = 0
        self._sound: list[Samples] = []
        self._starts = [0]
        self._ended = self._closing = False
        self._change = threading.Condition()
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self._stoppers: list[threading.Thread] = []
        self._tally = Tally()
        self._gaps = 0
        self._heard: float | None = None
        """Seconds of the sound that were heard so far; None: no device is or was open."""
        self._process: PlayerProcess | None = None
        try:
            self._process = PlayerProcess(context, session)
        except StartFailed as error:
            self.outcome, self.facts = "unavailable", {"text": error.reason}

    def open(self, sample_rate: int) -> None:
        """The first block is there. Returns at once; the device is opened meanwhile."""
        if self._process is not None:
            self._rate = sample_rate
            self._thread = threading.Thread(target=self._work, args=(self._process,), name="playback", daemon=True)
            self._thread.start()

    def play(self, samples: Samples) -> None:
        """Hands one block over. Never waits."""
        with self._change:
            self._sound.append(samples)
            self._starts.append(self._starts[-1] + len(samples))
            self._change.notify()

    def finish(self, seconds: float) -> None:
        """Says that no more will come and waits until the last of `seconds` was played.

        Raises:
            Cancelled: the person stopped the stage.
        """
        with self._change:
            self._ended = True
            self._change.notify()
        deadline = time.monotonic() + seconds + _AFTER_END_SECONDS + MOST_LOSSES * _A_LOSS_SECONDS
        while self._thread is not None and not self._over.wait(0.1):
            self._context.cancel.raise_if_cancelled()
            if time.monotonic() > deadline:
                self._settle("lost_device", {"losses": self._tally.losses + 1, "recovered": False})
                return
        self._context.cancel.raise_if_cancelled()  # the other thread may have seen it first

    def close(self) -> None:
        """Ends the player."""
        with self._change:
            self._closing = True
            self._change.notify()
        if self._thread is not None:
            self._thread.join(_AFTER_END_SECONDS)
        if self._process is not None:
            self._process.stop(2.0)
        for stopper in self._stoppers:
            stopper.join(_AFTER_END_SECONDS)

    def _settle(self, outcome: str, facts: dict[str, Any]) -> None:
        if self.outcome is None:
            self.outcome, self.facts = outcome, facts

    def _work(self, process: PlayerProcess) -> None:
        try:
            self._deliver(process)
            self._settle(*self._tally.outcome())
        except Cancelled:
            self._settle("stopped", {})
        except Exception as error:  # noqa: BLE001 - the synthesis is not to blame, and the stage waits for an outcome
            self._settle("player_died", {"reason": repr(error)})
        finally:
            self._tell_end()
            self._over.set()

    def _tell_end(self) -> None:
        """The progress goes with the next one; where the sound ended, and so whether it was played, stays known."""
        if self._heard is not None:
            self._context.measure("playback.heard", self._heard, "s")
            self._context.progress(round(self._heard, 2), round(self._seconds, 2), PLAYED)

    def _deliver(self, process: PlayerProcess) -> None:
        """Plays to the end, with as many processes as it takes."""
        start, wanted = 0.0, self._wanted
        waits: Iterator[float] = iter(())
        while True:
            ending = self._turn(process, start, wanted)
            self._tally.take(process, ending)
            start += process.heard if ending.kind not in LOSSES else process.surely_heard
            if ending.kind in LOSSES:
                waits = iter(REOPEN_AFTER_SECONDS)
                wanted = _again(process.opened, self._wanted)
            elif ending.kind != "unavailable" or not self._tally.losses:
                break
            wait = next(waits, None)
            if wait is None or self._tally.losses > MOST_LOSSES or self._closed_within(wait):
                break
            try:
                process = self._replace(process)
            except StartFailed:
                break
        if self._heard is not None:
            self._heard = self._seconds if ending.kind == "finished" and not self._closing else start

    def _turn(self, process: PlayerProcess, start: float, wanted: Mapping[str, Any]) -> Ending:
        """One process plays from `start` seconds on, to its end."""
        process.open(self._rate, **wanted)
        sent = round(start * self._rate)
        while process.ending is None:
            for message in process.messages():
                self._hear(process, message, start)
            if self._closing:
                return Ending("finished", {"outcome": "stopped"})
            if process.ending is None:
                sent = self._hand_over(process, start, sent)
        return process.ending

    def _hand_over(self, process: PlayerProcess, start: float, sent: int) -> int:
        """The next block if the player may have it, or the end, or a moment's wait; returns the frames sent."""
        ahead = sent / self._rate - start - process.played
        may_send = bool(process.opened) and ahead < _AHEAD_SECONDS
        with self._change:
            total = self._starts[-1]
            at_end = self._ended and sent >= total
            if not may_send or (sent >= total and (not at_end or process.ended)):
                self._change.wait(_TICK)
                return sent
        if at_end:
            process.end()
            return sent
        index = bisect_right(self._starts, sent) - 1
        block = self._sound[index][sent - self._starts[index] :]
        process.play(block)
        return sent + len(block)

    def _hear(self, process: PlayerProcess, message: Mapping[str, Any], start: float) -> None:
        match message["type"]:
            case "opened" | "unavailable":
                if process.opened:
                    self._heard = self._heard or 0.0
                    self._context.measure("playback.latency", process.latency, "s", sample=self._tally.losses + 1)
                outputs = message.get("outputs")
                names = [str(name) for name in outputs] if isinstance(outputs, list) else []
                self.other_outputs = [name for name in names if name != message.get("device")]
            case "playing":
                self._hear_playing(message, start)
            case "progress":
                self._heard = start + process.heard
                self._context.progress(round(self._heard, 2), round(self._seconds, 2), PLAYING)
            case "gap":
                self._gap(start + _seconds(message, "at_seconds"), _seconds(message, "length_ms") / 1000)
            case _:
                pass

    def _hear_playing(self, message: Mapping[str, Any], start: float) -> None:
        silence = self._tally.resumed(int(_seconds(message, "at")))
        if silence is not None:
            self._gap(start, silence / 1000)
        elif not self._tally.losses:
            self._context.measure("playback.first_sample", _seconds(message, "after_first_audio_ms") / 1000, "s")

    def _gap(self, at: float, length: float) -> None:
        self._gaps += 1
        self._context.measure("playback.gap_at", at, "s", sample=self._gaps)
        self._context.measure("playback.gap", length, "s", sample=self._gaps)

    def _replace(self, process: PlayerProcess) -> PlayerProcess:
        """A fresh process; the old one is ended beside it, which may take seconds.

        Raises:
            StartFailed: there is none.
        """
        stopper = threading.Thread(target=process.stop, args=(0.5,), name="stop-player", daemon=True)
        self._stoppers.append(stopper)
        stopper.start()
        self._process = PlayerProcess(self._context, self._session)
        return self._process

    def _closed_within(self, seconds: float) -> bool:
        with self._change:
            return self._change.wait_for(lambda: self._closing, seconds)

    @property
    def _seconds(self) -> float:
        """The length of the sound that has come so far."""
        return self._starts[-1] / self._rate


def _again(opened: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """What to ask a fresh player for: the same output by host API and name (indexes move), else the next one."""
    named = {name: opened[name] for name in ("device", "host_api") if name in opened} or dict(wanted)
    return {**named, "or_default": True, "resumed": True}


def _seconds(message: Mapping[str, Any], name: str) -> float:
    value = message.get(name)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0
