"""Reads a pickle as data: a small interpreter of its opcodes that imports nothing and calls nothing.

`pickletools.genops` splits the stream; this module keeps the stack. Names outside of the list in `pickle_values` are
collected, and what they would make is an `Opaque`: the person learns everything that the file asks for, and none of it
happens.
"""

import pickletools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rocm_wizard.models.pickle_values import (
    Name,
    Opaque,
    PickleBroken,
    Record,
    Storage,
    StoredTensor,
    build,
    is_listed,
    storage_type,
)

_MOST_STEPS = 1_000_000
_MOST_FOREIGN = 8
_MOST_ARGUMENTS = 32
_LARGEST_NUMBER = 64
"""Bytes of the longest whole number that is taken."""


@dataclass(frozen=True, slots=True)
class Unpickled:
    """The value, every tensor in it, and the names outside of the list that the stream asks for, in order."""

    value: Any
    tensors: tuple[StoredTensor, ...]
    foreign: tuple[str, ...]


def read_pickle(data: bytes) -> Unpickled:
    """What a pickle says. Raises PickleBroken where it contradicts the protocol and asks for no foreign name."""
    reader = _Reader()
    try:
        value = reader.run(data)
    except (PickleBroken, ValueError, IndexError, KeyError, TypeError, OverflowError, RecursionError) as error:
        # Whatever else is wrong with it: a stream that asks for code is told as such.
        if reader.foreign:
            return Unpickled(None, (), tuple(reader.foreign))
        raise PickleBroken(f"{type(error).__name__}: {error}") from error
    return Unpickled(value, tuple(reader.tensors), tuple(reader.foreign))


class _Reader:
    """The pickle machine's stack, marks and memory."""

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self.marks: list[int] = []
        self.memory: dict[int, Any] = {}
        self.foreign: list[str] = []
        self.tensors: list[StoredTensor] = []
        self.left = _MOST_STEPS

    def run(self, data: bytes) -> Any:
        for opcode, argument, _ in pickletools.genops(data):
            self.spend(1)
            name = opcode.name
            if name == "STOP":
                return self.stack.pop()
            if name in _CONSTANTS:
                self.stack.append(_CONSTANTS[name])
            elif name in _LITERALS:
                self.stack.append(_literal(argument))
            else:
                handler = _HANDLERS.get(name)
                if handler is None:
                    raise PickleBroken(f"opcode {name}")
                handler(self, argument)
        raise PickleBroken("no end")

    def spend(self, steps: int) -> None:
        """Counts work: remembered things can be used again and again, so the stream's length bounds nothing."""
        self.left -= steps
        if self.left < 0:
            raise PickleBroken("too many steps")

    def pop_mark(self) -> list[Any]:
        at = self.marks.pop()
        items = self.stack[at:]
        del self.stack[at:]
        return items

    def look_up(self, module: Any, name: Any) -> Name:
        if not isinstance(module, str) or not isinstance(name, str):
            raise PickleBroken("a name that is no text")
        full = f"{module}.{name}"
        if not is_listed(full) and full not in self.foreign and len(self.foreign) < _MOST_FOREIGN:
            self.foreign.append(full)
        return Name(full)

    def call(self, called: Any, arguments: Any) -> Any:
        if isinstance(called, Opaque):
            return called
        if not isinstance(called, Name):
            raise PickleBroken("a call of something that has no name")
        if not is_listed(called.full):
            return Opaque(called.full)
        if not isinstance(arguments, tuple) or len(arguments) > _MOST_ARGUMENTS:
            raise PickleBroken("arguments that are no short tuple")
        if any(isinstance(argument, Opaque) for argument in arguments):
            return Opaque(called.full)
        made = build(called.full, arguments)
        if isinstance(made, StoredTensor):
            self.tensors.append(made)
        return made

    def fill(self, target: Any, keys: list[Any], values: list[Any]) -> None:
        if isinstance(target, Opaque):
            return
        if not isinstance(target, dict) or len(keys) != len(values):
            raise PickleBroken("entries of something that is no dictionary")
        for key, value in zip(keys, values, strict=True):
            # A tuple of tuples of tuples takes for ever to hash.
            if not isinstance(key, str | int | float | bool | bytes | None):
                raise PickleBroken("a dictionary's key that is no plain value")
            target[key] = value

    def extend(self, target: Any, items: list[Any]) -> None:
        if isinstance(target, list):
            target.extend(items)
        elif not isinstance(target, Opaque):
            raise PickleBroken("items of something that is no list")

    def build(self) -> None:
        state = self.stack.pop()
        target = self.stack[-1]
        if isinstance(target, Record) and isinstance(state, dict):
            self.spend(len(state))
            self.fill(target.values, list(state), list(state.values()))
        elif not isinstance(target, Opaque | dict):
            # An OrderedDict carries attributes of its own (`_metadata` of a state dict); they are not weights.
            raise PickleBroken("a state for something that has none")

    def persistent(self, id: Any) -> Storage:
        match id:
            case ("storage", Name(full), str(key), _, int(elements)) if 0 <= elements < 1 << 48:
                dtype = storage_type(full) or ("uint8" if full == "torch.storage.UntypedStorage" else None)
                if dtype is not None:
                    return Storage(dtype, key, elements)
        raise PickleBroken("an unknown persistent id")


