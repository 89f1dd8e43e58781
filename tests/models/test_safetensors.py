"""The safetensors reader against files of the `safetensors` package, and against what can go wrong with them."""

import json
import os
import struct
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from rocm_wizard.models.plain import read_json
from rocm_wizard.models.problem import Kind, Refused
from rocm_wizard.models.safetensors import read_safetensors
from rocm_wizard.models.shards import read_weights
from tests.models import crafted
from tests.models.crafted import problem_of

NAME = "模 型.safetensors"


def raw(path: Path, header: object, data: bytes = b"") -> Path:
    """A file of a given header, however wrong."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    return path


@pytest.fixture
def good(tmp_path: Path) -> Path:
    state = {"a": torch.arange(6, dtype=torch.float16).view(2, 3), "b": torch.zeros(4, dtype=torch.bfloat16)}
    save_file(state | {"空": torch.zeros(0, 5)}, tmp_path / NAME, metadata={"format": "pt"})
    return tmp_path / NAME


def test_every_type_is_read_as_torch_names_it(tmp_path: Path) -> None:
    names = [
        *("float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool"),
        *("float8_e4m3fn", "float8_e5m2", "uint16", "uint32", "uint64", "complex64"),
    ]
    save_file({name: torch.zeros(3, dtype=getattr(torch, name)) for name in names}, tmp_path / NAME)
    found = read_safetensors(tmp_path / NAME).tensors
    assert {name: tensor.dtype for name, tensor in found.items()} == {name: name for name in names}


def test_shapes(good: Path) -> None:
    found = read_safetensors(good)
    assert {name: tensor.shape for name, tensor in found.tensors.items()} == {"a": (2, 3), "b": (4,), "空": (0, 5)}
    assert found.size == good.stat().st_size


def test_every_truncation_is_told(good: Path) -> None:
    whole = good.read_bytes()
    kinds = set()
    for length in range(len(whole)):
        good.write_bytes(whole[:length])
        kinds.add(problem_of(lambda: read_safetensors(good)).kind)
    assert kinds == {Kind.EMPTY, Kind.SAFETENSORS_TRUNCATED}
    good.write_bytes(whole + b"x")
    assert problem_of(lambda: read_safetensors(good)).facts == {"bytes": 1}


def entry(shape: list[Any], begin: int, end: int, dtype: Any = "F32") -> dict[str, Any]:
    """A tensor's entry."""
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


