"""The player child as the TTS smoke sees it: blocks go in as they come, what the device did comes out."""

import json
import sys
import time
from typing import Any

from rocm_wizard.qualification.stage import StageContext
from rocm_wizard.runner.spec import Child, ChildGone, ChildSpec, ChildTimeout, LineTooLong, StartFailed
from rocm_wizard.sidecar.messages import ProtocolError, Samples, decode_line, encode, encode_samples
from rocm_wizard.stages.session import Session

_SEND_SECONDS = 5.0
_OPEN_SECONDS = 15.0
_AFTER_END_SECONDS = 15.0


class Player:
    """Never lets playback fail the synthesis: every trouble ends in `outcome` with its facts.

    `outcome` is None until known, then `unavailable`, `played`, `degraded`, `lost_device`, `stopped` or `player_died`.
    """

    def __init__(self, context: StageContext, session: Session) -> None:
        self.outcome: str | None = None
        self.facts: dict[str, Any] = {}
        self.opened: dict[str, Any] = {}
        self._context = context
        self._child: Child | None = None
        argv = [sys.executable, "-I", "-m", "rocm_wizard.audio.player"]
        try:
            spec = ChildSpec("player", argv, session.run_folder)
            self._child = session.runner.start(spec, context.stage, context.cancel)
        except StartFailed as error:
            self._give_up("unavailable", text=error.reason)

    def open(self, sample_rate: int) -> None:
        """Opens the device and waits until it is open or refused."""
        self._send({"type": "open", "sample_rate": sample_rate})
        deadline = time.monotonic() + _OPEN_SECONDS
        while self.outcome is None and not self.opened:
            if not self._take(deadline - time.monotonic()):
                self._give_up("unavailable", text=f"no answer within {_OPEN_SECONDS:g} s")

    def play(self, samples: Samples) -> None:
        """Hands one block over and takes whatever the player had to say."""
        self._send({"type": "audio", "audio_b64": encode_samples(samples)})
        while self._take(0.0):
            pass

    def finish(self, seconds: float) -> None:
        """Says that no more will come and waits until the last of `seconds` was played."""
        self._send({"type": "end"})
        deadline = time.monotonic() + seconds + _AFTER_END_SECONDS
        while self.outcome is None:
            if not self._take(deadline - time.monotonic()):
                self._give_up("lost_device", reason="the player said nothing more")

    def close(self) -> None:
        """Ends the player."""
        if self._child is not None:
            self._child.stop(grace=2.0)

    def _send(self, message: dict[str, Any]) -> None:
        if self._child is None or self.outcome is not None:
            return
        try:
            self._child.send(encode(message), _SEND_SECONDS)
        except (ChildTimeout, ChildGone) as error:
            self._give_up("player_died", reason=type(error).__name__)

    def _take(self, timeout: float) -> bool:
        """Takes one message; False when none came in time."""
        if self._child is None or self.outcome is not None:
            return False
        try:
            line = self._child.read(max(0.0, timeout))
            message = decode_line(line.data) if line is not None else {"type": "gone"}
        except ChildTimeout:
            return False
        except (ProtocolError, LineTooLong) as error:
            message = {"type": "gone", "reason": str(error)}
        self._handle(message)
        return True

    def _handle(self, message: dict[str, Any]) -> None:
        match message["type"]:
            case "opened":
                self.opened = message
            case "unavailable":
                self._give_up("unavailable", **{k: v for k, v in message.items() if k != "type"})
            case "playing":
                waited = message.get("after_first_audio_ms")
                if isinstance(waited, int | float):
                    self._context.measure("playback.first_sample", waited / 1000, "s")
            case "progress":
                played = message.get("played_seconds")
                if isinstance(played, int | float):
                    self._context.progress(float(played), None, "seconds played")
            case "finished":
                counters = message.get("counters")
                facts = counters if isinstance(counters, dict) else {}
                self._give_up(str(message.get("outcome", "stopped")), **facts)
            case "gone" | "error":
                reason = message.get("text") or message.get("reason") or "its output ended"
                self._give_up("player_died", reason=reason)
            case _:
                pass

    def _give_up(self, outcome: str, **facts: Any) -> None:
        self.outcome = outcome
        self.facts = {name: _flat(value) for name, value in facts.items()}


def _flat(value: Any) -> Any:
    """Facts are plain values; an attempt list is told as one line an attempt."""
    if isinstance(value, list):
        return [item if isinstance(item, str) else json.dumps(item, ensure_ascii=False) for item in value]
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else value
