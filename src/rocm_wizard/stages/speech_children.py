"""Which sidecars a session drives, and how they are started."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from rocm_wizard.models.discover import find_asr_folder, find_checkpoint, find_nltk, find_reference
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.sidecar.launch import (
    CHECKOUT_SCRIPTS,
    Remark,
    SidecarSpec,
    checkout_sidecar,
    nothing_to_start,
    own_sidecar,
)
from rocm_wizard.sidecar.messages import LANGUAGE_LABELS
from rocm_wizard.stages.checkout_settings import (
    MODEL_KEYS,
    checkout_settings,
    model_settings,
    setting,
    settled_path,
)
from rocm_wizard.stages.session import Session

INTERPRETERS = {"asr": "QWEN3_ASR_PYTHON", "tts": "TTS_PYTHON"}
_OUTPUT_LANGUAGES = {label: code for code, label in LANGUAGE_LABELS.items() if code in ("ja", "en")}
"""What `TTS_OUTPUT_LANGUAGE` may say; the host takes Japanese where it says nothing."""
_OF_GPT_SOVITS = ("checkout", "gpt_sovits")


def asr_engine(session: Session) -> str:
    """The recogniser under test: embedded, qwen3_asr, checkout, or command (one given whole)."""
    options = session.options
    if options.asr_command is not None:
        return "command"
    return options.asr_engine or ("qwen3_asr" if options.asr_model is not None else _default(session, "asr"))


def tts_engine(session: Session) -> str:
    """The voice under test: embedded, gpt_sovits, checkout, or command (one given whole)."""
    options = session.options
    if options.tts_command is not None:
        return "command"
    named = options.tts_models.gpt is not None or options.tts_models.sovits is not None
    return options.tts_engine or ("gpt_sovits" if named else _default(session, "tts"))


def tts_language(session: Session) -> str:
    """The language of the speech: as asked, else that of the checkout's voice, else English."""
    options, checkout = session.options, session.target.checkout
    if options.tts_language is not None:
        return options.tts_language
    if checkout is None or tts_engine(session) not in _OF_GPT_SOVITS:
        return "en"
    return _OUTPUT_LANGUAGES.get(setting(checkout_settings(checkout), "TTS_OUTPUT_LANGUAGE").strip(), "ja")


def _default(session: Session, kind: str) -> str:
    return "checkout" if _has_script(session, kind) else "embedded"


def _has_script(session: Session, kind: str) -> bool:
    checkout = session.target.checkout
    return checkout is not None and (checkout / CHECKOUT_SCRIPTS[kind]).is_file()


def asr_spec(session: Session) -> SidecarSpec:
    """How the session's recogniser is started."""
    engine, folder = asr_engine(session), session.working_folder
    settings = checkout_settings(session.target.checkout)
    if engine == "checkout":
        return _checkout(session, "asr", settings, _asr_settings(session))
    options: list[str] = []
    if engine == "qwen3_asr":
        stated = model_settings(session.target.checkout)
        model = find_asr_folder(folder, stated, session.options.asr_model)
        if model is None:
            facts = {"sidecar": "asr sidecar", "engine": engine, "option": "--asr-model"}
            remark = Remark("sidecar.no_model", Outcome.COULD_NOT_CHECK, facts)
            return nothing_to_start("asr", folder, engine, remark)
        options = ["--engine", engine, "--model", str(model.path.absolute())]
    command = session.options.asr_command
    return own_sidecar("asr", session.target.python, session.chosen, folder, command, engine=engine, options=options)


def _asr_settings(session: Session) -> dict[str, str]:
    model = session.options.asr_model
    return {} if model is None else {"QWEN3_ASR_MODEL_PATH": str(model.absolute())}