@pytest.mark.parametrize(
    ("header", "kind"),
    [
        ({"a": entry([2], 0, 8), "b": entry([2], 4, 12)}, Kind.SAFETENSORS_OVERLAP),
        ({"a": entry([2], 0, 8), "b": entry([1], 12, 16)}, Kind.SAFETENSORS_HOLE),
        ({"a": entry([2], 4, 12)}, Kind.SAFETENSORS_HOLE),
        ({"a": entry([3], 0, 8)}, Kind.SAFETENSORS_TENSOR),
        ({"a": entry([2], 0, 8, "F31")}, Kind.SAFETENSORS_TENSOR),
        ({"a": entry([2], 0, 8, ["F32"])}, Kind.SAFETENSORS_TENSOR),
        ({"a": entry([-2], 8, 0)}, Kind.SAFETENSORS_TENSOR),
        ({"a": entry([True, 2], 0, 8)}, Kind.SAFETENSORS_TENSOR),
        ({"a": entry([2**62, 2**62], 0, 8)}, Kind.SAFETENSORS_TENSOR),
        ({"a": entry([3], 0, 1, "F4")}, Kind.SAFETENSORS_TENSOR),
        ({"a": {"dtype": "F32", "shape": [2]}}, Kind.SAFETENSORS_TENSOR),
        ({"a": 3}, Kind.SAFETENSORS_TENSOR),
        ({"__metadata__": {"a": 3}}, Kind.SAFETENSORS_HEADER),
        ([], Kind.SAFETENSORS_HEADER),
        (b'{"a": 1, "a": 2}', Kind.SAFETENSORS_HEADER),
        (b"[" * 100_000, Kind.SAFETENSORS_HEADER),
        (b'{"a": ' + b"1" * 5000 + b"}", Kind.SAFETENSORS_HEADER),
        (b"\xff\xfe{}", Kind.SAFETENSORS_HEADER),
    ],
)
def test_contradictions(tmp_path: Path, header: object, kind: Kind) -> None:
    path = raw(tmp_path / NAME, header, bytes(range(16)))
    assert problem_of(lambda: read_safetensors(path)).kind is kind
    with pytest.raises(SafetensorError), safe_open(path, "np"):
        pass


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_changed_bytes_never_raise_anything_else(good: Path, data: st.DataObject) -> None:
    whole = bytearray(good.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    path = good.with_name("changed.safetensors")
    path.write_bytes(whole)
    try:
        read_safetensors(path)
    except Refused:
        return
    # What is accepted here, the package accepts as well.
    with safe_open(path, "np"):
        pass


STAND_INS = {
    Kind.LFS_POINTER: b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 1876091704\n",
    Kind.ANNEX_POINTER: b"/annex/objects/SHA256E-s188811417--00ff.bin\n",
    Kind.WEB_PAGE: b"\n<!DOCTYPE html><html><title>Sign in</title></html>" * 200,
    Kind.PLAIN_TEXT: b'{"error":"Repository not found"}',
    Kind.ZEROS: bytes(10_000),
    Kind.ARCHIVE: b"7z\xbc\xaf\x27\x1c\x00\x04" + b"\xaa" * 50,
    Kind.EMPTY: b"",
}


@pytest.mark.parametrize("kind", STAND_INS)
def test_stand_ins(tmp_path: Path, kind: Kind) -> None:
    (tmp_path / NAME).write_bytes(STAND_INS[kind])
    found = problem_of(lambda: read_safetensors(tmp_path / NAME))
    assert found.kind is kind
    if kind is Kind.LFS_POINTER:
        assert found.facts == {"bytes": 1876091704}


def test_missing_folder_and_unfinished(tmp_path: Path, good: Path) -> None:
    assert problem_of(lambda: read_safetensors(tmp_path / "none")).kind is Kind.MISSING
    assert problem_of(lambda: read_safetensors(good / "below")).kind is Kind.MISSING
    assert problem_of(lambda: read_safetensors(Path("a\0b"))).kind is Kind.MISSING
    assert problem_of(lambda: read_safetensors(tmp_path)).kind is Kind.NOT_A_FILE
    good.with_name(NAME + ".aria2").touch()
    assert problem_of(lambda: read_safetensors(good)).kind is Kind.UNFINISHED
    (tmp_path / "x.part").write_bytes(b"abc")
    assert problem_of(lambda: read_safetensors(tmp_path / "x.part")).kind is Kind.UNFINISHED


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_links_that_lead_nowhere(tmp_path: Path) -> None:
    (tmp_path / "annexed").symlink_to(".git/annex/objects/xx/SHA256E-s1--00.bin")
    (tmp_path / "moved").symlink_to("elsewhere.safetensors")
    (tmp_path / "loop").symlink_to("loop")
    assert problem_of(lambda: read_safetensors(tmp_path / "annexed")).kind is Kind.ANNEX_POINTER
    assert problem_of(lambda: read_safetensors(tmp_path / "moved")).facts == {"target": "elsewhere.safetensors"}
    assert problem_of(lambda: read_safetensors(tmp_path / "loop")).kind is Kind.BROKEN_LINK


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads everything")
def test_unreadable(good: Path) -> None:
    good.chmod(0)
    assert problem_of(lambda: read_safetensors(good)).kind is Kind.UNREADABLE


def test_shards_agree_with_their_index(tmp_path: Path) -> None:
    folder = crafted.qwen(tmp_path / "分片", shards=3)
    weights, problems = read_weights(folder)
    assert problems == [] and weights is not None
    assert len(weights.files) == 3 and len(weights.tensors) == 7
    assert weights.size == sum(file.stat().st_size for file in folder.glob("*.safetensors"))


def test_missing_shard_and_moved_tensor(tmp_path: Path) -> None:
    folder = crafted.qwen(tmp_path, shards=3)
    index = folder / "model.safetensors.index.json"
    content = read_json(index)
    placed: dict[str, str] = content["weight_map"]
    first, second, third = sorted(set(placed.values()))
    moved = next(name for name, shard in placed.items() if shard == first)
    placed[moved] = second
    crafted.write_json(index, content)
    (folder / third).unlink()
    weights, problems = read_weights(folder)
    assert weights is None
    assert {(found.kind, found.file.name, found.fatal) for found in problems} == {
        (Kind.SHARD_UNLISTED, first, False),
        (Kind.SHARD_TENSOR, second, True),
        (Kind.SHARD_MISSING, third, True),
    }
    assert next(found for found in problems if found.kind is Kind.SHARD_TENSOR).facts["tensors"] == [moved]


@pytest.mark.parametrize("shard", ["../other.safetensors", "C:x.safetensors", "a\\b.safetensors", "x.bin", 3, None])
def test_index_that_leads_out_of_its_folder(tmp_path: Path, shard: object) -> None:
    crafted.write_json(tmp_path / "model.safetensors.index.json", {"weight_map": {"a": shard}})
    assert [found.kind for found in read_weights(tmp_path)[1]] == [Kind.INDEX_BROKEN]
