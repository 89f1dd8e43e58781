"""A Qwen3-ASR folder: whole, sharded, and with each of its files wrong."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from rocm_wizard.models.book import load_book
from rocm_wizard.models.plain import read_json
from rocm_wizard.models.problem import Kind, Problem
from rocm_wizard.models.qwen3_asr import inspect_asr_folder
from tests.models import crafted


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return crafted.qwen(tmp_path / "语音 识别")


def only(folder: Path) -> Problem:
    """The one problem of a folder."""
    found = inspect_asr_folder(folder).problems
    assert len(found) == 1, found
    return found[0]


def change_json(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Rewrites a JSON file."""
    content = read_json(path)
    change(content)
    crafted.write_json(path, content)


def test_in_order(folder: Path) -> None:
    found = inspect_asr_folder(folder)
    assert found.problems == []
    (thing,) = found.recognised
    assert (thing.file, thing.tensors, thing.size) == (folder, 7, (folder / "model.safetensors").stat().st_size)
    assert thing.dtypes == ("bfloat16", "float32")


def test_shards_load_but_the_host_wants_one_file(tmp_path: Path) -> None:
    found = inspect_asr_folder(crafted.qwen(tmp_path, shards=2))
    assert [(problem.kind, problem.fatal) for problem in found.problems] == [(Kind.ASR_SHARDED, False)]
    assert found.usable and found.recognised[0].tensors == 7


@pytest.mark.parametrize("name", [*load_book()["qwen3_asr"]["files"], "model.safetensors"])
def test_each_file_is_needed_whole(folder: Path, name: str) -> None:
    path = folder / name
    whole = path.read_bytes()
    path.unlink()
    assert (only(folder).kind, only(folder).file.name) == (Kind.MISSING, name)
    path.write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 99\n")
    assert only(folder).kind is Kind.LFS_POINTER
    path.write_bytes(whole[: len(whole) - 3])
    wanted = {".json": Kind.JSON_BROKEN, ".txt": Kind.TEXT_BROKEN, ".safetensors": Kind.SAFETENSORS_TRUNCATED}
    assert only(folder).kind is wanted[path.suffix]
    assert not inspect_asr_folder(folder).usable and inspect_asr_folder(folder).recognised == []


def test_no_folder(folder: Path) -> None:
    assert only(folder / "none").kind is Kind.MISSING
    assert only(folder / "config.json").kind is Kind.NOT_A_FILE


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"model_type": "qwen2_audio"}, "qwen2_audio"),
        ({"model_type": None}, "None"),
        ({"architectures": ["Qwen3ForCausalLM"]}, "['Qwen3ForCausalLM']"),
        ({"thinker_config": {"model_type": "qwen3_forced_aligner"}}, "Qwen3-ForcedAligner"),
    ],
)
def test_other_models(folder: Path, change: dict[str, Any], found: str) -> None:
    change_json(folder / "config.json", lambda config: config.update(change))
    (folder / "vocab.json").unlink()  # which the other model need not have
    assert only(folder).kind is Kind.ASR_OTHER_MODEL and only(folder).facts["found"] == found


@pytest.mark.parametrize(
    ("file", "change", "found"),
    [
        ("vocab.json", {"x": 40}, 40),
        ("vocab.json", {"x": "7"}, "7"),
        ("tokenizer_config.json", {"added_tokens_decoder": {"151646": {}}}, 151646),
        ("tokenizer_config.json", {"added_tokens_decoder": {"<x>": {}}}, "<x>"),
    ],
)
def test_token_numbers_beyond_the_network(folder: Path, file: str, change: dict[str, Any], found: object) -> None:
    change_json(folder / file, lambda content: content.update(change))
    assert only(folder).kind is Kind.ASR_VOCABULARY and only(folder).file.name == file
    assert only(folder).facts == {"found": found, "rows": 40}


def test_weights_of_another_size(folder: Path) -> None:
    state = load_file(folder / "model.safetensors")
    save_file(state | {"thinker.model.embed_tokens.weight": torch.zeros(40, 16)}, folder / "model.safetensors")
    assert (only(folder).kind, only(folder).facts["found"]) == (Kind.ASR_SHAPE, "40×16")


def test_weights_of_fewer_layers(folder: Path) -> None:
    state = load_file(folder / "model.safetensors")
    del state["thinker.audio_tower.layers.1.self_attn_layer_norm.weight"]
    save_file(state, folder / "model.safetensors")
    assert only(folder).kind is Kind.ASR_TENSORS
    assert only(folder).facts["tensors"] == ["thinker.audio_tower.layers.1.self_attn_layer_norm.weight"]


def test_settings_that_are_nonsense_do_not_raise(folder: Path) -> None:
    for thinker in (None, [], {"text_config": 3}, {"text_config": {"vocab_size": "x", "num_hidden_layers": 10**30}}):
        change_json(folder / "config.json", lambda config, value=thinker: config.update(thinker_config=value))
        assert inspect_asr_folder(folder).problems == []


def test_code_in_the_folder_is_told_before_anything_could_run_it(folder: Path) -> None:
    (folder / "custom_generate").mkdir()
    (folder / "custom_generate" / "generate.py").write_text("def generate(model, **_): ...\n", encoding="utf-8")
    assert (only(folder).kind, only(folder).fatal) == (Kind.ASR_CODE, True)
