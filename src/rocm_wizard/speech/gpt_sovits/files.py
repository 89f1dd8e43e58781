"""Which files the engine loads: named ones, else those that the host's settings name, else the host's usual places."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rocm_wizard.speech.serve import LoadFailure

PRETRAINED = Path("assets/models/gpt-sovits/pretrained")
BASE = "s2Gv3.pth"
BIGVGAN = "models--nvidia--bigvgan_v2_24khz_100band_256x"
HUBERT = "chinese-hubert-base"
BERT = "chinese-roberta-wwm-ext-large"
_REFERENCES = {"all_ja": "JA", "ja": "JA", "en": "EN", "all_zh": "ZH", "zh": "ZH"}


@dataclass(frozen=True)
class ModelFiles:
    """Paths that exist. None: not there, and needed only for a LoRA (base), Chinese (bert) or English (nltk)."""

    gpt: Path
    sovits: Path
    bigvgan: Path
    hubert: Path
    base: Path | None = None
    bert: Path | None = None
    nltk: Path | None = None


def find_files(
    given: Mapping[str, Path | None], nltk: Path | None, environment: Mapping[str, str], root: Path | None = None
) -> ModelFiles:
    """The files. `given` may name `gpt`, `sovits` and `pretrained`; a relative path counts from `root`.

    Raises LoadFailure that names everything missing at once.
    """
    start = root or Path.cwd()
    gpt = _path(start, given.get("gpt"), environment.get("TTS_GPT_MODEL_PATH"))
    sovits = _path(start, given.get("sovits"), environment.get("TTS_SOVITS_MODEL_PATH"))
    pretrained = _path(start, given.get("pretrained"), None) or start / PRETRAINED
    missing = [
        f"{what}: {path or f'name it with {option} or {variable}'}"
        for what, path, option, variable in (
            ("GPT checkpoint", gpt, "--gpt-model", "TTS_GPT_MODEL_PATH"),
            ("SoVITS v3 checkpoint", sovits, "--sovits-model", "TTS_SOVITS_MODEL_PATH"),
        )
        if path is None or not path.is_file()
    ]
    missing += [f"{name}: {pretrained / name}" for name in (BIGVGAN, HUBERT) if not (pretrained / name).is_dir()]
    if missing or gpt is None or sovits is None:
        raise LoadFailure("model files are missing: " + "; ".join(missing))
    return ModelFiles(
        gpt=gpt,
        sovits=sovits,
        bigvgan=pretrained / BIGVGAN,
        hubert=pretrained / HUBERT,
        base=_existing(pretrained / BASE),
        bert=_existing(pretrained / BERT),
        nltk=_nltk(start, nltk, environment.get("NLTK_DATA", "")),
    )


def _nltk(root: Path, named: Path | None, variable: str) -> Path | None:
    """The named folder, the first of NLTK's own variable that exists, or the host's."""
    folders = [named] if named is not None else [Path(part) for part in variable.split(os.pathsep) if part]
    found = (_existing(root / folder.expanduser()) for folder in (*folders, Path("assets/nltk_data")))
    return next((folder for folder in found if folder is not None), None)


def usual_reference(language: str, environment: Mapping[str, str]) -> tuple[str, str]:
    """Path and transcript of the reference that the host's settings name for a language; "" where there is none."""
    suffix = _REFERENCES.get(language)
    if suffix is None:
        return "", ""
    return environment.get(f"TTS_REF_AUDIO_{suffix}", ""), environment.get(f"TTS_REF_TEXT_{suffix}", "")


def _path(root: Path, named: Path | None, variable: str | None) -> Path | None:
    if named is None and not variable:
        return None
    path = named if named is not None else Path(str(variable))
    return root / path.expanduser()


def _existing(path: Path) -> Path | None:
    return path if path.exists() else None
