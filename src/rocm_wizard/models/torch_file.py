"""Reads a `.ckpt`, `.pth` or `.pt` file of torch: what tensors it holds and which plain values, without torch.

The file is a ZIP archive: `data.pkl` names the tensors, `data/<key>` holds each storage
(https://docs.pytorch.org/docs/stable/notes/serialization.html). GPT-SoVITS puts two digits in the place of the
first two bytes, `PK`, to name the version. Only the directory and `data.pkl` are read, so the size of the
weights costs nothing; that the bytes of the weights are right is not established.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from rocm_wizard.models.pickle_reader import Unpickled, read_pickle
from rocm_wizard.models.pickle_values import PickleBroken, Record, StoredTensor
from rocm_wizard.models.plain import first_look
from rocm_wizard.models.problem import Kind, Refused, reason_of, shown
from rocm_wizard.models.safetensors import looks_like_safetensors
from rocm_wizard.models.tensors import ITEM_BITS, Tensor
from rocm_wizard.models.torch_zip import Member, ZipDamaged, ZipTruncated, read_directory, read_member

PLAIN_HEAD = "PK"
_LEGACY = b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."
"""The magic number that torch before 1.6 began its files with, as protocol 2 pickles it."""
_PICKLE_LIMIT = 16 << 20
_NAMED = 5
_TAR = (257, b"ustar")


@dataclass(frozen=True, slots=True)
class TorchFile:
    """A file in order. `head` is its first two bytes as text; `value` the root object as plain values."""

    path: Path
    size: int
    head: str
    value: Any

    def state(self, *keys: str) -> dict[str, Tensor]:
        """The tensors of the dictionary under `keys`, by name; anything else in it is left out."""
        found = dig(self.value, *keys)
        if not isinstance(found, dict):
            return {}
        return {
            name: tensor.tensor
            for name, tensor in found.items()
            if isinstance(name, str) and isinstance(tensor, StoredTensor)
        }

    @property
    def keys(self) -> tuple[str, ...]:
        """The root dictionary's keys."""
        return tuple(key for key in self.value if isinstance(key, str)) if isinstance(self.value, dict) else ()


def dig(value: Any, *keys: str) -> Any:
    """The value under `keys` in nested dictionaries and records, None where there is none."""
    for key in keys:
        inside: Mapping[Any, Any] = value.values if isinstance(value, Record) else value
        if not isinstance(inside, dict) or key not in inside:
            return None
        value = inside[key]
    return value


def read_torch(path: Path, heads: tuple[str, ...] = ()) -> TorchFile:
    """The file's tensors and values. `heads`: the two-byte marks accepted beside `PK`. Raises Refused."""
    size = first_look(path)
    try:
        with path.open("rb") as file:
            start = file.read(_TAR[0] + len(_TAR[1]))
            head = _head(path, start, size, heads)
            members = _directory(path, file, size)
            return TorchFile(path, size, head, _read(path, file, members))
    except OSError as error:
        raise Refused(Kind.UNREADABLE, path, reason=reason_of(error)) from error


def _head(path: Path, start: bytes, size: int, heads: tuple[str, ...]) -> str:
    head = start[:2].decode("latin-1")
    if start.startswith(_LEGACY) or start[_TAR[0] :] == _TAR[1]:
        raise Refused(Kind.TORCH_LEGACY, path)
    if looks_like_safetensors(start, size):
        raise Refused(Kind.SAFETENSORS_INSTEAD, path)
    if start[2:4] != b"\x03\x04" or head not in (PLAIN_HEAD, *heads):
        marks = ", ".join((PLAIN_HEAD, *heads))
        raise Refused(Kind.TORCH_HEAD, path, head=shown(start[:4].hex(" ")), heads=marks)
    return head


def _directory(path: Path, file: BinaryIO, size: int) -> Mapping[str, Member]:
    try:
        return read_directory(file, size)
    except ZipTruncated as error:
        raise Refused(Kind.TORCH_TRUNCATED, path, bytes=size) from error
    except ZipDamaged as error:
        raise Refused(Kind.TORCH_DAMAGED, path, detail=shown(error)) from error


def _read(path: Path, file: BinaryIO, members: Mapping[str, Member]) -> Any:
    pickles = [name for name in members if name == "data.pkl" or name.endswith("/data.pkl")]
    if not pickles:
        named = [shown(name) for name in list(members)[:_NAMED]]
        raise Refused(Kind.TORCH_NO_CONTENTS, path, members=named)
    root = pickles[0].removesuffix("data.pkl")
    if f"{root}constants.pkl" in members:
        raise Refused(Kind.TORCH_SCRIPT, path)
    member = members[pickles[0]]
    if member.size > _PICKLE_LIMIT:
        raise Refused(Kind.PICKLE_LARGE, path, bytes=member.size, limit=_PICKLE_LIMIT)
    try:
        found = read_pickle(read_member(file, member, _PICKLE_LIMIT))
    except ZipDamaged as error:
        raise Refused(Kind.TORCH_DAMAGED, path, detail=shown(error)) from error
    except PickleBroken as error:
        raise Refused(Kind.PICKLE_BROKEN, path, detail=shown(error)) from error
    if found.foreign:
        raise Refused(Kind.PICKLE_HOSTILE, path, names=[shown(name) for name in found.foreign])
    _check_storages(path, found, members, root)
    return found.value


def _check_storages(path: Path, found: Unpickled, members: Mapping[str, Member], root: str) -> None:
    for tensor in found.tensors:
        storage = tensor.storage
        member = members.get(f"{root}data/{storage.key}")
        needed = storage.elements * ITEM_BITS[storage.dtype] // 8
        if member is None or member.size != needed:
            size = None if member is None else member.size
            raise Refused(Kind.TORCH_STORAGE, path, storage=shown(storage.key), needed=needed, bytes=size)
        if not tensor.fits:
            raise Refused(Kind.TORCH_TENSOR, path, storage=shown(storage.key))
