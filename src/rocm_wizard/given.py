"""What a person said is to be tested, as the options say it: a command to type next has to test the same."""

import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from rocm_wizard.stages.session import Options


def given_options(checkout: Path | None, python: Path | None, options: Options) -> dict[str, str]:
    """Option and value, quoted for this system's shells; nothing that was left to its default."""
    models = options.tts_models
    values: Mapping[str, str | Path | None] = {
        "--checkout": checkout,
        "--python": python,
        "--profile": options.profile,
        "--asr-engine": options.asr_engine,
        "--asr-model": options.asr_model,
        "--tts-engine": options.tts_engine,
        "--gpt-model": models.gpt,
        "--sovits-model": models.sovits,
        "--pretrained": models.pretrained,
        "--nltk-data": models.nltk,
        "--reference": options.reference,
        "--reference-text": options.reference_text,
    }
    return {option: _quoted(str(value)) for option, value in values.items() if value is not None}


def _quoted(text: str) -> str:
    return subprocess.list2cmdline([text]) if sys.platform == "win32" else shlex.quote(text)
