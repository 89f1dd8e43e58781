"""Which folder the qwen3_asr engine takes, and what it refuses before anything heavy is loaded."""

import json
from pathlib import Path

import pytest

from rocm_wizard.speech.qwen3_asr_folder import check_folder, find_folder
from rocm_wizard.speech.serve import LoadFailure
from tests.speech.qwen3_asr_tiny import FILES, WEIGHTS, save_tiny_model

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 1876091704\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A whole folder."""
    save_tiny_model(tmp_path / "模型 folder")
    return tmp_path / "模型 folder"


def refusal(folder: Path) -> str:
    """Why a folder is refused."""
    with pytest.raises(LoadFailure) as failure:
        check_folder(folder)
    return str(failure.value)


def test_the_option_goes_before_the_variable_and_that_before_the_usual_place(tmp_path: Path) -> None:
    variable = {"QWEN3_ASR_MODEL_PATH": " models/asr "}
    assert find_folder(Path("given"), variable, tmp_path) == tmp_path / "given"
    assert find_folder(None, variable, tmp_path) == tmp_path / "models" / "asr"
    assert find_folder(None, {"QWEN3_ASR_MODEL_PATH": "~/模型"}, tmp_path) == Path.home() / "模型"
    assert find_folder(None, {"QWEN3_ASR_MODEL_PATH": str(tmp_path)}, Path("other")) == tmp_path
    assert find_folder(None, {}, tmp_path) == tmp_path / "assets/models/asr/qwen3-asr-0.6b"


def test_a_whole_folder_gives_its_weights(folder: Path) -> None:
    assert check_folder(folder).weights == (folder / WEIGHTS,)


@pytest.mark.parametrize("name", FILES)
def test_each_of_the_eight_files_is_needed(folder: Path, name: str) -> None:
    (folder / name).unlink()
    assert f"no complete Qwen3-ASR folder: {name} missing" in refusal(folder)


def test_a_folder_that_is_not_there_is_named_with_what_would_name_another(tmp_path: Path) -> None:
    assert (
        refusal(tmp_path / "no")
        == f"no folder {tmp_path / 'no'}; --model or QWEN3_ASR_MODEL_PATH names the Qwen3-ASR folder"
    )


def test_a_pointer_of_git_lfs_is_no_weight_file(folder: Path) -> None:
    (folder / WEIGHTS).write_bytes(POINTER)
    assert "model.safetensors: lfs pointer (bytes 1876091704)" in refusal(folder)


def test_truncated_weights_are_told_with_the_bytes_that_are_needed(folder: Path) -> None:
    whole = (folder / WEIGHTS).read_bytes()
    (folder / WEIGHTS).write_bytes(whole[:-1])
    expected = f"model.safetensors: safetensors truncated (bytes {len(whole) - 1}, needed {len(whole)})"
    assert expected in refusal(folder)


def test_another_model_is_told_by_its_type(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps({**config, "model_type": "whisper"}), encoding="utf-8")
    assert "config.json: asr other model (found whisper, needed qwen3_asr)" in refusal(folder)


def test_code_beside_the_weights_is_refused(folder: Path) -> None:
    (folder / "custom_generate").mkdir()
    (folder / "custom_generate" / "generate.py").write_text("def generate(model, **_): ...\n", encoding="utf-8")
    assert "custom_generate is code that loading the model would run" in refusal(folder)
