"""The files that a template only has stand-ins for: look for them in the checkout, offer them, never guess."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rocm_wizard.envfile import Document, EnvFileError, PathFault, check_path, check_value, is_placeholder
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import Question, StageContext

LEAVE_OUT = "leave_out"
_MOST = 8  # with "leave it out" as the ninth, every option has a digit
_LONGEST_TEXT = 300


@dataclass(frozen=True, slots=True)
class _Place:
    folder: str
    suffix: str
    kind: str = "file"


PLACES = {
    "TTS_GPT_MODEL_PATH": _Place("assets/models/gpt-sovits/weights/gpt/v3", ".ckpt"),
    "TTS_SOVITS_MODEL_PATH": _Place("assets/models/gpt-sovits/weights/sovits/v3", ".pth"),
    "TTS_REF_AUDIO_JA": _Place("assets/audio/reference", ".wav", "audio"),
}
"""Where the host's checkout keeps each kind of file."""

_SENTENCE = "TTS_REF_TEXT_JA"


def open_keys(document: Document, wanted: Mapping[str, str]) -> list[str]:
    """The wanted keys whose value is a stand-in, and that the file itself has nothing better for."""
    return [
        key
        for key, value in wanted.items()
        if is_placeholder(value) and (not (own := document.value(key)) or is_placeholder(own))
    ]


def choose_files(context: StageContext, checkout: Path, keys: list[str]) -> dict[str, str]:
    """Asks for each of `keys` which file it is; the chosen ones, relative to the checkout, with forward slashes."""
    chosen: dict[str, str] = {}
    for key, place in PLACES.items():
        if key in keys and (file := _choose(context, checkout, key, place)) is not None:
            chosen[key] = file
    recording = chosen.get("TTS_REF_AUDIO_JA")
    if _SENTENCE in keys and recording and (text := _sentence(checkout / recording)):
        answer = context.ask(Question("env.reference_text", ("use", LEAVE_OUT), LEAVE_OUT, {"text": text}))
        if answer.option == "use":
            chosen[_SENTENCE] = text
    return chosen


def _choose(context: StageContext, checkout: Path, key: str, place: _Place) -> str | None:
    good: list[str] = []
    for path in _files(checkout / place.folder, place.suffix):
        name = path.relative_to(checkout).as_posix()
        fault = check_path(path, place.kind, (place.suffix,), sound_seconds) or _name_fault(name)
        if fault is None:
            good.append(name)
        else:
            code, facts = "path_" + fault.code, {"key": key, "path": name, **fault.facts}
            context.finding(f"env.{code}", Outcome.WARNING, ["path"], **facts)
    if not good:
        context.finding("env.no_candidates", Outcome.PASSED, key=key, folder=place.folder, suffix=place.suffix)
        return None
    options = (*good[:_MOST], LEAVE_OUT)
    facts = {"key": key, "folder": place.folder, "more": max(0, len(good) - _MOST)}
    answer = context.ask(Question("env.model_file", options, LEAVE_OUT, facts))
    if answer.option not in good:
        return None
    context.finding("env.file_chosen", Outcome.PASSED, ["path"], key=key, path=answer.option)
    return answer.option


def _files(folder: Path, suffix: str) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.suffix.casefold() == suffix)
    except OSError:
        return []


def _name_fault(name: str) -> PathFault | None:
    try:
        check_value(Path(".env"), "path", name)
    except EnvFileError as error:
        return PathFault("name", {"reason": error.message})
    return PathFault("placeholder") if is_placeholder(name) else None


def _sentence(recording: Path) -> str | None:
    """The transcript that lies beside a recording, as training tools leave it, when it is one plain line."""
    for suffix in (".txt", ".lab"):
        try:
            text = recording.with_suffix(suffix).read_text(encoding="utf-8-sig").strip()
            check_value(Path(".env"), _SENTENCE, text)
        except (OSError, ValueError, EnvFileError):
            continue
        if text and len(text) <= _LONGEST_TEXT and not is_placeholder(text):
            return text
    return None


def sound_seconds(path: Path) -> float | None:
    """The length of a sound file, `None` where it cannot be read."""
    from rocm_wizard.audio.wav import read_audio

    try:
        samples, rate = read_audio(path)
    except (OSError, ValueError):
        return None
    return len(samples) / rate
