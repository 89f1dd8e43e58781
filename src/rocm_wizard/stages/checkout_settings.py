"""What a checkout's `.env` says to its sidecars, read as the host reads it."""

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from rocm_wizard.assets import asset
from rocm_wizard.envfile import EnvFileError, dotenv_disabled, is_secret, load_catalogue, read_values, take_snapshot
from rocm_wizard.runner.hidden import secret_values

MODEL_KEYS = (
    "QWEN3_ASR_MODEL_PATH",
    "TTS_GPT_MODEL_PATH",
    "TTS_SOVITS_MODEL_PATH",
    "NLTK_DATA",
    *(f"TTS_REF_{part}_{language}" for language in ("JA", "EN", "ZH") for part in ("AUDIO", "TEXT")),
)


def checkout_settings(checkout: Path | None) -> dict[str, str]:
    """The `.env` file's settings that are not in our environment, which beats them. A broken file settles nothing."""
    if checkout is None or dotenv_disabled(os.environ):
        return {}
    return {name: value for name, value in _file_values(checkout).items() if name not in os.environ}


def _file_values(checkout: Path) -> dict[str, str]:
    try:
        values = read_values(take_snapshot(checkout / ".env").document, os.environ)
    except EnvFileError:
        return {}
    return {name: value for name, value in values.items() if value is not None}


def hidden_values(checkout: Path | None) -> frozenset[str]:
    """The `.env` file's secrets, in force or not: a sidecar that reads the file by itself may print any of them."""
    values = {} if checkout is None else _file_values(checkout)
    return secret_values(values, private_settings(values))


def private_settings(settings: Mapping[str, str]) -> frozenset[str]:
    """The settings that a journal must not hold: secrets, and everything that is no voice key of the host."""
    known = load_catalogue(asset("env_catalogue.toml")).by_name
    return frozenset(name for name, value in settings.items() if name not in known or is_secret(name, value))


def model_settings(checkout: Path | None) -> dict[str, str]:
    """What the settings say of model files and reference recordings, without what is empty: files, never switches.

    A reference that is not set is the host's own, where its place is known.
    """
    settings = checkout_settings(checkout)
    stated = {name: value for name in MODEL_KEYS if (value := setting(settings, name))}
    return stated if checkout is None else _default_references() | stated


@cache
def _default_references() -> dict[str, str]:
    known = load_catalogue(asset("env_catalogue.toml")).keys
    return {key.name: key.default for key in known if key.name.startswith("TTS_REF_AUDIO_") and key.default}


def setting(settings: Mapping[str, str], name: str) -> str:
    """One setting as a child of ours would see it, "" when it is nowhere."""
    return os.environ.get(name, settings.get(name, ""))


def settled_path(settings: Mapping[str, str], name: str, root: Path) -> Path | None:
    """A setting that is a path, counted from the checkout's root."""
    text = setting(settings, name).strip()
    return root / Path(text).expanduser() if text else None