def _literal(argument: Any) -> Any:
    if isinstance(argument, int) and argument.bit_length() > _LARGEST_NUMBER * 8:
        raise PickleBroken("a number without end")
    return argument


type _Handler = Callable[[_Reader, Any], object]

_CONSTANTS: dict[str, Any] = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_LITERALS = frozenset(
    {
        *("INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT"),
        *("STRING", "BINSTRING", "SHORT_BINSTRING", "UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8"),
        *("BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8"),
    }
)


def _push_tuple(count: int) -> _Handler:
    def handler(reader: _Reader, _: Any) -> None:
        if len(reader.stack) < count:
            raise PickleBroken("an empty stack")
        items = tuple(reader.stack[len(reader.stack) - count :])
        del reader.stack[len(reader.stack) - count :]
        reader.stack.append(items)

    return handler


def _set_items(reader: _Reader, _: Any) -> None:
    items = reader.pop_mark()
    reader.fill(reader.stack[-1], items[::2], items[1::2])


def _set_item(reader: _Reader, _: Any) -> None:
    value, key = reader.stack.pop(), reader.stack.pop()
    reader.fill(reader.stack[-1], [key], [value])


def _dictionary(reader: _Reader, _: Any) -> None:
    items = reader.pop_mark()
    target: dict[Any, Any] = {}
    reader.fill(target, items[::2], items[1::2])
    reader.stack.append(target)


def _append(reader: _Reader, _: Any) -> None:
    item = reader.stack.pop()
    reader.extend(reader.stack[-1], [item])


def _append_all(reader: _Reader, _: Any) -> None:
    items = reader.pop_mark()
    reader.extend(reader.stack[-1], items)


def _reduce(reader: _Reader, _: Any) -> None:
    arguments, called = reader.stack.pop(), reader.stack.pop()
    reader.stack.append(reader.call(called, arguments))


def _new_object_with_names(reader: _Reader, _: Any) -> None:
    names, arguments, called = reader.stack.pop(), reader.stack.pop(), reader.stack.pop()
    if names:
        raise PickleBroken("an object made with named arguments")
    reader.stack.append(reader.call(called, arguments))


def _instance(reader: _Reader, argument: str) -> None:
    module, _, name = argument.partition(" ")
    reader.stack.append(reader.call(reader.look_up(module, name), tuple(reader.pop_mark())))


def _object(reader: _Reader, _: Any) -> None:
    called, *arguments = reader.pop_mark()
    reader.stack.append(reader.call(called, tuple(arguments)))


def _global(reader: _Reader, argument: str) -> None:
    module, _, name = argument.partition(" ")
    reader.stack.append(reader.look_up(module, name))


def _global_from_stack(reader: _Reader, _: Any) -> None:
    name, module = reader.stack.pop(), reader.stack.pop()
    reader.stack.append(reader.look_up(module, name))


def _duplicate(reader: _Reader, _: Any) -> None:
    reader.stack.append(reader.stack[-1])


def _remember(reader: _Reader, argument: int | None) -> None:
    reader.memory[len(reader.memory) if argument is None else argument] = reader.stack[-1]


_HANDLERS: dict[str, _Handler] = {
    "PROTO": lambda reader, argument: None,
    "FRAME": lambda reader, argument: None,
    "MARK": lambda reader, argument: reader.marks.append(len(reader.stack)),
    "POP": lambda reader, argument: reader.stack.pop(),
    "POP_MARK": lambda reader, argument: reader.pop_mark(),
    "DUP": _duplicate,
    "EMPTY_LIST": lambda reader, argument: reader.stack.append([]),
    "EMPTY_SET": lambda reader, argument: reader.stack.append([]),
    "EMPTY_DICT": lambda reader, argument: reader.stack.append({}),
    "EMPTY_TUPLE": lambda reader, argument: reader.stack.append(()),
    "TUPLE1": _push_tuple(1),
    "TUPLE2": _push_tuple(2),
    "TUPLE3": _push_tuple(3),
    "TUPLE": lambda reader, argument: reader.stack.append(tuple(reader.pop_mark())),
    "LIST": lambda reader, argument: reader.stack.append(reader.pop_mark()),
    "FROZENSET": lambda reader, argument: reader.stack.append(reader.pop_mark()),
    "DICT": _dictionary,
    "SETITEM": _set_item,
    "SETITEMS": _set_items,
    "APPEND": _append,
    "APPENDS": _append_all,
    "ADDITEMS": _append_all,
    "GLOBAL": _global,
    "STACK_GLOBAL": _global_from_stack,
    "REDUCE": _reduce,
    "NEWOBJ": _reduce,
    "NEWOBJ_EX": _new_object_with_names,
    "INST": _instance,
    "OBJ": _object,
    "BUILD": lambda reader, argument: reader.build(),
    "BINPERSID": lambda reader, argument: reader.stack.append(reader.persistent(reader.stack.pop())),
    "PUT": _remember,
    "BINPUT": _remember,
    "LONG_BINPUT": _remember,
    "MEMOIZE": _remember,
    "GET": lambda reader, argument: reader.stack.append(reader.memory[argument]),
    "BINGET": lambda reader, argument: reader.stack.append(reader.memory[argument]),
    "LONG_BINGET": lambda reader, argument: reader.stack.append(reader.memory[argument]),
}
