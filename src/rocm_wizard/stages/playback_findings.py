"""What playback means for the verdict: a missing loudspeaker never fails a GPU."""

from typing import Any

from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import Question, StageContext
from rocm_wizard.stages.playback import Player

HEARD_TIMEOUT = 20.0

_OUTCOMES = {
    "played": Outcome.PASSED,
    "degraded": Outcome.WARNING,
    "device_underran": Outcome.WARNING,
    "lost_device": Outcome.WARNING,
    "stopped": Outcome.WARNING,
    "player_died": Outcome.WARNING,
    "unavailable": Outcome.SKIPPED,
}
_REASONS = ("no_output_device", "portaudio_missing")
"""Why nothing can be played, where there is something to say about it."""


def report_playback(context: StageContext, player: Player | None, real_time_factor: float) -> bool:
    """Reports how the blocks were played; True when something could have been heard."""
    if player is None:
        context.finding("playback.not_wanted", Outcome.SKIPPED)
        return False
    outcome = player.outcome or "stopped"
    if outcome == "played" and player.facts.get("host_underflow_flags"):
        outcome = "device_underran"
    facts: dict[str, Any] = {k: v for k, v in player.opened.items() if k in ("host_api", "device", "rate", "resampled")}
    facts |= {**player.facts, "real_time_factor": round(real_time_factor, 3)}
    reason = facts.get("reason")
    id = f"playback.{reason}" if outcome == "unavailable" and reason in _REASONS else f"playback.{outcome}"
    context.finding(id, _OUTCOMES.get(outcome, Outcome.WARNING), **facts)
    for name in ("longest_gap_ms", "min_headroom_ms"):
        value = player.facts.get(name)
        if isinstance(value, int | float):
            context.measure(f"playback.{name.removesuffix('_ms')}", value / 1000, "s")
    return outcome in ("played", "device_underran", "degraded")


def ask_heard(context: StageContext) -> None:
    """Asks once. Silence is "not confirmed", never "heard"."""
    question = Question("tts.heard", ("yes", "no", "no_speakers"), "not_confirmed", timeout=HEARD_TIMEOUT)
    answer = context.ask(question).option
    outcome = {"yes": Outcome.PASSED, "no": Outcome.WARNING}.get(answer, Outcome.SKIPPED)
    context.finding(f"heard.{answer}", outcome)
