"""The folders that a GPT-SoVITS voice needs beside its two checkpoints."""

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rocm_wizard.models.book import load_book, load_layout
from rocm_wizard.models.layouts import compare_layout, remove_weight_norm
from rocm_wizard.models.plain import first_look, folder_problem, read_json
from rocm_wizard.models.problem import Kind, Problem, Refused, reason_of, shown
from rocm_wizard.models.shards import INDEX, SINGLE, read_weights
from rocm_wizard.models.tensors import Tensor, shape_text
from rocm_wizard.models.torch_file import read_torch

BIN = "pytorch_model.bin"


@dataclass(frozen=True, slots=True)
class Companion:
    """A recognised folder: its configuration and tensors; `size` of the weights in bytes."""

    path: Path
    name: str
    size: int
    config: Mapping[str, Any]
    tensors: Mapping[str, Tensor]


def read_bigvgan(folder: Path) -> tuple[Companion | None, list[Problem]]:
    """BigVGAN v2 at 24 kHz: `config.json` and its generator."""
    entry = load_book()["folder"]["bigvgan"]
    if (problem := folder_problem(folder)) is not None:
        return None, [problem]
    try:
        config = read_json(folder / "config.json")
        file = read_torch(folder / entry["weights"])
    except Refused as refused:
        return None, [refused.problem]
    problems = _wrong_fields(folder, config, entry["config"])
    problems += _wrong_fields(folder, config, {key: entry["mel"][key] for key in entry["mel"] if key in config})
    tensors = remove_weight_norm(file.state(entry["key"]))
    if not tensors:
        return None, [*problems, Problem(Kind.UNKNOWN_CONTENTS, file.path, {"keys": [shown(key) for key in file.keys]})]
    problems += compare_layout(file.path, tensors, load_layout("bigvgan"))
    first, channels = tensors.get("conv_pre.weight"), config.get("upsample_initial_channel")
    if first is not None and first.shape[:1] != (channels,):
        facts = {"field": "upsample_initial_channel", "found": shown(channels), "needed": shape_text(first.shape[:1])}
        problems.append(Problem(Kind.FOLDER_CONFIG, folder / "config.json", facts))
    return Companion(folder, entry["name"], file.size, config, tensors), problems


def read_companion(role: str, folder: Path) -> tuple[Companion | None, list[Problem]]:
    """`hubert` or `bert`: a folder in the layout of `transformers`."""
    entry = load_book()["folder"][role]
    if (problem := folder_problem(folder)) is not None:
        return None, [problem]
    try:
        config = read_json(folder / "config.json")
    except Refused as refused:
        return None, [refused.problem]
    problems = _wrong_fields(folder, config, entry["config"])
    if problems:
        return None, problems
    problems = [*_missing_files(folder, entry["files"], fatal=True), *_missing_files(folder, entry["host_files"])]
    size, tensors, more = _weights(folder)
    problems += more
    if any(problem.fatal for problem in problems):
        return None, problems
    if tensors:
        problems += _judge(folder, config, entry, tensors)
    return Companion(folder, entry["name"], size, config, tensors), problems


def read_nltk(folder: Path) -> list[Problem]:
    """NLTK's data for English. The engine here pronounces without it, worse; the host needs all of it."""
    entry = load_book()["nltk"]
    if folder_problem(folder) is not None:
        return [Problem(Kind.NLTK_MISSING, folder, fatal=False)]
    problems: list[Problem] = []
    for name in entry["files"]:
        archive = folder / Path(name).parent.with_suffix(".zip")
        problems += _part(folder, [folder / name], archive)
    tagger = folder / entry["tagger"]
    found = _part(folder, [tagger / name for name in entry["tagger_files"]], tagger.with_suffix(".zip"))
    old = folder / entry["old_tagger"]
    if found and found[0].kind is Kind.NLTK_PART and (old.is_dir() or old.with_suffix(".zip").is_file()):
        facts = {"found": entry["old_tagger"], "needed": entry["tagger"]}
        found = [Problem(Kind.NLTK_OLD_TAGGER, folder, facts, fatal=False)]
    return problems + found


