"""Looks at a person's model files before anything loads them, and says what they are and what is wrong with them."""

from collections.abc import Mapping
from pathlib import Path

from rocm_wizard.envfile import is_placeholder
from rocm_wizard.models.problem import Fact, Problem
from rocm_wizard.models.qwen3_asr import inspect_asr_folder
from rocm_wizard.models.recognised import Inspection, Recognised
from rocm_wizard.models.reference import read_reference
from rocm_wizard.models.tts_models import TtsModelFiles, inspect_tts_files
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import StageContext

_MEGABYTE = 1e6


def inspect_asr_model(context: StageContext, folder: Path) -> bool:
    """Reports what a Qwen3-ASR folder holds. False: it cannot be loaded, so no sidecar needs to start."""
    with context.check("models"):
        return _report(context, inspect_asr_folder(folder))


def inspect_tts_models(context: StageContext, files: TtsModelFiles, unset: tuple[str, str] | None = None) -> bool:
    """Reports what the files of a GPT-SoVITS voice are and whether they fit. False: they cannot be loaded.

    `unset`: the settings that do not name the reference and its words; it is the host's own then.
    """
    with context.check("models"):
        found = inspect_tts_files(files)
        if unset is not None and not files.reference.is_file():
            _report(context, found)
            facts: dict[str, Fact] = {"language": files.language, "key": unset[0], "text_key": unset[1]}
            own = str(files.reference)
            context.finding("models.reference_not_set", Outcome.FAILED, ["file"], file=own, **facts)
            return False
        text = "" if is_placeholder(files.reference_text) else files.reference_text
        measured, problems = read_reference(files.reference, text)
        found.problems += problems
        usable = _report(context, found)
        if not problems:
            _report_reference(context, files, measured)
        return usable


def _report(context: StageContext, found: Inspection) -> bool:
    for thing in found.recognised:
        _report_recognised(context, thing)
    for problem in found.problems:
        _report_problem(context, problem)
    return found.usable


def _report_recognised(context: StageContext, thing: Recognised) -> None:
    context.finding(
        "models.recognised" if thing.tensors else "models.recognised_unread",
        Outcome.PASSED,
        ["file"],
        file=thing.file.name,
        what=thing.name,
        tensors=thing.tensors,
        megabytes=round(thing.size / _MEGABYTE, 1),
        dtypes=list(thing.dtypes),
    )


def _report_problem(context: StageContext, problem: Problem) -> None:
    facts: dict[str, Fact] = {"file": problem.file.name, "folder": str(problem.file.parent), **problem.facts}
    outcome = Outcome.FAILED if problem.fatal else Outcome.WARNING
    context.finding(f"models.{problem.kind}", outcome, ["file", "folder"], **facts)


def _report_reference(context: StageContext, files: TtsModelFiles, measured: Mapping[str, float]) -> None:
    context.finding("models.reference", Outcome.PASSED, ["file"], file=files.reference.name, **measured)
