"""What became of one utterance's playback, over all the players that it took."""

from collections.abc import Mapping
from typing import Any

from rocm_wizard.stages.playback_child import LOSSES, Ending, PlayerProcess, attempt_lines

_PLAYED = ("played", "degraded")
_OF_THE_DEVICE = ("host_api", "device", "rate", "asked_rate", "resampled", "latency_ms", "prebuffer_ms", "hands_free")


class Tally:
    """Takes players as they end; says the outcome and its facts."""

    def __init__(self) -> None:
        self.losses = 0
        self._causes: list[str] = []
        self._devices: list[str] = []
        self._opened: Mapping[str, Any] = {}
        self._counters: dict[str, Any] = {}
        self._lost_at = 0
        self._break_ms: float | None = None
        self._ending = Ending("finished", {"outcome": "stopped"})

    def take(self, process: PlayerProcess, ending: Ending) -> None:
        """One player has ended."""
        self._ending = ending
        self._opened = process.opened or self._opened
        if process.opened:
            self._devices.append(f"{process.opened.get('host_api')}: {process.opened.get('device')}")
        self._counters = merge_counters(self._counters, process.counters)
        if ending.kind in LOSSES:
            self.losses += 1
            self._causes.append(ending.kind)
            self._lost_at = process.last_sample_at or self._lost_at

    def resumed(self, at: int) -> float | None:
        """The first sample of a player was handed to the device at `at` (`time.monotonic_ns`).

        Returns the milliseconds without sound since the last one of the player before; None when there was none.
        """
        if not self._lost_at:
            return None
        silence = (at - self._lost_at) / 1e6
        self._break_ms = max(self._break_ms or 0.0, silence)
        return silence

    def outcome(self) -> tuple[str, dict[str, Any]]:
        """`played`, `degraded`, `lost_device`, `stopped`, `unavailable` or `player_died`, and the facts."""
        facts = {name: value for name, value in self._opened.items() if name in _OF_THE_DEVICE}
        facts |= {"heard_by_nobody": bool(self._opened.get("heard_by_nobody"))} if self._opened else {}
        attempts = self._opened.get("attempts") or self._ending.facts.get("attempts")
        facts |= {"attempts": attempt_lines(attempts), **self._counters}
        outcome = self._outcome()
        if self.losses:
            facts |= {
                "losses": self.losses,
                "recovered": outcome in _PLAYED,
                "causes": self._causes,
                "devices": self._devices,
                "break_ms": self._break_ms,
            }
            outcome = "lost_device" if outcome in (*_PLAYED, "unavailable") else outcome
        if outcome in ("unavailable", "player_died"):
            facts |= {name: self._ending.facts.get(name) for name in ("reason", "code", "text")}
        return outcome, facts

    def _outcome(self) -> str:
        ending = self._ending
        if ending.kind == "finished":
            return str(ending.facts.get("outcome", "stopped"))
        if ending.kind in ("lost_device", "player_silent"):
            return "lost_device"
        return "unavailable" if ending.kind == "unavailable" else "player_died"


def merge_counters(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Counters of two players that played one utterance: sums, but the longest gap and the least headroom."""
    if not first or not second:
        return dict(first or second)
    merged = {name: _added(first.get(name), second.get(name)) for name in first}
    merged["longest_gap_ms"] = max(first.get("longest_gap_ms", 0.0), second.get("longest_gap_ms", 0.0))
    known = [one.get("min_headroom_ms", 0.0) for one in (first, second) if one.get("frames_played")]
    merged["min_headroom_ms"] = min(known, default=0.0)
    return merged


def _added(first: Any, second: Any) -> Any:
    return first + second if isinstance(first, int | float) and isinstance(second, int | float) else first
