"""The reader of the packaged weight file, and the renaming for transformers."""

import hashlib
import struct
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from rocm_wizard.speech.whisper_weights import (
    WHISPER_BASE_SHA256,
    WeightFile,
    WeightFileError,
    find_packaged_whisper,
    read_whisper,
)

TYPES = {"<f4": 0, "i1": 1, "<i2": 2, "<i4": 3, "<f2": 4}
FIXTURES = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)


def string(text: str) -> bytes:
    raw = text.encode() + b"\0"
    return struct.pack("<H", len(raw)) + raw


def weight_file(tensors: dict[str, np.ndarray], aliases: dict[str, str], version: int = 6) -> bytes:
    content = struct.pack("<I", version) + string("WhisperSpec") + struct.pack("<II", 3, len(tensors))
    for name, values in tensors.items():
        kind = next(code for name, code in TYPES.items() if np.dtype(name) == values.dtype)
        content += string(name) + struct.pack(f"<B{values.ndim}I", values.ndim, *values.shape)
        content += struct.pack("<BI", kind, values.nbytes) + values.tobytes()
    content += struct.pack("<I", len(aliases))
    return content + b"".join(string(alias) + string(name) for alias, name in aliases.items())


def in_parts(folder: Path, content: bytes, cuts: list[int]) -> list[Path]:
    edges = [0, *sorted(cuts), len(content)]
    paths: list[Path] = []
    for number, (begin, end) in enumerate(pairwise(edges)):
        paths.append(folder / f"part{number}")
        paths[-1].write_bytes(content[begin:end])
    return paths


SMALL = weight_file(
    {"a/weight": np.arange(6, dtype="<f2").reshape(2, 3), "heads": np.array(8, "<i2")}, {"b/weight": "a/weight"}
)
tensors = st.dictionaries(
    st.text("abc/_", min_size=1, max_size=12),
    st.sampled_from(list(TYPES)).flatmap(lambda t: arrays(t, array_shapes(min_dims=0, max_dims=3, max_side=4))),
    max_size=5,
)


@FIXTURES
@given(content=tensors, data=st.data())
def test_tensors_survive_any_cut_into_parts(
    tmp_path: Path, content: dict[str, np.ndarray], data: st.DataObject
) -> None:
    raw = weight_file(content, {"alias": "name"})
    cuts = data.draw(st.lists(st.integers(0, len(raw)), max_size=3))
    source = WeightFile(in_parts(tmp_path, raw, cuts))
    found = {tensor.name: tensor.values for tensor in source}
    assert found.keys() == content.keys()
    for name, values in content.items():
        assert found[name].dtype == values.dtype
        assert found[name].shape == values.shape
        assert found[name].tobytes() == values.tobytes()
    assert (source.kind, source.revision, source.aliases) == ("WhisperSpec", 3, {"alias": "name"})
    assert source.sha256 == hashlib.sha256(raw).hexdigest()


@pytest.mark.parametrize("length", range(len(SMALL)))
def test_a_file_cut_anywhere_is_refused(tmp_path: Path, length: int) -> None:
    with pytest.raises(WeightFileError, match="early"):
        list(WeightFile(in_parts(tmp_path, SMALL[:length], [])))


@FIXTURES
@given(at=st.integers(0, len(SMALL) - 1), byte=st.integers(0, 255))
def test_a_changed_byte_is_read_or_refused_and_never_another_error(tmp_path: Path, at: int, byte: int) -> None:
    changed = SMALL[:at] + bytes([byte]) + SMALL[at + 1 :]
    try:
        list(WeightFile(in_parts(tmp_path, changed, [])))
    except WeightFileError:
        pass


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (SMALL + b"x", "1 bytes follow"),
        (weight_file({}, {}, version=5), "binary version 5"),
        (SMALL.replace(b"heads\0", b"headsX"), "closing NUL"),
        (SMALL.replace(struct.pack("<BII", 2, 2, 3), struct.pack("<BII", 2, 2, 4)), "12 bytes for shape"),
        (SMALL.replace(struct.pack("<BI", 4, 12), struct.pack("<BI", 9, 12)), "unknown element type 9"),
    ],
)
def test_what_breaks_the_format_is_named(tmp_path: Path, content: bytes, reason: str) -> None:
    with pytest.raises(WeightFileError, match=reason):
        list(WeightFile(in_parts(tmp_path, content, [])))


def test_another_hash_or_an_unknown_tensor_gives_no_weights(tmp_path: Path) -> None:
    unknown = weight_file({"decoder/novelty/weight": np.zeros((1, 1), "<f4")}, {})
    with pytest.raises(WeightFileError, match="unknown tensor decoder/novelty/weight"):
        read_whisper(in_parts(tmp_path, unknown, []), "0")
    with pytest.raises(WeightFileError, match=r"SHA-256 is .*, expected 0000"):
        read_whisper(in_parts(tmp_path, weight_file({}, {}), []), "0000")


def test_a_bias_on_the_key_projection_is_refused(tmp_path: Path) -> None:
    bias = np.zeros(6, "<f4")
    bias[2] = 1
    content = weight_file({"encoder/layer_0/self_attention/linear_0/bias": bias}, {})
    with pytest.raises(WeightFileError, match="key projection has a bias"):
        read_whisper(in_parts(tmp_path, content, []), hashlib.sha256(content).hexdigest())


@pytest.mark.slow
def test_packaged_weights_are_whispers() -> None:
    """The encoder's positions are Whisper's fixed sinusoids, so the names and the order of the bytes are right."""
    from transformers.models.whisper.modeling_whisper import sinusoids

    state = read_whisper(find_packaged_whisper().parts, WHISPER_BASE_SHA256)
    assert torch.allclose(state["model.encoder.embed_positions.weight"], sinusoids(1500, 512), atol=1e-3)
    assert state["proj_out.weight"] is state["model.decoder.embed_tokens.weight"]
    assert state["model.decoder.layers.5.encoder_attn.v_proj.bias"].shape == (512,)
    assert not any("k_proj.bias" in name for name in state)
    unique = {values.data_ptr(): values.numel() for values in state.values()}
    assert sum(unique.values()) == 72_593_920  # the parameters of Whisper base
