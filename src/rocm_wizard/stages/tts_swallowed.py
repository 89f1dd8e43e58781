"""A failure that the voice hides behind silence is a failure, and so is silence where there was a voice."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import StageContext
from rocm_wizard.sidecar.client import Block, SidecarClient
from rocm_wizard.sidecar.messages import Chunk
from rocm_wizard.sidecar.swallowed import swallowed_failure
from rocm_wizard.stages.session import Session
from rocm_wizard.stages.smoke import SmokeFailed
from rocm_wizard.stages.speech_children import tts_engine
from rocm_wizard.stages.tts_presets import plausible_seconds
from rocm_wizard.stages.utterance import PAUSE_SECONDS, Utterance, speak

AUDIBLE = 1e-3
"""A peak below it, -60 dBFS, is no speech."""


def is_audible(chunks: Sequence[Chunk]) -> bool:
    """Whether any of them holds something that can be heard."""
    import numpy as np

    return any(float(np.abs(chunk.samples).max()) > AUDIBLE for chunk in chunks)


def speak_audibly(
    context: StageContext,
    session: Session,
    client: SidecarClient,
    request: Mapping[str, Any],
    on_block: Callable[[Block], None] | None = None,
) -> Utterance:
    """One whole utterance that holds sound, hides no failure and can be its text: where nothing else is judged.

    Raises:
        SidecarError: the voice broke.
        SmokeFailed: a failure was swallowed, nothing can be heard, or the speech broke off; it is reported.
    """
    utterance = speak(client, request, on_block)
    complain_if_swallowed(context, session, utterance.chunks, utterance.log)
    complain_unless_said(context, request, utterance.chunks, utterance.seconds)
    return utterance


def complain_unless_said(
    context: StageContext, request: Mapping[str, Any], chunks: Sequence[Chunk], seconds: float
) -> None:
    """Judges sound that is to be the request's text, `seconds` of it speech.

    Raises:
        SmokeFailed: nothing can be heard, or it has no length that its text can have; it is reported.
    """
    if not is_audible(chunks):
        context.finding("tts.no_sound", Outcome.FAILED, blocks=len(chunks))
        raise SmokeFailed
    text = str(request["text"])
    shortest, longest = plausible_seconds(text, str(request["language"]), float(request["speed"]))
    if not shortest <= seconds <= longest:
        context.finding(
            "tts.duration_absurd",
            Outcome.FAILED,
            seconds=round(seconds, 2),
            characters=len(text),
            shortest=shortest,
            longest=longest,
        )
        raise SmokeFailed


def complain_if_swallowed(context: StageContext, session: Session, chunks: Sequence[Chunk], log: Sequence[str]) -> None:
    """Looks for one; only engines that we know end every utterance with the pause that was asked for.

    Raises:
        SmokeFailed: there was one; it is reported.
    """
    pause = None if tts_engine(session) == "command" else PAUSE_SECONDS
    detail = swallowed_failure(chunks, log, pause)
    if detail is not None:
        context.finding("tts.failure_swallowed", Outcome.FAILED, ["log"], detail=detail, log=log[-5:])
        raise SmokeFailed
