"""A failure that the voice hides behind silence is a failure."""

from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import StageContext
from rocm_wizard.sidecar.swallowed import swallowed_failure
from rocm_wizard.stages.session import Session
from rocm_wizard.stages.smoke import SmokeFailed
from rocm_wizard.stages.speech_children import tts_engine
from rocm_wizard.stages.utterance import PAUSE_SECONDS, Utterance


def complain_if_swallowed(context: StageContext, session: Session, utterance: Utterance) -> None:
    """Looks for one; only engines that we know end every utterance with the pause that was asked for.

    Raises:
        SmokeFailed: there was one; it is reported.
    """
    pause = None if tts_engine(session) == "command" else PAUSE_SECONDS
    detail = swallowed_failure(utterance.blocks, utterance.log, pause)
    if detail is not None:
        context.finding("tts.failure_swallowed", Outcome.FAILED, ["log"], detail=detail, log=utterance.log[-5:])
        raise SmokeFailed
