"""What an interruption costs: the wire cannot stop a sentence, so the next one waits until the rest is made."""

from typing import Any

from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import StageContext
from rocm_wizard.sidecar.answers import Drained
from rocm_wizard.sidecar.client import SidecarClient
from rocm_wizard.stages.session import Session
from rocm_wizard.stages.tts_presets import preset_plan
from rocm_wizard.stages.tts_swallowed import complain_if_swallowed, speak_audibly

LONGEST_WAIT = 1.0
"""Seconds from the interruption to the next sentence's first audio, above which talking to it feels broken."""


def measure_interruption(context: StageContext, session: Session, client: SidecarClient) -> None:
    """Interrupts a long sentence after its first block, and asks for another one at once."""
    long, next_one = preset_plan(session, "long"), preset_plan(session, "first")
    interrupted = client.speak(long.request(session))
    next(interrupted)
    interrupted.close()
    answer = speak_audibly(context, session, client, next_one.request(session))
    drained = client.drained or Drained(0.0, 0, None, None, ())  # the first block was all of it
    if drained.error is not None:
        context.finding("tts.interrupted_failed", Outcome.FAILED, detail=drained.error, characters=len(long.text))
        return
    complain_if_swallowed(context, session, [drained.last] if drained.last is not None else [], drained.log)
    wait = drained.seconds + answer.first_audio
    context.measure("tts.interruption", wait, "s")
    facts: dict[str, Any] = {
        "wait": round(wait, 3),
        "drained": round(drained.seconds, 3),
        "blocks": drained.blocks,
        "first_audio": round(answer.first_audio, 3),
        "characters": len(long.text),
        "limit": LONGEST_WAIT,
    }
    if wait > LONGEST_WAIT:
        context.finding("tts.interruption_slow", Outcome.WARNING, **facts)
    else:
        context.finding("tts.interruption", Outcome.PASSED, **facts)