def _part(folder: Path, files: list[Path], archive: Path) -> list[Problem]:
    """Problems of a part of the data, unpacked or as the archive that NLTK downloads."""
    present = [file for file in files if file.exists()]
    if not present and not archive.exists():
        return [Problem(Kind.NLTK_PART, folder, {"part": archive.with_suffix("").name}, fatal=False)]
    try:
        for file in files if present else [archive]:
            first_look(file, text=bool(present))
    except Refused as refused:
        return [refused.problem]
    if not present and not zipfile.is_zipfile(archive):
        return [Problem(Kind.ZIP_BROKEN, archive)]
    return []


def _wrong_fields(folder: Path, config: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[Problem]:
    return [
        Problem(
            Kind.FOLDER_CONFIG,
            folder / "config.json",
            {"field": name, "found": shown(config.get(name)), "needed": shown(value)},
        )
        for name, value in wanted.items()
        if config.get(name) != value and str(config.get(name)) != str(value)
    ]


def _missing_files(folder: Path, names: list[str], *, fatal: bool = False) -> list[Problem]:
    """`a|b`: either will do. What is there has to be a file of its own, no stand-in."""
    problems: list[Problem] = []
    for name in names:
        choices = [folder / choice for choice in name.split("|")]
        try:
            first_look(next((choice for choice in choices if choice.exists()), choices[0]), text=True)
        except Refused as refused:
            missing = refused.problem.kind is Kind.MISSING and not fatal
            problem = Problem(Kind.HOST_FILE, choices[0], fatal=False) if missing else refused.problem
            problems.append(problem)
    return problems


def _weights(folder: Path) -> tuple[int, Mapping[str, Tensor], list[Problem]]:
    """Size, tensors (none where a file of the old kind cannot be looked into) and problems."""
    if (folder / SINGLE).exists() or (folder / INDEX).exists():
        weights, problems = read_weights(folder)
        return (weights.size, weights.tensors, problems) if weights is not None else (0, {}, problems)
    if not (folder / BIN).exists():
        return 0, {}, [Problem(Kind.NO_WEIGHTS, folder, {"files": [SINGLE, BIN]})]
    try:
        file = read_torch(folder / BIN)
    except Refused as refused:
        problem = refused.problem
        if problem.kind is not Kind.TORCH_LEGACY:
            return 0, {}, [problem]
        try:
            size = (folder / BIN).stat().st_size
        except OSError as error:
            return 0, {}, [Problem(Kind.UNREADABLE, folder / BIN, {"reason": reason_of(error)})]
        # torch still reads these with weights_only; only this look without torch does not.
        return size, {}, [Problem(Kind.LEGACY_WEIGHTS, folder / BIN, fatal=False)]
    tensors = file.state()
    keys = [shown(key) for key in file.keys[:8]]
    return file.size, tensors, [] if tensors else [Problem(Kind.UNKNOWN_CONTENTS, file.path, {"keys": keys})]


def _judge(
    folder: Path, config: Mapping[str, Any], entry: Mapping[str, Any], found: Mapping[str, Tensor]
) -> list[Problem]:
    name = next((prefix + entry["tensor"] for prefix in entry["prefixes"] if prefix + entry["tensor"] in found), None)
    if name is None:
        facts = {"count": 1, "total": len(found), "tensors": [entry["tensor"]]}
        return [Problem(Kind.TENSORS_MISSING, folder, facts)]
    width = config.get("hidden_size")
    if found[name].shape != (width, width):
        facts = {"tensor": name, "found": shape_text(found[name].shape), "needed": f"{width}×{width}", "count": 1}
        return [Problem(Kind.TENSOR_SHAPE, folder, facts)]
    unusual = {key: value for key, value in entry["usual"].items() if config.get(key) != value}
    if not unusual:
        return []
    key, value = next(iter(unusual.items()))
    facts = {
        "tensor": key,
        "found": shown(config.get(key)),
        "needed": shown(value),
        "count": len(unusual),
        "missing": 0,
    }
    return [Problem(Kind.UNUSUAL_SIZE, folder, facts, fatal=False)]
