"""The pickle reader against pickles of pickle itself: it reads what weights need, runs nothing, and never hangs."""

import os
import pickle
import struct
import subprocess
import time
from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rocm_wizard.models.pickle_reader import read_pickle
from rocm_wizard.models.pickle_values import PickleBroken
from rocm_wizard.models.tensors import Tensor
from rocm_wizard.models.torch_file import read_torch
from rocm_wizard.speech.gpt_sovits.torch_file import read_torch_file
from tests.models import crafted

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner, inner),
    max_leaves=20,
)


@settings(max_examples=150, deadline=None)
@given(PLAIN, st.integers(2, 5))
def test_plain_values_come_back(value: Any, protocol: int) -> None:
    found = read_pickle(pickle.dumps(value, protocol=protocol))
    # Before protocol 3 bytes are pickled as text with an encoding; the reader leaves them so.
    if protocol >= 3:
        assert found.value == value
    # Empty ones are pickled by a name that torch's own careful loader refuses too.
    assert found.foreign in ((), ("__builtin__.bytes",) if protocol < 3 else ())


def test_ordered_dictionary_keeps_order() -> None:
    value = OrderedDict([("b", 1), ("a", 2)])
    assert list(read_pickle(pickle.dumps(value, 2)).value.items()) == [("b", 1), ("a", 2)]


class Runs:
    """Writes a file when it is unpickled."""

    def __init__(self, call: Any, *arguments: Any) -> None:
        self.what = (call, arguments)

    def __reduce__(self) -> Any:
        return self.what


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize(
    ("call", "name"),
    [
        (os.system, f"{os.system.__module__}.system"),
        (subprocess.Popen, "subprocess.Popen"),
        (eval, "builtins.eval"),
        (getattr, "builtins.getattr"),
    ],
)
def test_hostile_calls_are_named_and_not_made(tmp_path: Path, protocol: int, call: Any, name: str) -> None:
    witness = tmp_path / "it ran"
    command = f"import pathlib; pathlib.Path({str(witness)!r}).touch()"
    arguments = {eval: (f"__import__('pathlib').Path({str(witness)!r}).touch()",), getattr: ("text", "upper")}
    data = pickle.dumps({"weight": Runs(call, *arguments.get(call, (command,)))}, protocol=protocol)
    found = read_pickle(data).foreign
    if protocol < 3:  # which writes Python 2's names
        name = name.replace("builtins", "__builtin__").replace("subprocess", "commands")
    assert found == (name,)
    assert not witness.exists()
    if call is eval:
        # The same bytes do run where somebody loads them: the test would see it.
        pickle.loads(data)
        assert witness.exists()


def test_hostile_name_is_told_although_the_rest_is_broken() -> None:
    assert read_pickle(b"\x80\x02cposix\nsystem\n(X\x02\x00\x00\x00lstR").foreign == ("posix.system",)


def test_a_class_of_the_same_module_is_foreign() -> None:
    assert read_pickle(b"\x80\x02cutils\nHParams\n)\x81cutils\nLoader\n)\x81\x86.").foreign == ("utils.Loader",)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b".",
        b"\x80\x02}",
        b"\x80\x02]]\x86]s.",
        b"\x80\x02K\x01K\x02R.",
        b"\x80\x02h\x05.",
        b"\x80\x02u.",
        b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n)R.",
        b"\x80\x02cutils\nHParams\n)\x81K\x01b.",
        b"\x80\x02X\x07\x00\x00\x00unknownQ.",
        b"\x80\x04\x95\xff\xff\xff\xff\xff\xff\xff\x7f.",
        b"\x82\x01.",
    ],
)
def test_broken_streams(data: bytes) -> None:
    with pytest.raises(PickleBroken):
        read_pickle(data)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200))
def test_no_other_exception_for_any_bytes(data: bytes) -> None:
    for stream in (data, b"\x80\x02" + data, b"\x80\x04" + data + b"."):
        try:
            read_pickle(stream)
        except PickleBroken:
            continue


def test_what_is_taken_here_torch_takes_too(tmp_path: Path) -> None:
    """Nothing may pass this look and then be refused by the engine's loader."""
    value = {
        "set": {1, 2},
        "bytes": b"x",
        "bytearray": bytearray(b"x"),
        "complex": 1j,
        "size": torch.Size([1, 2]),
        "device": torch.device("cpu"),
        "dtype": torch.float16,
        "layout": torch.strided,
        "ordered": OrderedDict(a=1),
        "parameter": torch.nn.Parameter(torch.ones(2)),
        "gradient": torch.ones(2, 3).t().requires_grad_(),
        "float8": torch.zeros(4, dtype=torch.float8_e4m3fn)[1:],
        "path": tmp_path,
        "settings": crafted.hparams({"model": {"version": "v3"}}),
    }
    path = crafted.save(tmp_path / "值.pth", value)
    assert read_torch(path).state() == {
        "parameter": Tensor("float32", (2,)),
        "gradient": Tensor("float32", (3, 2)),
        "float8": Tensor("float8_e4m3fn", (3,)),
    }
    content, head = read_torch_file(path)
    assert head is None and content["settings"].model.version == "v3"


def bomb(kind: str) -> bytes:
    """A small stream that asks for endless work."""
    if kind == "tuple":  # hashing it would take for ever
        return b"\x80\x02)" + b"q\x00h\x00\x86" * 100 + b"}q\x01h\x00K\x01s."
    if kind == "deep":
        return b"\x80\x02" + b"]" * 400_000 + b"a" * 399_999 + b"."
    if kind == "bytes":  # each call would copy a megabyte
        text = b"X" + struct.pack("<I", 1 << 20) + b"a" * (1 << 20)
        encode = b"c_codecs\nencode\nq\x00" + text + b"q\x01X\x06\x00\x00\x00latin1\x86q\x02"
        return b"\x80\x02" + encode + b"h\x00h\x02R" * 200_000 + b"."
    if kind == "state":  # each BUILD would copy it
        entries = b"".join(b"K" + bytes([n % 256]) + b"N" for n in range(100_000))
        return b"\x80\x02cutils\nHParams\n)\x81}q\x00(" + entries + b"u0" + b"h\x00b" * 300_000 + b"."
    return b"\x80\x02" + b"N" * 2_000_000 + b"."


@pytest.mark.parametrize("kind", ["tuple", "deep", "bytes", "state", "long"])
def test_bombs_end_soon(kind: str) -> None:
    started = time.monotonic()
    try:
        read_pickle(bomb(kind))
    except PickleBroken:
        pass
    assert time.monotonic() - started < 20