def tts_spec(session: Session) -> SidecarSpec:
    """How the session's voice is started."""
    engine, folder = tts_engine(session), session.working_folder
    settings = checkout_settings(session.target.checkout)
    if engine == "checkout":
        return _checkout(session, "tts", settings, _tts_settings(session, settings))
    options: list[str] = []
    if engine == "gpt_sovits":
        models = session.options.tts_models
        stated = model_settings(session.target.checkout)
        gpt, _ = find_checkpoint(folder, stated, "gpt", models.gpt)
        sovits, _ = find_checkpoint(folder, stated, "sovits", models.sovits)
        if gpt is None or sovits is None:
            facts = {"sidecar": "tts sidecar", "engine": engine, "option": "--gpt-model, --sovits-model"}
            remark = Remark("sidecar.no_model", Outcome.COULD_NOT_CHECK, facts)
            return nothing_to_start("tts", folder, engine, remark)
        named = {
            "--gpt-model": gpt.path,
            "--sovits-model": sovits.path,
            "--pretrained": models.pretrained,
            "--nltk-data": find_nltk(folder, stated, models.nltk),
        }
        options = ["--engine", engine]
        for name, path in named.items():
            options += [] if path is None else [name, str(path.absolute())]
    command = session.options.tts_command
    spec = own_sidecar("tts", session.target.python, session.chosen, folder, command, engine=engine, options=options)
    return spec if command else _with(spec, {key: settings[key] for key in MODEL_KEYS if key in settings})


def _with(spec: SidecarSpec, settings: Mapping[str, str]) -> SidecarSpec:
    return replace(spec, environment={**settings, **spec.environment})


def _tts_settings(session: Session, settings: Mapping[str, str]) -> dict[str, str]:
    """The person's files as the checkout's settings; with files of their own the voice has to be `custom`."""
    options, models = session.options, session.options.tts_models
    stated: dict[str, str] = {}
    for name, path in (("TTS_GPT_MODEL_PATH", models.gpt), ("TTS_SOVITS_MODEL_PATH", models.sovits)):
        if path is not None:
            stated[name] = str(path.absolute())
        elif setting(settings, name):
            stated[name] = setting(settings, name)
    if stated:
        stated["TTS_VOICE_PROFILE"] = "custom"
    label = LANGUAGE_LABELS[tts_language(session)]
    if label in _OUTPUT_LANGUAGES:
        stated["TTS_OUTPUT_LANGUAGE"] = label
    if options.reference is not None:
        for suffix in ("JA", "EN"):
            stated[f"TTS_REF_AUDIO_{suffix}"] = str(options.reference.absolute())
            stated[f"TTS_REF_TEXT_{suffix}"] = options.reference_text or ""
    if models.nltk is not None:
        stated["NLTK_DATA"] = str(models.nltk.absolute())
    elif not setting(settings, "NLTK_DATA"):
        stated["NLTK_DATA"] = str(session.working_folder / "assets" / "nltk_data")
    return stated


def _checkout(session: Session, kind: str, settings: Mapping[str, str], stated: Mapping[str, str]) -> SidecarSpec:
    purpose, folder = f"{kind} sidecar", session.working_folder
    if not _has_script(session, kind):
        script = CHECKOUT_SCRIPTS[kind].as_posix()
        remark = Remark("sidecar.no_script", Outcome.COULD_NOT_CHECK, {"sidecar": purpose, "script": script})
        return nothing_to_start(kind, folder, "checkout", remark)
    remarks: list[Remark] = []
    python = session.target.python
    named = settled_path(settings, INTERPRETERS[kind], folder)
    if named is not None and named.is_file():
        python = named
    elif named is not None:
        facts = {"sidecar": purpose, "variable": INTERPRETERS[kind], "path": str(named), "used": str(python)}
        if kind == "tts":
            remark = Remark("sidecar.python_missing", Outcome.FAILED, facts)
            return nothing_to_start(kind, folder, "checkout", remark)
        remarks.append(Remark("sidecar.python_ignored", Outcome.WARNING, facts))
    profile = setting(settings, "TTS_VOICE_PROFILE")
    if kind == "tts" and stated.get("TTS_VOICE_PROFILE") and profile not in ("", "custom"):
        remarks.append(Remark("sidecar.voice_profile", Outcome.WARNING, {"sidecar": purpose, "profile": profile}))
    spec = checkout_sidecar(kind, python, session.chosen, folder, stated)
    return replace(spec, remarks=tuple(remarks))


def voice_reference(session: Session) -> tuple[Path | None, str]:
    """The recording whose voice is spoken with and what is said in it; no engine but GPT-SoVITS looks for one."""
    options = session.options
    if tts_engine(session) not in _OF_GPT_SOVITS:
        return options.reference, options.reference_text or ""
    settings = model_settings(session.target.checkout)
    given = options.reference, options.reference_text, tts_language(session)
    found, text = find_reference(session.working_folder, settings, *given)
    return (found.path if found is not None else None), text
