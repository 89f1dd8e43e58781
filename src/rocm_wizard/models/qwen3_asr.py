"""A Qwen3-ASR folder: its eight files, whether they are whole, and whether they belong to each other."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rocm_wizard.models.book import load_book
from rocm_wizard.models.plain import folder_problem, read_json, read_text
from rocm_wizard.models.problem import Kind, Problem, Refused, shown
from rocm_wizard.models.recognised import Inspection, recognise
from rocm_wizard.models.shards import SINGLE, Weights, read_weights
from rocm_wizard.models.tensors import shape_text

_EMBEDDING = "thinker.model.embed_tokens.weight"
_NAMED = 5
_CODE = "custom_generate"
"""transformers 4.57.6 runs what is in there without asking (`GenerationMixin.load_custom_generate`)."""


def inspect_asr_folder(folder: Path) -> Inspection:
    """Looks at all of the folder's files; headers only of the weights. Never raises for what they hold."""
    found = Inspection()
    if (problem := folder_problem(folder)) is not None:
        found.problems.append(problem)
        return found
    if (code := folder / _CODE).exists():
        found.problems.append(Problem(Kind.ASR_CODE, code))
    texts = _read_files(folder, found)
    config = texts.get("config.json")
    weights, problems = read_weights(folder)
    found.problems += problems
    if config is not None and (other := _other_model(folder, config)) is not None:
        # Nothing else about another model means anything here.
        found.problems = [other]
        return found
    if config is not None:
        text = _section(config, "text_config")
        found.problems += _vocabulary_problems(folder, text, texts)
        if weights is not None:
            found.problems += _weight_problems(folder, config, weights)
    if weights is not None and found.usable:
        if weights.files[0].name != SINGLE:
            found.problems.append(Problem(Kind.ASR_SHARDED, folder, {"shards": len(weights.files)}, fatal=False))
        found.recognised.append(recognise(folder, _name(weights), weights.size, weights.tensors))
    return found


def _read_files(folder: Path, found: Inspection) -> dict[str, dict[str, Any]]:
    texts: dict[str, dict[str, Any]] = {}
    for name in load_book()["qwen3_asr"]["files"]:
        try:
            if name.endswith(".json"):
                texts[name] = read_json(folder / name)
            else:
                _check_merges(folder / name)
        except Refused as refused:
            found.problems.append(refused.problem)
    return texts


def _check_merges(path: Path) -> None:
    """Byte-pair merges: a line is two parts; a version line may come first."""
    lines = read_text(path).splitlines()
    rules = [line for line in lines if line and not line.startswith("#version")]
    broken = next((line for line in rules if len(line.split(" ")) != 2), None)
    if not rules or broken is not None:
        raise Refused(Kind.TEXT_BROKEN, path, detail=shown(broken or "no merges"))


def _other_model(folder: Path, config: Mapping[str, Any]) -> Problem | None:
    wanted = load_book()["qwen3_asr"]
    said, architectures = config.get("model_type"), config.get("architectures")
    if said != wanted["model_type"]:
        facts = {"found": shown(said), "needed": wanted["model_type"]}
        return Problem(Kind.ASR_OTHER_MODEL, folder / "config.json", facts)
    thinker = config.get("thinker_config")
    kind = thinker.get("model_type") if isinstance(thinker, dict) else None
    if isinstance(kind, str) and "forced_aligner" in kind:
        # It shares the type and says only inside what it is: it aligns known text and recognises none.
        facts = {"found": "Qwen3-ForcedAligner", "needed": "Qwen3-ASR"}
        return Problem(Kind.ASR_OTHER_MODEL, folder / "config.json", facts)
    if architectures is not None and architectures != [wanted["architecture"]]:
        facts = {"found": shown(architectures), "needed": wanted["architecture"]}
        return Problem(Kind.ASR_OTHER_MODEL, folder / "config.json", facts)
    return None


def _section(config: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    thinker = config.get("thinker_config")
    section = thinker.get(name) if isinstance(thinker, dict) else None
    return section if isinstance(section, dict) else {}


def _vocabulary_problems(folder: Path, text: Mapping[str, Any], texts: Mapping[str, Any]) -> list[Problem]:
    """Every token number of the tokenizer has a row in the network."""
    rows = text.get("vocab_size")
    if not isinstance(rows, int) or "vocab.json" not in texts:
        return []
    for file, numbers in (
        ("vocab.json", texts["vocab.json"].values()),
        ("tokenizer_config.json", _added_numbers(texts.get("tokenizer_config.json", {}))),
    ):
        known = list(numbers)
        wrong = next((number for number in known if not isinstance(number, int)), None)
        largest = max((number for number in known if isinstance(number, int)), default=-1)
        if wrong is not None or largest >= rows:
            facts = {"found": shown(wrong) if wrong is not None else largest, "rows": rows}
            return [Problem(Kind.ASR_VOCABULARY, folder / file, facts)]
    return []


def _added_numbers(tokenizer: Mapping[str, Any]) -> Iterator[object]:
    added = tokenizer.get("added_tokens_decoder")
    for number in added if isinstance(added, dict) else ():
        yield int(number) if number.isdecimal() and len(number) < 12 else number


def _weight_problems(folder: Path, config: Mapping[str, Any], weights: Weights) -> list[Problem]:
    text, audio = _section(config, "text_config"), _section(config, "audio_config")
    stacks = {
        "thinker.model.layers.": (text.get("num_hidden_layers"), "input_layernorm.weight"),
        "thinker.audio_tower.layers.": (audio.get("encoder_layers"), "self_attn_layer_norm.weight"),
    }
    wanted = [_EMBEDDING, "thinker.model.norm.weight", "thinker.audio_tower.conv_out.weight"]
    for stem, (count, last) in stacks.items():
        if isinstance(count, int) and count <= len(weights.tensors):
            wanted += [f"{stem}{layer}.{last}" for layer in range(count)]
    missing = [name for name in wanted if name not in weights.tensors]
    if missing:
        facts = {"count": len(missing), "total": len(wanted), "tensors": missing[:_NAMED]}
        return [Problem(Kind.ASR_TENSORS, weights.files[0], facts)]
    rows, width = text.get("vocab_size"), text.get("hidden_size")
    found = weights.tensors[_EMBEDDING].shape
    if isinstance(rows, int) and isinstance(width, int) and found != (rows, width):
        facts = {"tensor": _EMBEDDING, "found": shape_text(found), "needed": shape_text((rows, width))}
        return [Problem(Kind.ASR_SHAPE, folder, facts)]
    return []


def _name(weights: Weights) -> str:
    """With the parameters that are there, the tied output weights counted once: the published 0.6B has 782 million."""
    parameters = sum(tensor.elements for name, tensor in weights.tensors.items() if not name.endswith("lm_head.weight"))
    return f"Qwen3-ASR ({parameters / 1e6:.0f}M)" if parameters >= 1e7 else f"Qwen3-ASR ({parameters / 1e6:.2f}M)"
