"""What playback means for the verdict: a missing loudspeaker never fails a GPU."""

import os
from collections.abc import Mapping
from typing import Any

from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import Question, StageContext
from rocm_wizard.stages.playback import Player

HEARD_TIMEOUT = 20.0

_OUTCOMES = {
    "played": Outcome.PASSED,
    "unavailable": Outcome.SKIPPED,
    "no_output_device": Outcome.SKIPPED,
    "portaudio_missing": Outcome.SKIPPED,
}
"""Every other way that playback may go is a warning."""
_BY_CODE = {-9985: "device_busy", -9996: "rate_refused", -9997: "rate_refused"}
_MEASURED = (
    ("gaps", 1, ""),
    ("starved_callbacks", 1, ""),
    ("starved_frames", 1, ""),
    ("reprimes", 1, ""),
    ("host_underflow_flags", 1, ""),
    ("longest_gap_ms", 1000, "s"),
    ("min_headroom_ms", 1000, "s"),
)


def report_playback(context: StageContext, player: Player | None, real_time_factor: float) -> bool:
    """Reports how the blocks were played; True when something could have been heard."""
    if player is None:
        context.finding("playback.not_wanted", Outcome.SKIPPED)
        return False
    facts = {name: value for name, value in player.facts.items() if value is not None}
    word = _word(player.outcome or "stopped", facts, real_time_factor)
    facts |= {"other_outputs": player.other_outputs, "real_time_factor": round(real_time_factor, 3)}
    outcome = _OUTCOMES.get(word, Outcome.WARNING)
    context.finding(f"playback.{word}", outcome, ["other_outputs"], **facts)
    if facts.get("hands_free"):
        context.finding("playback.hands_free", Outcome.WARNING, device=facts.get("device"))
    for name, scale, unit in _MEASURED:
        value = facts.get(name)
        if isinstance(value, int | float):
            context.measure(f"playback.{name.removesuffix('_ms')}", value / scale, unit)
    return bool(facts.get("frames_played")) and outcome is not Outcome.SKIPPED


def _word(outcome: str, facts: Mapping[str, Any], real_time_factor: float) -> str:
    """The finding's name below `playback`."""
    if outcome == "played" and facts.get("host_underflow_flags"):
        return "device_underran"
    if outcome == "degraded" and real_time_factor > 1:
        return "synthesis_too_slow"
    if outcome == "lost_device" and facts.get("recovered"):
        return "lost_device_recovered" if "break_ms" in facts else "opened_late"
    if outcome == "unavailable":
        reason = facts.get("reason")
        if reason == "could_not_open":
            return _BY_CODE.get(facts.get("code", 0), "could_not_open")
        return str(reason) if reason in ("no_output_device", "portaudio_missing", "device_not_found") else outcome
    return outcome


def ask_heard(context: StageContext, player: Player | None = None) -> None:
    """Asks once. Silence is "not confirmed", never "heard"."""
    question = Question("tts.heard", ("yes", "no", "no_speakers"), "not_confirmed", timeout=HEARD_TIMEOUT)
    answer = context.ask(question).option
    outcome = {"yes": Outcome.PASSED, "no": Outcome.WARNING}.get(answer, Outcome.SKIPPED)
    if answer != "no" or player is None:
        context.finding(f"heard.{answer}", outcome)
        return
    facts = {"device": player.facts.get("device")}
    if player.facts.get("heard_by_nobody") or is_remote(os.environ):
        context.finding("heard.no_remote", outcome, **facts)
    elif player.other_outputs:
        facts |= {"other": player.other_outputs[0], "other_outputs": player.other_outputs}
        context.finding("heard.no_other_output", outcome, ["other", "other_outputs"], **facts)
    else:
        context.finding("heard.no", outcome)


def is_remote(environment: Mapping[str, str]) -> bool:
    """Whether the terminal belongs to a remote desktop or an SSH session: the loudspeaker may stand elsewhere."""
    return environment.get("SESSIONNAME", "").upper().startswith("RDP") or bool(environment.get("SSH_CONNECTION"))
