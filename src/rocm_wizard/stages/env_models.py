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
_TRIES = 5
"""Answers that do not fit are asked about again, but not for ever."""


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
    if _SENTENCE in keys and recording and (text := _ask_sentence(context, checkout, recording)):
        chosen[_SENTENCE] = text
    return chosen


def _ask_sentence(context: StageContext, checkout: Path, recording: str) -> str | None:
    """What is said in the chosen recording: its transcript's text, or what the person types."""
    found = _sentence(checkout / recording)
    for _ in range(_TRIES):
        if found:
            options, id = ("use", LEAVE_OUT), "env.reference_text"
        else:
            options, id = (LEAVE_OUT,), "env.reference_words"
        facts = {"text": found, "path": recording}
        answer = context.ask(Question(id, options, LEAVE_OUT, facts, free="text")).option
        if answer == LEAVE_OUT:
            return None
        text = found if answer == "use" else answer
        if text and _is_sentence(text):
            return text
        context.finding("env.sentence_unfit", Outcome.WARNING, limit=_LONGEST_TEXT)
    return None


def _is_sound(context: StageContext, checkout: Path, key: str, place: _Place, name: str) -> bool:
    """Whether the file can be what the key needs; a finding says why not."""
    fault = check_path(checkout / name, place.kind, (place.suffix,), sound_seconds) or _name_fault(name)
    if fault is not None:
        facts = {"key": key, "path": name, **fault.facts}
        context.finding(f"env.path_{fault.code}", Outcome.WARNING, ["path"], **facts)
    return fault is None


def _choose(context: StageContext, checkout: Path, key: str, place: _Place) -> str | None:
    good: list[str] = []
    for path in _files(checkout / place.folder, place.suffix):
        name = path.relative_to(checkout).as_posix()
        if _is_sound(context, checkout, key, place, name):
            good.append(name)
    if not good:
        context.finding("env.no_candidates", Outcome.PASSED, key=key, folder=place.folder, suffix=place.suffix)
    options = (*good[:_MOST], LEAVE_OUT)
    facts = {"key": key, "folder": place.folder, "more": max(0, len(good) - _MOST), "root": str(checkout)}
    for _ in range(_TRIES):
        answer = context.ask(Question("env.model_file", options, LEAVE_OUT, facts, free="path"))
        if answer.option == LEAVE_OUT:
            return None
        name = _from_checkout(checkout, answer.option)
        if name in good or _is_sound(context, checkout, key, place, name):
            context.finding("env.file_chosen", Outcome.PASSED, ["path"], key=key, path=name)
            return name
    return None


def _from_checkout(checkout: Path, typed: str) -> str:
    """A typed path as the host counts it: relative to the checkout where it lies inside, forward slashes."""
    path = checkout / Path(typed.strip("\"'")).expanduser()
    return (path.relative_to(checkout) if path.is_relative_to(checkout) else path).as_posix()


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
        except (OSError, ValueError):
            continue
        if _is_sentence(text):
            return text
    return None


def _is_sentence(text: str) -> bool:
    """One plain line that a `.env` can carry."""
    try:
        check_value(Path(".env"), _SENTENCE, text)
    except EnvFileError:
        return False
    return bool(text) and len(text) <= _LONGEST_TEXT and not is_placeholder(text)


def sound_seconds(path: Path) -> float | None:
    """The length of a sound file, `None` where it cannot be read."""
    from rocm_wizard.audio.wav import read_audio

    try:
        samples, rate = read_audio(path)
    except (OSError, ValueError):
        return None
    return len(samples) / rate
