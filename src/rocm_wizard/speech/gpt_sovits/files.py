"""Which files the engine loads: found as the wizard finds those that it inspects (`models.discover`)."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rocm_wizard.models.book import load_book
from rocm_wizard.models.discover import find_checkpoint, find_nltk, find_pretrained
from rocm_wizard.models.problem import told
from rocm_wizard.models.tts_models import TtsModelFiles, inspect_tts_files
from rocm_wizard.speech.serve import LoadFailure

BIGVGAN: str = load_book()["place"]["bigvgan"]
HUBERT: str = load_book()["place"]["hubert"]
BERT: str = load_book()["place"]["bert"]
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
    found: dict[str, Path] = {}
    missing: list[str] = []
    for role, what, option, variable in (
        ("gpt", "GPT checkpoint", "--gpt-model", "TTS_GPT_MODEL_PATH"),
        ("sovits", "SoVITS v3 checkpoint", "--sovits-model", "TTS_SOVITS_MODEL_PATH"),
    ):
        named, _ = find_checkpoint(start, environment, role, given.get(role))
        if named is not None and named.path.is_file():
            found[role] = named.path
        else:
            missing.append(f"{what}: {named.path if named else f'name it with {option} or {variable}'}")
    pretrained = find_pretrained(start, given.get("pretrained"))
    missing += [str(folder) for folder in (pretrained.bigvgan, pretrained.hubert) if not folder.is_dir()]
    if missing:
        raise LoadFailure("model files are missing: " + "; ".join(missing))
    return ModelFiles(
        gpt=found["gpt"],
        sovits=found["sovits"],
        bigvgan=pretrained.bigvgan,
        hubert=pretrained.hubert,
        base=pretrained.base,
        bert=pretrained.bert,
        nltk=find_nltk(start, environment, nltk),
    )


def check_files(files: ModelFiles) -> None:
    """Raises LoadFailure for files that are damaged, of another version, or do not belong to each other.

    Tensors of the right shape can still be those of another version, whose sound is noise.
    """
    unknown = TtsModelFiles(
        gpt=files.gpt,
        sovits=files.sovits,
        base=files.base,
        bigvgan=files.bigvgan,
        hubert=files.hubert,
        bert=files.bert,
        nltk=files.nltk,
        reference=Path(),
        reference_text="",
        language="",  # each request names its own
    )
    problems = [told(problem) for problem in inspect_tts_files(unknown).problems if problem.fatal]
    if problems:
        raise LoadFailure("the model files cannot be used: " + "; ".join(problems))


def usual_reference(language: str, environment: Mapping[str, str]) -> tuple[str, str]:
    """Path and transcript of the reference that the host's settings name for a language; "" where there is none."""
    suffix = _REFERENCES.get(language)
    if suffix is None:
        return "", ""
    return environment.get(f"TTS_REF_AUDIO_{suffix}", ""), environment.get(f"TTS_REF_TEXT_{suffix}", "")
