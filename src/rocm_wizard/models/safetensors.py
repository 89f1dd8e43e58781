"""Reads a safetensors file's header: 8 bytes of length, JSON, then the data, which the JSON's offsets fit exactly.

The format and its rules (no holes, no overlap, no second use of a name, a header of at most 100 MB): README of
https://github.com/huggingface/safetensors. Here a header may have 16 MiB, forty times that of a large model.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from rocm_wizard.models.plain import first_look
from rocm_wizard.models.problem import Kind, Refused, reason_of, shown
from rocm_wizard.models.tensors import ITEM_BITS, Tensor

DTYPES = {
    "F64": "float64",
    "F32": "float32",
    "F16": "float16",
    "BF16": "bfloat16",
    "F8_E4M3": "float8_e4m3fn",
    "F8_E5M2": "float8_e5m2",
    "F8_E4M3FNUZ": "float8_e4m3fnuz",
    "F8_E5M2FNUZ": "float8_e5m2fnuz",
    "F8_E8M0": "float8_e8m0fnu",
    "F6_E2M3": "float6_e2m3",
    "F6_E3M2": "float6_e3m2",
    "F4": "float4_e2m1fn_x2",
    "I64": "int64",
    "I32": "int32",
    "I16": "int16",
    "I8": "int8",
    "U64": "uint64",
    "U32": "uint32",
    "U16": "uint16",
    "U8": "uint8",
    "BOOL": "bool",
    "C64": "complex64",
}
_LENGTH = 8
_HEADER_LIMIT = 16 << 20
_MOST_AXES = 32


@dataclass(frozen=True, slots=True)
class SafetensorsFile:
    """A file whose header is in order. `size` in bytes."""

    path: Path
    size: int
    tensors: Mapping[str, Tensor]


def looks_like_safetensors(head: bytes, size: int) -> bool:
    """Whether the first 9 bytes of a file of `size` bytes can begin a safetensors file."""
    length = int.from_bytes(head[:_LENGTH], "little")
    return len(head) > _LENGTH and head[_LENGTH] == ord("{") and 2 <= length <= min(size, _HEADER_LIMIT)


def read_safetensors(path: Path) -> SafetensorsFile:
    """The file's tensors. Reads the header only. Raises Refused."""
    size = first_look(path)
    try:
        with path.open("rb") as file:
            header, start = _read_header(path, file, size)
    except OSError as error:
        raise Refused(Kind.UNREADABLE, path, reason=reason_of(error)) from error
    tensors, spans = _entries(path, header)
    _check_spans(path, spans, size - start, size)
    return SafetensorsFile(path, size, tensors)


def _read_header(path: Path, file: BinaryIO, size: int) -> tuple[dict[str, Any], int]:
    length = int.from_bytes(file.read(_LENGTH), "little")
    if size < _LENGTH:
        raise Refused(Kind.SAFETENSORS_TRUNCATED, path, bytes=size, needed=_LENGTH)
    if not 2 <= length <= _HEADER_LIMIT:
        raise Refused(Kind.SAFETENSORS_HEADER, path, detail=f"header length {length}")
    if size < _LENGTH + length:
        raise Refused(Kind.SAFETENSORS_TRUNCATED, path, bytes=size, needed=_LENGTH + length)
    raw = file.read(length)
    try:
        header = json.loads(raw.decode("utf-8"), object_pairs_hook=_once_each)
    except (ValueError, RecursionError) as error:
        raise Refused(Kind.SAFETENSORS_HEADER, path, detail=shown(error)) from error
    if not isinstance(header, dict) or not raw.startswith(b"{"):
        raise Refused(Kind.SAFETENSORS_HEADER, path, detail="not an object")
    return header, _LENGTH + length


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name occurs twice")
    return found


def _entries(path: Path, header: dict[str, Any]) -> tuple[dict[str, Tensor], list[tuple[int, int, str]]]:
    metadata = header.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        raise Refused(Kind.SAFETENSORS_HEADER, path, detail="__metadata__ is no map of strings")
    tensors: dict[str, Tensor] = {}
    spans: list[tuple[int, int, str]] = []
    for name, entry in header.items():
        try:
            tensors[name], begin, end = _entry(entry)
        except (ValueError, TypeError, KeyError) as error:
            detail = f"{type(error).__name__}: {error}"
            raise Refused(Kind.SAFETENSORS_TENSOR, path, tensor=shown(name), detail=shown(detail)) from error
        spans.append((begin, end, name))
    return tensors, spans


def _entry(entry: Any) -> tuple[Tensor, int, int]:
    dtype, shape, (begin, end) = entry["dtype"], entry["shape"], entry["data_offsets"]
    if dtype not in DTYPES:
        raise ValueError(f"dtype {dtype!r}")
    if not isinstance(shape, list) or len(shape) > _MOST_AXES or not all(_is_count(axis) for axis in shape):
        raise ValueError(f"shape {shape!r}")
    if not (_is_count(begin) and _is_count(end) and begin <= end):
        raise ValueError(f"data_offsets {begin!r}, {end!r}")
    tensor = Tensor(DTYPES[dtype], tuple(shape))
    needed, left = divmod(tensor.elements * ITEM_BITS[tensor.dtype], 8)
    if left or needed != end - begin:
        raise ValueError(f"{dtype} {shape} needs {needed} bytes, data_offsets give {end - begin}")
    return tensor, begin, end


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 63


def _check_spans(path: Path, spans: list[tuple[int, int, str]], available: int, size: int) -> None:
    last_end, last_name = 0, ""
    for begin, end, name in sorted(spans):
        if begin < last_end:
            raise Refused(Kind.SAFETENSORS_OVERLAP, path, tensor=shown(name), other=shown(last_name))
        if begin > last_end:
            raise Refused(Kind.SAFETENSORS_HOLE, path, tensor=shown(name), bytes=begin - last_end)
        last_end, last_name = end, name
    if available < last_end:
        raise Refused(Kind.SAFETENSORS_TRUNCATED, path, bytes=size, needed=size - available + last_end)
    if available > last_end:
        raise Refused(Kind.SAFETENSORS_TRAILING, path, bytes=available - last_end)
