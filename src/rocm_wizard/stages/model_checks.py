"""Before a sidecar with the person's own models starts: which files those are, and whether they can be loaded."""

from rocm_wizard.models.discover import TtsWish, find_asr_folder, find_tts_files, reference_keys
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import StageContext
from rocm_wizard.stages.checkout_settings import checkout_settings, model_settings, setting
from rocm_wizard.stages.model_findings import inspect_asr_model, inspect_tts_models
from rocm_wizard.stages.session import Session
from rocm_wizard.stages.speech_children import asr_engine, tts_engine, tts_language

_OPTIONS = {"gpt": "--gpt-model", "sovits": "--sovits-model", "reference": "--reference"}


def asr_model_fits(context: StageContext, session: Session) -> bool:
    """Whether the recogniser can be started; true where it brings its own model."""
    if asr_engine(session) not in ("qwen3_asr", "checkout"):
        return True
    found = find_asr_folder(session.working_folder, model_settings(session.target.checkout), session.options.asr_model)
    return found is None or inspect_asr_model(context, found.path)


def tts_models_fit(context: StageContext, session: Session) -> bool:
    """Whether the voice can be started; true where it brings its own models."""
    if tts_engine(session) not in ("gpt_sovits", "checkout"):
        return True
    options, models = session.options, session.options.tts_models
    wish = TtsWish(models.gpt, models.sovits, models.pretrained, models.nltk, options.reference, options.reference_text)
    settings = model_settings(session.target.checkout)
    search = find_tts_files(session.working_folder, settings, wish, tts_language(session))
    if search.files is not None:
        keys = reference_keys(tts_language(session))
        stated = options.reference is not None or setting(checkout_settings(session.target.checkout), keys[0])
        return inspect_tts_models(context, search.files, None if stated else keys)
    with context.check("models"):
        context.finding(
            "models.not_named",
            Outcome.COULD_NOT_CHECK,
            ["candidates"],
            options=[_OPTIONS[role] for role in search.missing],
            candidates=[str(file) for files in search.candidates.values() for file in files],
        )
    return False
