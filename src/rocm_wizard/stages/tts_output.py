"""Where the speech is kept: settled before any work, and never over another file."""

import tempfile
from pathlib import Path

from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import StageContext
from rocm_wizard.stages.session import Session
from rocm_wizard.stages.utterance import Utterance

NAME = "tts-smoke.wav"


def choose_output(context: StageContext, session: Session) -> Path:
    """The file that the speech will be kept in: the wished one, or one in the run's folder and a finding why."""
    from rocm_wizard.audio.wav import unused_path

    own = unused_path(session.run_folder / NAME)
    wished = session.options.output
    if wished is None:
        return own
    wished = wished.absolute()
    facts = {"file": str(wished), "instead": str(own)}
    private = ["file", "instead"]
    with context.check("output"):
        if wished.exists():
            context.finding("tts.output_exists", Outcome.WARNING, private, **facts)
            return own
        reason = _refusal(wished.parent)
        if reason is not None:
            context.finding("tts.output_unwritable", Outcome.WARNING, private, reason=reason, **facts)
            return own
        context.finding("tts.output_free", Outcome.PASSED, ["file"], file=str(wished))
    return wished


def keep(context: StageContext, session: Session, utterance: Utterance, path: Path) -> None:
    """Writes the sound as 16-bit WAV; when that fails where the person wished it, in the run's folder."""
    from rocm_wizard.audio.wav import unused_path

    if _written(context, utterance, path):
        return
    instead = unused_path(session.run_folder / NAME)
    if instead != path:
        _written(context, utterance, instead)


def _written(context: StageContext, utterance: Utterance, path: Path) -> bool:
    from rocm_wizard.audio.wav import file_sha256, write_wav

    try:
        write_wav(path, utterance.samples(), utterance.rate)
        facts = {"bytes": path.stat().st_size, "sha256": file_sha256(path)}
    except OSError as error:
        reason = error.strerror or str(error)
        context.finding("tts.file_not_written", Outcome.WARNING, ["file"], file=str(path), reason=reason)
        return False
    context.finding("tts.file", Outcome.PASSED, ["file"], file=str(path), rate=utterance.rate, **facts)
    return True


def _refusal(folder: Path) -> str | None:
    """The system's reason why no file can be made in a folder: asked by making one, as rights alone do not tell."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return None
    except OSError as error:
        return error.strerror or str(error)
