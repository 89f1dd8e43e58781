"""What an inspection found: the things it recognised, and their problems."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rocm_wizard.models.problem import Problem
from rocm_wizard.models.tensors import Tensor


@dataclass(frozen=True, slots=True)
class Recognised:
    """One file or folder that is what it should be.

    `name` in the field's own words (`SoVITS v3 LoRA`), `size` in bytes, `dtypes` of its tensors.
    """

    file: Path
    name: str
    size: int
    tensors: int
    dtypes: tuple[str, ...]


@dataclass(slots=True)
class Inspection:
    """All of one model's files."""

    recognised: list[Recognised] = field(default_factory=list[Recognised])
    problems: list[Problem] = field(default_factory=list[Problem])

    @property
    def usable(self) -> bool:
        """Whether nothing forbids loading."""
        return not any(problem.fatal for problem in self.problems)


def recognise(file: Path, name: str, size: int, tensors: Mapping[str, Tensor]) -> Recognised:
    """The summary of a file's tensors."""
    dtypes = tuple(sorted({tensor.dtype for tensor in tensors.values()}))
    return Recognised(file, name, size, len(tensors), dtypes)
