"""The closed list of names that a torch file's pickle may use, and what each stands for here: data, never code."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rocm_wizard.models.tensors import ITEM_BITS, Tensor

STORAGES = {
    "DoubleStorage": "float64",
    "FloatStorage": "float32",
    "HalfStorage": "float16",
    "BFloat16Storage": "bfloat16",
    "LongStorage": "int64",
    "IntStorage": "int32",
    "ShortStorage": "int16",
    "CharStorage": "int8",
    "ByteStorage": "uint8",
    "BoolStorage": "bool",
    "ComplexFloatStorage": "complex64",
    "ComplexDoubleStorage": "complex128",
}
"""torch's typed storages, by which a pickle names a tensor's type."""

_MOST_AXES = 64
RECORDS = frozenset({"utils.HParams"})
"""Classes that hold nothing but named values. SoVITS files keep their configuration in this one, see
https://github.com/RVC-Boss/GPT-SoVITS/issues/1927. The engine that loads the files knows the same one."""
_COLLECTIONS = tuple(
    f"{module}.{kind}" for module in ("builtins", "__builtin__") for kind in ("set", "bytearray", "complex")
)
_PATHS = tuple(f"pathlib{module}.{kind}" for module in ("", "._local") for kind in ("PosixPath", "WindowsPath"))
"""Paths that a training program left in its settings; they stay the text they are made of."""


class PickleBroken(Exception):
    """The stream contradicts the protocol or a limit; the message says how."""


@dataclass(frozen=True, slots=True)
class Name:
    """A name that the stream looks up; nothing is ever imported for it."""

    full: str


@dataclass(frozen=True, slots=True)
class Storage:
    """A tensor's memory: a member of the archive, `elements` numbers of type `dtype`."""

    dtype: str
    key: str
    elements: int


@dataclass(frozen=True, slots=True)
class StoredTensor:
    """A tensor as a view of a storage: `offset` and `stride` count elements."""

    storage: Storage
    offset: int
    shape: tuple[int, ...]
    stride: tuple[int, ...]

    @property
    def tensor(self) -> Tensor:
        """Type and shape."""
        return Tensor(self.storage.dtype, self.shape)

    @property
    def fits(self) -> bool:
        """Whether the storage holds every element."""
        if 0 in self.shape:
            return True
        last = self.offset + sum((size - 1) * step for size, step in zip(self.shape, self.stride, strict=True))
        return last < self.storage.elements


@dataclass(frozen=True, slots=True)
class Opaque:
    """What a name that is not on the list would have made."""

    full: str


@dataclass(slots=True)
class Record:
    """An object of one of `RECORDS`: its named values."""

    full: str
    values: dict[Any, Any] = field(default_factory=dict[Any, Any])


def build(full: str, arguments: tuple[Any, ...]) -> Any:
    """What a listed name makes of its arguments.

    Raises:
        PickleBroken: the arguments are not what torch writes.
        KeyError: the name is not listed.
    """
    if full in RECORDS:
        if arguments:
            raise PickleBroken(f"{full} with arguments")
        return Record(full)
    return _MAKERS[full](*_checked(full, arguments))


def is_listed(full: str) -> bool:
    """Whether the name is one of those that files of weights need."""
    return full in _MAKERS or full in RECORDS or storage_type(full) is not None or full in CONSTANTS


def storage_type(full: str) -> str | None:
    """The type of the torch storage that has this name."""
    module, _, name = full.rpartition(".")
    return STORAGES.get(name) if module == "torch" else None


CONSTANTS = frozenset({f"torch.{name}" for name in ITEM_BITS} | {"torch.storage.UntypedStorage"})


def _tensor(storage: Any, offset: Any, shape: Any, stride: Any, *_: Any) -> StoredTensor:
    if not (isinstance(storage, Storage) and isinstance(shape, tuple) and isinstance(stride, tuple)):
        raise PickleBroken("a tensor without storage, shape or stride")
    if len(shape) != len(stride) or len(shape) > _MOST_AXES:
        raise PickleBroken("a tensor with an impossible shape")
    if not all(isinstance(number, int) and 0 <= number < 1 << 48 for number in (offset, *shape, *stride)):
        raise PickleBroken("a tensor with an impossible shape")
    return StoredTensor(storage, offset, shape, stride)


def _mapping(items: Any = ()) -> dict[Any, Any]:
    if items != () and not (isinstance(items, list) and not items):
        raise PickleBroken("a filled OrderedDict in one call")
    return {}


def _tensor_of_type(
    storage: Any, offset: Any, shape: Any, stride: Any, gradient: Any, hooks: Any, dtype: Any, *_: Any
) -> StoredTensor:
    """For types without a storage of their own, float8 and unsigned ones; the storage counts bytes."""
    named = dtype.full.removeprefix("torch.") if isinstance(dtype, Name) else None
    if named not in ITEM_BITS or not isinstance(storage, Storage) or storage.dtype != "uint8":
        raise PickleBroken("a tensor of an unknown type")
    return _tensor(Storage(named, storage.key, storage.elements * 8 // ITEM_BITS[named]), offset, shape, stride)


def _as_it_came(value: Any, *_: Any) -> Any:
    """A set's members, a device's name, the letters of bytes: nothing here needs the object itself.

    Copying them would let a small stream fill the memory.
    """
    return value


_MAKERS: Mapping[str, Callable[..., Any]] = {
    "torch._utils._rebuild_tensor_v2": _tensor,
    "torch._utils._rebuild_tensor_v3": _tensor_of_type,
    "torch._utils._rebuild_tensor": _tensor,
    "torch._utils._rebuild_parameter": _as_it_came,
    "collections.OrderedDict": _mapping,
    "torch.Size": _as_it_came,
    "torch.device": _as_it_came,
    "torch.serialization._get_layout": _as_it_came,
    **dict.fromkeys(_COLLECTIONS, _as_it_came),
    "_codecs.encode": _as_it_came,
    **dict.fromkeys(_PATHS, _as_it_came),
}
_ARGUMENTS = {
    "torch._utils._rebuild_tensor_v2": (6, 7),
    "torch._utils._rebuild_tensor_v3": (7, 8),
    "torch._utils._rebuild_tensor": (4, 4),
    "torch._utils._rebuild_parameter": (3, 3),
    "collections.OrderedDict": (0, 1),
    "torch.Size": (1, 1),
    "torch.device": (1, 2),
    "torch.serialization._get_layout": (1, 1),
    **dict.fromkeys(_COLLECTIONS, (1, 2)),
    "_codecs.encode": (2, 2),
    **dict.fromkeys(_PATHS, (1, 32)),
}


def _checked(full: str, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    least, most = _ARGUMENTS[full]
    if not least <= len(arguments) <= most:
        raise PickleBroken(f"{full} with {len(arguments)} arguments")
    return arguments
