"""Reads torch files of unknown origin: tensors and plain values only, never code."""

import io
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import torch

from rocm_wizard.models.book import load_book
from rocm_wizard.speech.serve import LoadFailure

ZIP = b"PK"
HEADS: Mapping[bytes, str] = {
    mark.encode("ascii"): said["version"] + (" LoRA" if said["lora"] else "")
    for mark, said in load_book()["head"].items()
}
"""What a SoVITS file's first two bytes say in place of a zip file's."""


class HyperParameters:
    """Stands for the training program's settings object: attributes, nothing else."""


class PlainPath(str):
    """Stands for a path object that a training program left in its settings."""

    __slots__ = ()

    def __new__(cls, *parts: str) -> "PlainPath":
        """Its parts, joined."""
        return super().__new__(cls, "/".join(parts))


_ALLOWED: list[Any] = [
    (HyperParameters, "utils.HParams"),
    (PlainPath, "pathlib.PosixPath"),
    (PlainPath, "pathlib.WindowsPath"),
    (PlainPath, "pathlib._local.PosixPath"),
    (PlainPath, "pathlib._local.WindowsPath"),
]


class _HeadRestored(io.RawIOBase):
    """A file whose first two bytes read as a zip file's."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def readinto(self, buffer: Any) -> int:
        at = self._file.tell()
        data = self._file.read(len(buffer))
        count = len(data)
        buffer[:count] = data
        if at < len(ZIP):
            restored = ZIP[at : at + count]
            buffer[: len(restored)] = restored
        return count


def read_torch_file(path: Path) -> tuple[dict[str, Any], str | None]:
    """The dictionary in a file, and what its head says it is (None: a plain zip head).

    Raises LoadFailure for a file that is missing, cut short, no torch file, or that wants to run code.
    """
    try:
        with path.open("rb") as file:
            head = file.read(2)
            file.seek(0)
            if head != ZIP and head not in HEADS:
                raise LoadFailure(f"{path}: no torch file (it begins with {head!r}, a zip file with {ZIP!r})")
            source = io.BufferedReader(_HeadRestored(file))
            with torch.serialization.safe_globals(_ALLOWED):
                content = torch.load(source, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        said = str(error).splitlines()[0] if str(error) else "unsafe content"
        raise LoadFailure(f"{path}: not loaded, because it holds more than tensors and plain values: {said}") from error
    except (OSError, RuntimeError, EOFError, ValueError) as error:
        said = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise LoadFailure(f"{path}: cannot be read, perhaps cut short: {said}") from error
    if not isinstance(content, dict):
        raise LoadFailure(f"{path}: holds a {type(content).__name__}, not a dictionary of weights")
    return content, HEADS.get(head)


def plain(value: Any) -> Any:
    """Settings as dictionaries, whatever object they came in."""
    if isinstance(value, HyperParameters):
        return {name: plain(inner) for name, inner in vars(value).items()}
    if isinstance(value, Mapping):
        return {str(name): plain(inner) for name, inner in value.items()}
    return value
