"""Step 5: a persistent child transcribes known recordings, cold and warm, and has to hear what is said in them."""

from rocm_wizard.qualification.stage import StageContext
from rocm_wizard.sidecar.client import SidecarClient
from rocm_wizard.sidecar.host_limits import HOST_ANSWER_SECONDS
from rocm_wizard.stages.asr_choice import choose_recording
from rocm_wizard.stages.asr_controls import run_controls
from rocm_wizard.stages.asr_judgement import (
    ask_person,
    judge_detected,
    judge_repeats,
    judge_speed,
    transcribe_repeatedly,
)
from rocm_wizard.stages.asr_recording import Utterance, load_recording
from rocm_wizard.stages.host_pass import host_pass
from rocm_wizard.stages.model_checks import asr_model_fits
from rocm_wizard.stages.session import Session
from rocm_wizard.stages.smoke import SmokeFailed, sidecar
from rocm_wizard.stages.speech_children import asr_spec


class AsrSmokeStage:
    """Recording in, text out, judged by its error rate; then controls that must not give that text."""

    id = "asr_smoke"

    def __init__(self, session: Session) -> None:
        self._session = session

    def run(self, context: StageContext) -> None:
        """See `Stage.run`."""
        utterance = self._utterance(context)
        session = self._session
        if utterance is None or not asr_model_fits(context, session):
            return
        try:
            with sidecar(context, session, asr_spec(session)) as client:
                text = self._listen(context, client, utterance)
        except SmokeFailed:
            return
        if utterance.recording.transcript is None:
            with context.check("compared"):
                ask_person(context, utterance, text)
        host_pass(context, session, "asr")

    def _utterance(self, context: StageContext) -> Utterance | None:
        with context.check("recording"):
            chosen = choose_recording(context, self._session.options)
            if chosen is None:
                return None
            recording, sent = chosen
            samples = load_recording(context, recording)
        return None if samples is None else Utterance(recording, samples, sent)

    def _listen(self, context: StageContext, client: SidecarClient, utterance: Utterance) -> str:
        """What was heard first."""
        options = self._session.options
        answers = transcribe_repeatedly(context, client, utterance, options.repeat)
        with context.check("repeat"):
            judge_repeats(context, answers, utterance.recording.language)
        with context.check("asr_speed"):
            host_limit = options.limits.get("host_answer", HOST_ANSWER_SECONDS)
            judge_speed(context, answers, utterance.seconds, host_limit)
            judge_detected(context, utterance, answers[0])
        run_controls(context, client, utterance, answers[0].text, quick=options.level == "quick")
        return answers[0].text
