"""What a person said is to be tested, as the options say it: a command to type next has to test the same."""

from collections.abc import Mapping
from pathlib import Path

from rocm_wizard.envfile.secrets import is_secret
from rocm_wizard.stages.session import Options


def given_options(checkout: Path | None, python: Path | None, options: Options) -> dict[str, str | list[str]]:
    """Option and value as they were given; nothing that was left to its default. `--set` has a list.

    The value of a secret is left out: its setting stands there without one.
    """
    models = options.tts_models
    values: Mapping[str, str | Path | None] = {
        "--checkout": checkout,
        "--python": python,
        "--profile": options.profile,
        "--env-file": options.env_file,
        "--asr-engine": options.asr_engine,
        "--asr-model": options.asr_model,
        "--audio": options.audio,
        "--transcript": options.transcript,
        "--asr-language": options.asr_language,
        "--tts-engine": options.tts_engine,
        "--gpt-model": models.gpt,
        "--sovits-model": models.sovits,
        "--pretrained": models.pretrained,
        "--nltk-data": models.nltk,
        "--reference": options.reference,
        "--reference-text": options.reference_text,
        "--tts-language": options.tts_language,
        "--text": options.text,
    }
    given: dict[str, str | list[str]] = {option: str(value) for option, value in values.items() if value is not None}
    if options.settings:
        settings = options.settings.items()
        given["--set"] = [name if is_secret(name, value) else f"{name}={value}" for name, value in settings]
    return given
