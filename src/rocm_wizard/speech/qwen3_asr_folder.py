"""Which Qwen3-ASR folder is loaded, and whether it may be: all that can be told before torch is imported."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rocm_wizard.models.book import load_book
from rocm_wizard.models.problem import Kind, Problem, told
from rocm_wizard.models.qwen3_asr import inspect_asr_folder
from rocm_wizard.models.shards import read_weights
from rocm_wizard.speech.asr_engine import refuse_code
from rocm_wizard.speech.serve import LoadFailure

VARIABLE = "QWEN3_ASR_MODEL_PATH"


@dataclass(frozen=True)
class ModelFolder:
    """A folder whose files are whole; `weights` in the order of their names."""

    path: Path
    weights: tuple[Path, ...]


def find_folder(given: Path | None, environment: Mapping[str, str], root: Path) -> Path:
    """`--model`, else QWEN3_ASR_MODEL_PATH, else the host's place; a relative path is `root`'s, `~` the home."""
    named = given or environment.get(VARIABLE, "").strip() or load_book()["place"]["asr"]
    return root / Path(named).expanduser()


def check_folder(path: Path) -> ModelFolder:
    """The folder's weight files. Raises LoadFailure naming every missing file and what is wrong with the others."""
    refuse_code(path)
    problems = [problem for problem in inspect_asr_folder(path).problems if problem.fatal]
    if problems:
        raise LoadFailure(_told(path, problems))
    weights, _ = read_weights(path)
    if weights is None:
        raise LoadFailure(f"{path} changed while it was looked at")
    return ModelFolder(path, weights.files)


def _told(path: Path, problems: list[Problem]) -> str:
    if problems[0].file == path and problems[0].kind in (Kind.MISSING, Kind.NOT_A_FILE):
        return f"no folder {path}; --model or {VARIABLE} names the Qwen3-ASR folder"
    missing = [problem.file.name for problem in problems if problem.kind is Kind.MISSING]
    parts = [f"{', '.join(missing)} missing"] if missing else []
    parts += [told(problem) for problem in problems if problem.kind is not Kind.MISSING]
    note = " (pickled weights are never read)" if "model.safetensors" in missing else ""
    return f"{path} is no complete Qwen3-ASR folder: {'; '.join(parts)}{note}"
