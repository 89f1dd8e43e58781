"""Every version of a checkpoint is told by what is in it, and every contradiction is named."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from rocm_wizard.models.book import load_layout, spell_out
from rocm_wizard.models.gpt_sovits import read_checkpoint
from rocm_wizard.models.layouts import compare_layout, remove_weight_norm
from rocm_wizard.models.problem import Kind
from rocm_wizard.models.tensors import Tensor as Shape
from tests.models import crafted
from tests.models.crafted import decoder_state, filled, problem_of

MANIFEST = Path(__file__).parents[3] / "shared" / "gpt_sovits_v3" / "state_dict_manifest.json"
FILE = "声 音.pth"


def kinds(problems: list[Any]) -> list[Kind]:
    """Their kinds."""
    return [problem.kind for problem in problems]


@pytest.mark.skipif(not MANIFEST.is_file(), reason="the shared manifest is absent")
@pytest.mark.parametrize(
    ("layout", "title"),
    [("t2s", "t2s_v2_v3"), ("sovits_v3", "sovits_v3"), ("bigvgan", "bigvgan_v2"), ("bigvgan", "bigvgan.generator")],
)
def test_layouts_are_the_published_networks(layout: str, title: str) -> None:
    manifest: Mapping[str, Mapping[str, Any]] = json.loads(MANIFEST.read_text(encoding="utf-8"))
    (names,) = [names for name, names in manifest.items() if name.startswith(title)]
    published = remove_weight_norm({name: Shape(dtype, tuple(shape)) for name, (shape, dtype) in names.items()})
    assert {name: tensor.shape for name, tensor in published.items()} == load_layout(layout).shapes


def test_patterns() -> None:
    assert spell_out("a.{0..2}.{b,c}") == ["a.0.b", "a.0.c", "a.1.b", "a.1.c", "a.2.b", "a.2.c"]


@pytest.mark.parametrize(("rows", "name"), [(732, "GPT v2"), (512, "GPT v1")])
def test_gpt_versions(tmp_path: Path, rows: int, name: str) -> None:
    checkpoint, problems = read_checkpoint(crafted.gpt(tmp_path / "声音.ckpt", rows))
    assert checkpoint.name == name and problems == []
    assert len(checkpoint.tensors) == 295 and checkpoint.tensors["h.layers.23.norm2.bias"].shape == (512,)


PRO = {"sv_emb.weight": (1024, 20480)}
PLUS = PRO | {"dec.conv_pre.weight": (768, 192, 7)}


@pytest.mark.parametrize(
    ("state", "head", "version", "name"),
    [
        (decoder_state(322), "PK", "v1", "SoVITS v1"),
        (decoder_state(322), "00", None, "SoVITS v1"),
        (decoder_state(732), "PK", "v2", "SoVITS v2"),
        (decoder_state(732), "01", "v2", "SoVITS v2"),
        (decoder_state(732, **PRO), "05", "v2Pro", "SoVITS v2Pro"),
        (decoder_state(732, **PLUS), "06", "v2ProPlus", "SoVITS v2ProPlus"),
        (None, "PK", "v3", "SoVITS v3"),
        (None, "02", "v3", "SoVITS v3"),
        (None, "PK", "v4", "SoVITS v4"),
    ],
)
def test_sovits_versions(
    tmp_path: Path, state: Mapping[str, Tensor] | None, head: str, version: str | None, name: str
) -> None:
    checkpoint, problems = read_checkpoint(crafted.sovits(tmp_path / FILE, state, head, version))
    assert checkpoint.name == name and problems == []


@pytest.mark.parametrize(("head", "version", "name"), [("03", "v3", "SoVITS v3 LoRA"), ("04", "v4", "SoVITS v4 LoRA")])
def test_lora(tmp_path: Path, head: str, version: str, name: str) -> None:
    checkpoint, problems = read_checkpoint(crafted.lora(tmp_path / FILE, head, version=version))
    assert checkpoint.name == name and checkpoint.rank == 32 and problems == []


@pytest.mark.parametrize(
    ("state", "head", "says", "found"),
    [
        (decoder_state(732), "00", "SoVITS v1", "SoVITS v2"),
        (decoder_state(732, **PRO), "06", "SoVITS v2ProPlus", "SoVITS v2Pro"),
        (decoder_state(732), "02", "SoVITS v3", "SoVITS v2"),
        (None, "03", "SoVITS v3 LoRA", "SoVITS v3"),
        (None, "05", "SoVITS v2Pro", "SoVITS v3"),
        (crafted.lora_state(), "02", "SoVITS v3", "SoVITS v3 LoRA"),
        (crafted.lora_state(), "PK", "SoVITS v1, v2", "SoVITS v3 LoRA"),
    ],
)
def test_head_and_contents_contradict(
    tmp_path: Path, state: Mapping[str, Tensor] | None, head: str, says: str, found: str
) -> None:
    more = {"lora_rank": 32} if "LoRA" in found else {}
    version = found.split()[1]
    _, problems = read_checkpoint(crafted.sovits(tmp_path / FILE, state, head, version, **more))
    assert [problem.facts for problem in problems] == [{"head": head, "says": says, "found": found}]
    assert kinds(problems) == [Kind.HEAD_CONTRADICTS] and problems[0].fatal


def test_settings_that_say_another_version(tmp_path: Path) -> None:
    _, problems = read_checkpoint(crafted.sovits(tmp_path / FILE, None, "02", "v4"))
    assert kinds(problems) == [Kind.CONFIG_CONTRADICTS] and not problems[0].fatal


def test_nothing_tells_v3_from_v4(tmp_path: Path) -> None:
    checkpoint, problems = read_checkpoint(crafted.sovits(tmp_path / FILE, version=None))
    assert checkpoint.name == "SoVITS v3"
    assert kinds(problems) == [Kind.VERSION_ASSUMED] and not problems[0].fatal


def test_lora_of_another_rank(tmp_path: Path) -> None:
    _, problems = read_checkpoint(crafted.lora(tmp_path / FILE, rank=64))
    assert [problem.facts for problem in problems] == [{"said": 64, "found": "32"}]


def test_missing_tensors_are_not_a_smaller_network(tmp_path: Path) -> None:
    gone = ["model.h.layers.5.linear1.weight", "model.h.layers.23.norm1.bias"]
    for name in gone:
        _, problems = read_checkpoint(crafted.gpt(tmp_path / "a.ckpt", change=lambda state, name=name: state.pop(name)))
        assert [problem.facts for problem in problems] == [
            {"count": 1, "total": 295, "tensors": [name.removeprefix("model.")]}
        ]


def last_layer_gone(state: dict[str, Tensor]) -> None:
    """The last layer is left out whole."""
    for name in [name for name in state if ".layers.23." in name]:
        del state[name]


def test_fewer_layers_are_another_size_where_the_settings_say_so(tmp_path: Path) -> None:
    _, problems = read_checkpoint(crafted.gpt(tmp_path / "a.ckpt", layers=23, change=last_layer_gone))
    assert kinds(problems) == [Kind.UNUSUAL_SIZE] and not problems[0].fatal
    _, problems = read_checkpoint(crafted.gpt(tmp_path / "a.ckpt", layers=24, change=last_layer_gone))
    assert kinds(problems) == [Kind.TENSORS_MISSING] and problems[0].fatal


def test_one_wrong_shape_is_no_other_size(tmp_path: Path) -> None:
    state = crafted.v3_state() | {"bridge.0.weight": filled((512, 191, 1))}
    _, problems = read_checkpoint(crafted.sovits(tmp_path / FILE, state))
    assert kinds(problems) == [Kind.TENSOR_SHAPE]
    assert (problems[0].facts["found"], problems[0].facts["needed"]) == ("512×191×1", "512×192×1")


def test_other_widths_throughout_are_another_size() -> None:
    layout = load_layout("bigvgan")
    halved = {name: Shape("x", tuple(max(1, axis // 2) for axis in shape)) for name, shape in layout.shapes.items()}
    assert kinds(compare_layout(Path("x"), halved, layout)) == [Kind.UNUSUAL_SIZE]


def test_training_parts_may_be_absent(tmp_path: Path) -> None:
    state = {name: tensor for name, tensor in crafted.v3_state().items() if "linear_mel" not in name}
    assert read_checkpoint(crafted.sovits(tmp_path / FILE, state))[1] == []


@pytest.mark.parametrize(
    ("content", "kind", "facts"),
    [
        ({"weight": {"enc_p.emb_phone.weight": torch.ones(2)}}, Kind.WRONG_ROLE, {"found": "RVC"}),
        ({"generator": {"conv_pre.bias": torch.ones(2)}}, Kind.WRONG_ROLE, {"found": "BigVGAN"}),
        ({"model": {"dec.a": torch.ones(2)}, "iteration": 3}, Kind.TRAINING_STATE, {"keys": ["model", "iteration"]}),
        (
            {"state_dict": {"model.a": torch.ones(2)}, "epoch": 3},
            Kind.TRAINING_STATE,
            {"keys": ["state_dict", "epoch"]},
        ),
        ({"weight": {"a": torch.ones(2)}}, Kind.UNKNOWN_CONTENTS, {"keys": ["weight"]}),
        ([torch.ones(2)], Kind.UNKNOWN_CONTENTS, {"keys": []}),
    ],
)
def test_other_torch_files(tmp_path: Path, content: object, kind: Kind, facts: dict[str, object]) -> None:
    found = problem_of(lambda: read_checkpoint(crafted.save(tmp_path / FILE, content)))
    assert found.kind is kind and facts.items() <= found.facts.items()


def test_gpt_with_a_sovits_head(tmp_path: Path) -> None:
    path = crafted.gpt(tmp_path / "a.ckpt")
    with path.open("r+b") as file:
        file.write(b"05")
    assert kinds(read_checkpoint(path)[1]) == [Kind.HEAD_CONTRADICTS]
