"""One player process as its host sees it, from opening a device to its end."""

import json
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from rocm_wizard.qualification.stage import StageContext
from rocm_wizard.runner.spec import Child, ChildGone, ChildSpec, ChildTimeout, LineTooLong
from rocm_wizard.sidecar.messages import ProtocolError, Samples, encode, encode_samples
from rocm_wizard.sidecar.told import decode_told
from rocm_wizard.stages.session import Session

_SEND_SECONDS = 5.0
OPEN_SECONDS = 15.0
SILENT_SECONDS = 3.0
"""A player speaks five times a second; one that does not for so long is stuck in its driver."""
_LONGEST_TICK = 0.25
_QUEUED_BEHIND_SECONDS = 0.110
"""What a system holds beyond the latency that it tells; as much silence keeps the last buffer from being cut."""

type EndingKind = Literal["finished", "unavailable", "lost_device", "player_died", "player_silent", "broken"]
LOSSES: tuple[EndingKind, ...] = ("lost_device", "player_died", "player_silent")
"""Endings after which another player may go on."""


@dataclass(slots=True)
class Ending:
    """How a player ended: `facts` are the message that said so, or the reason."""

    kind: EndingKind
    facts: dict[str, Any] = field(default_factory=dict[str, Any])


class PlayerProcess:
    """Raises `StartFailed` when it cannot be started. One thread uses it at a time.

    `ending` is None while it plays. `played` counts seconds of sound that the device took from this player, `counters`
    are the latest that it told (see `audio.policy.Counters`); `opened` is its message of that name, empty before.
    """

    def __init__(self, context: StageContext, session: Session) -> None:
        argv = [sys.executable, "-I", "-m", "rocm_wizard.audio.player"]
        spec = ChildSpec("player", argv, session.run_folder)
        self.ending: Ending | None = None
        self.opened: dict[str, Any] = {}
        self.ended = False
        """Whether it was told that no more will come."""
        self.played = 0.0
        self.counters: dict[str, Any] = {}
        self.last_sample_at = 0
        """`time.monotonic_ns` of the last sample that was handed to the device, as far as known; 0 before."""
        self._hiding = spec.hiding()
        self._child: Child = session.runner.start(spec, context.stage, context.cancel)
        self._silent = 0.0
        self._looked_at = time.perf_counter()

    @property
    def latency(self) -> float:
        """Seconds from handing a sample to the device until it is heard."""
        return _number(self.opened.get("latency_ms")) / 1000

    @property
    def heard(self) -> float:
        """Seconds of sound that have come out of the device, as far as its latency tells."""
        return max(0.0, self.played - self.latency)

    @property
    def surely_heard(self) -> float:
        """Seconds that were heard even when the device went with what it and the system had queued."""
        return max(0.0, self.heard - _QUEUED_BEHIND_SECONDS)

    def open(self, sample_rate: int, **wanted: Any) -> None:
        """Asks for a device; `wanted` are further fields of the message."""
        self._silent, self._looked_at = 0.0, time.perf_counter()
        self._send({"type": "open", "sample_rate": sample_rate, **wanted})

    def play(self, samples: Samples) -> None:
        """Hands one block over."""
        self._send({"type": "audio", "audio_b64": encode_samples(samples)})

    def end(self) -> None:
        """Says that no more will come."""
        self.ended = True
        self._send({"type": "end"})

    def messages(self) -> Iterator[Mapping[str, Any]]:
        """What it has said since the last call, the endings turned into `ending`. Raises `Cancelled`."""
        self._count_silence()
        while self.ending is None and (message := self._next()) is not None:
            self._silent = 0.0
            self._note(message)
            yield message
        limit = SILENT_SECONDS if self.opened else OPEN_SECONDS
        if self.ending is None and self._silent > limit:
            self.ending = Ending("player_silent", {"reason": f"no word for {limit:g} s"})

    def stop(self, grace: float) -> None:
        """Ends the process, by force after `grace` seconds."""
        self._child.stop(grace)

    def _count_silence(self) -> None:
        """A computer that slept for an hour was not silent for that long."""
        now = time.perf_counter()
        self._silent += min(now - self._looked_at, _LONGEST_TICK)
        self._looked_at = now

    def _send(self, message: dict[str, Any]) -> None:
        if self.ending is not None:
            return
        try:
            self._child.send(encode(message), _SEND_SECONDS)
        except ChildTimeout:
            self.ending = Ending("player_silent", {"reason": f"it took nothing for {_SEND_SECONDS:g} s"})
        except ChildGone:
            pass  # its last words are still to be read

    def _next(self) -> dict[str, Any] | None:
        try:
            line = self._child.read(0.0)
            return decode_told(line.data, self._hiding) if line is not None else {"type": "gone"}
        except ChildTimeout:
            return None
        except (ProtocolError, LineTooLong) as error:
            return {"type": "error", "reason": type(error).__name__, "text": str(error)}

    def _note(self, message: dict[str, Any]) -> None:
        facts = {name: value for name, value in message.items() if name != "type"}
        match message["type"]:
            case "opened":
                self.opened = facts
            case "progress":
                self._count(message, time.monotonic_ns())
            case "finished":
                self._count(message, int(_number(message.get("last_sample_at"))))
                self.ending = Ending("lost_device" if message.get("outcome") == "lost_device" else "finished", facts)
            case "unavailable":
                self.ending = Ending("unavailable", facts)
            case "error":
                self.ending = Ending("broken", facts)
            case "gone":
                self.ending = Ending("player_died", {"reason": "its output ended"})
            case _:
                pass

    def _count(self, message: Mapping[str, Any], at: int) -> None:
        counters = message.get("counters")
        self.counters = counters if isinstance(counters, dict) else self.counters
        played = _number(message.get("played_seconds"))
        if played > self.played:
            self.played, self.last_sample_at = played, at or self.last_sample_at


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0


def attempt_lines(attempts: Any) -> list[str]:
    """Each try to open an output in one line: where, how, PortAudio's code and words, and what the code means."""
    return [_attempt_line(attempt) for attempt in attempts] if isinstance(attempts, list) else []


def _attempt_line(attempt: Any) -> str:
    if not isinstance(attempt, dict):
        return json.dumps(attempt, ensure_ascii=False)
    where = (
        f"{attempt.get('host_api')}, {attempt.get('device')}, {attempt.get('rate')} Hz, {attempt.get('channels')} ch"
    )
    what = f"{attempt.get('step')} {attempt.get('code')} {attempt.get('meaning')}"
    return f"{where}: {what}" + (f" ({text})" if (text := attempt.get("text")) else "")
