"""The reader of torch files against files that torch saved, cut, changed and forged."""

import os
import zipfile
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.torch import save_file

from rocm_wizard.models.problem import Kind, Refused
from rocm_wizard.models.tensors import Tensor
from rocm_wizard.models.torch_file import dig, read_torch
from tests.models import crafted
from tests.models.crafted import problem_of

HEADS = ("00", "03", "06")


@pytest.fixture
def good(tmp_path: Path) -> Path:
    state = {"a": torch.ones(3, 4, dtype=torch.float16), "b": torch.arange(10)[2:8:2], "c": torch.tensor(1.5)}
    return crafted.save(tmp_path / "检 查点.pth", OrderedDict(weight=state, config=crafted.hparams({"n": {"m": 7}})))


def rezip(path: Path, changes: Mapping[str, bytes | None], packing: int = zipfile.ZIP_STORED) -> None:
    """The archive again, members that end so exchanged (None: left out)."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", packing) as archive:
        for name, content in members.items():
            changed = next((new for end, new in changes.items() if name.endswith(end)), content)
            if changed is not None:
                archive.writestr(name, changed)


def pickled(path: Path) -> bytes:
    """The file's `data.pkl`."""
    with zipfile.ZipFile(path) as archive:
        return archive.read(next(name for name in archive.namelist() if name.endswith("data.pkl")))


@pytest.mark.parametrize("head", ["PK", *HEADS])
def test_tensors_and_values(good: Path, head: str) -> None:
    with good.open("r+b") as file:
        file.write(head.encode())
    found = read_torch(good, HEADS)
    assert found.head == head
    assert found.state("weight") == {
        "a": Tensor("float16", (3, 4)),
        "b": Tensor("int64", (3,)),
        "c": Tensor("float32", ()),
    }
    assert dig(found.value, "config", "n", "m") == 7
    assert dig(found.value, "config", "n", "m", "x") is None
    assert found.state("config") == {}


def test_every_truncation_is_told(good: Path) -> None:
    whole = good.read_bytes()
    kinds: dict[Kind, int] = {}
    cut = good.with_name("cut.pth")
    for length in range(0, len(whole), 3):
        cut.write_bytes(whole[:length])
        kind = problem_of(lambda: read_torch(cut)).kind
        kinds[kind] = kinds.get(kind, 0) + 1
    assert set(kinds) == {Kind.EMPTY, Kind.TORCH_HEAD, Kind.TORCH_TRUNCATED}
    assert kinds[Kind.TORCH_TRUNCATED] > 0.95 * len(whole) / 3


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_changed_bytes_never_raise_anything_else(good: Path, data: st.DataObject) -> None:
    whole = bytearray(good.read_bytes())
    ends = [0, whole.index(b"cutils"), whole.rindex(b"PK\x01\x02"), len(whole) - 22]
    for _ in range(data.draw(st.integers(1, 5))):
        near = data.draw(st.sampled_from(ends)) + data.draw(st.integers(-40, 40))
        whole[min(max(near, 0), len(whole) - 1)] = data.draw(st.integers(0, 255))
    path = good.with_name("changed.pth")
    path.write_bytes(whole)
    try:
        read_torch(path, HEADS)
    except Refused:
        pass


class Touches:
    """Makes a file when it is unpickled."""

    def __init__(self, witness: Path) -> None:
        self.witness = witness

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.witness),)


@pytest.mark.parametrize("where", ["weight", "config", "info"])
def test_hostile_pickle_is_named_and_not_run(tmp_path: Path, where: str) -> None:
    witness = tmp_path / "it ran"
    content = {"weight": {"a": torch.ones(2)}, "config": {}, "info": "x"} | {where: Touches(witness)}
    path = crafted.save(tmp_path / "声音.pth", content, "03")
    found = problem_of(lambda: read_torch(path, HEADS))
    assert found.kind is Kind.PICKLE_HOSTILE
    assert found.facts["names"] == [f"{os.mkdir.__module__}.mkdir"]
    assert not witness.exists()
    with path.open("r+b") as file:
        file.write(b"PK")
    torch.load(path, weights_only=False)
    assert witness.exists()  # the same file does run where it is loaded without care


def test_other_things_under_the_name(tmp_path: Path, good: Path) -> None:
    path = tmp_path / "x.ckpt"
    torch.save({"a": torch.ones(2)}, path, _use_new_zipfile_serialization=False)
    assert problem_of(lambda: read_torch(path)).kind is Kind.TORCH_LEGACY
    save_file({"a": torch.ones(2)}, path)
    assert problem_of(lambda: read_torch(path)).kind is Kind.SAFETENSORS_INSTEAD
    torch.jit.script(torch.nn.Linear(2, 2)).save(str(path))
    assert problem_of(lambda: read_torch(path)).kind is Kind.TORCH_SCRIPT
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(good, "模型/good.pth")
    assert problem_of(lambda: read_torch(path)).facts == {"members": ["模型/good.pth"]}
    path.write_bytes(b"\x7fELF" + bytes(range(256)) * 40)
    assert problem_of(lambda: read_torch(path, HEADS)).facts == {"head": "7f 45 4c 46", "heads": "PK, 00, 03, 06"}


def test_a_head_that_is_not_accepted(good: Path) -> None:
    with good.open("r+b") as file:
        file.write(b"07")
    assert problem_of(lambda: read_torch(good, HEADS)).kind is Kind.TORCH_HEAD


def test_changed_storages(good: Path) -> None:
    whole = good.read_bytes()
    rezip(good, {"data/0": b"\0" * 23})
    assert problem_of(lambda: read_torch(good)).facts == {"storage": "0", "needed": 24, "bytes": 23}
    good.write_bytes(whole)
    rezip(good, {"data/1": None})
    assert problem_of(lambda: read_torch(good)).facts == {"storage": "1", "needed": 80, "bytes": None}
    good.write_bytes(whole)
    # The view of `b` starts at element 2; at 8 its last element would be the twelfth of ten.
    rezip(good, {"data.pkl": pickled(good).replace(b"QK\x02K\x03\x85", b"QK\x08K\x03\x85")})
    assert problem_of(lambda: read_torch(good)).kind is Kind.TORCH_TENSOR


def test_packed_again_and_wide_archives_are_read(good: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = read_torch(good).state("weight")
    rezip(good, {}, zipfile.ZIP_DEFLATED)
    assert read_torch(good).state("weight") == wanted
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 10)
    rezip(good, {})
    assert b"PK\x06\x06" in good.read_bytes()
    assert read_torch(good).state("weight") == wanted


def test_damage_inside(good: Path) -> None:
    whole = good.read_bytes()
    content = pickled(good)
    at = whole.index(content)
    good.write_bytes(whole[: at + 5] + bytes([whole[at + 5] ^ 1]) + whole[at + 6 :])
    assert problem_of(lambda: read_torch(good)).facts == {"detail": "a checksum is wrong"}
    good.write_bytes(whole)
    rezip(good, {"data.pkl": content[:-20]})
    assert problem_of(lambda: read_torch(good)).kind is Kind.PICKLE_BROKEN
    rezip(good, {"data.pkl": bytes(17 << 20)})
    assert problem_of(lambda: read_torch(good)).facts == {"bytes": 17 << 20, "limit": 16 << 20}


def test_a_packed_bomb_is_not_unpacked(good: Path) -> None:
    rezip(good, {"data.pkl": bytes(200 << 20)}, zipfile.ZIP_DEFLATED)
    assert good.stat().st_size < 1 << 20
    assert problem_of(lambda: read_torch(good)).kind is Kind.PICKLE_LARGE
