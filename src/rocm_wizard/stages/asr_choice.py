"""Which recording and which language the person's options name."""

from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import StageContext
from rocm_wizard.stages.error_rate import normalise
from rocm_wizard.stages.languages import UnknownLanguage, find_language, language_names
from rocm_wizard.stages.recordings import Recording, bundled_recording, recording_for
from rocm_wizard.stages.session import Options


def choose_recording(context: StageContext, options: Options) -> tuple[Recording, str | None] | None:
    """The recording, and the language to send with it (None: the recogniser detects it).

    None after a finding that says why there is none. Without --audio a bundled recording in the language is taken;
    with it and no language nothing is sent, as the host does where none is set.
    """
    try:
        named = find_language(options.asr_language) if options.asr_language is not None else None
    except UnknownLanguage as error:
        _report_unknown(context, error)
        return None
    if options.transcript is not None and not normalise(options.transcript):
        context.finding("asr.transcript_empty", Outcome.FAILED)
        return None
    if options.audio is not None:
        recording = Recording(options.audio, named.name if named else None, options.transcript)
    else:
        if options.transcript is not None:
            context.finding("asr.transcript_without_audio", Outcome.WARNING)
        found = recording_for(named.name) if named is not None else bundled_recording()
        if found is None and named is not None:
            context.finding("asr.no_recording", Outcome.COULD_NOT_CHECK, language=named.name, code=named.code)
        if found is None:
            return None
        recording = found
    sent = recording.language if options.asr_language is None or named is not None else None
    if sent is None:
        context.finding("asr.language_automatic", Outcome.PASSED)
    else:
        context.finding("asr.language", Outcome.PASSED, wanted=options.asr_language or sent, language=sent)
    return recording, sent


def _report_unknown(context: StageContext, error: UnknownLanguage) -> None:
    facts = {"wanted": error.wanted, "known": language_names()}
    if error.closest is None:
        context.finding("asr.language_unknown", Outcome.FAILED, **facts)
    else:
        context.finding("asr.language_mistyped", Outcome.FAILED, closest=error.closest, **facts)
