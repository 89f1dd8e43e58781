"""What a child is started with, what can be read from it, and how it ended."""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from rocm_wizard.qualification.stage import CancelToken
from rocm_wizard.runner.exit_status import ExitMeaning

LINE_LIMIT = 32 * 2**20
STDERR_LINES_KEPT = 200

_SECRET_NAME = re.compile(r"token|key|secret|pass|credential", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ChildSpec:
    """One process to start, without a shell.

    Attributes:
        purpose: what it is for (`asr sidecar`, `compute probe`), used in the journal and in file names.
        environment: changes to ours; None removes a variable.
        masked: variables whose values the journal must not hold, beside those whose names look like secrets.
        line_limit: longest stdout line in bytes; a longer one is a protocol error.
    """

    purpose: str
    argv: Sequence[str]
    cwd: Path
    environment: Mapping[str, str | None] = field(default_factory=dict[str, "str | None"])
    line_limit: int = LINE_LIMIT
    masked: frozenset[str] = frozenset()

    def full_environment(self) -> dict[str, str]:
        """Our environment with the changes applied."""
        merged = dict(os.environ)
        for name, value in self.environment.items():
            if value is None:
                merged.pop(name, None)
            else:
                merged[name] = value
        return merged

    def shown_environment(self) -> dict[str, str | None]:
        """The changes as the journal may hold them: values of `masked` and of secret-looking names masked."""
        return {
            name: "***" if value and (name in self.masked or _SECRET_NAME.search(name)) else value
            for name, value in self.environment.items()
        }


@dataclass(frozen=True, slots=True)
class Line:
    """One line of stdout, newline removed; `arrived` is `time.monotonic()` when its last byte was read."""

    data: bytes
    arrived: float


@dataclass(frozen=True, slots=True)
class ExitReport:
    """How a child ended. `forced`: none, terminate, kill, or survived (nothing ended it)."""

    code: int | None
    meaning: ExitMeaning
    forced: str
    seconds: float


class ChildTimeout(Exception):
    """Nothing came (or nothing was taken) within the deadline."""


class LineTooLong(Exception):
    """A stdout line passed the limit: the stream is lost and the child has to go."""


class ChildGone(Exception):
    """The child no longer takes input."""


class StartFailed(Exception):
    """The process could not be started. `reason` is the operating system's word for it."""

    def __init__(self, program: str, reason: str) -> None:
        super().__init__(f"{program}: {reason}")
        self.program = program
        self.reason = reason


class Child(Protocol):
    """A running child. One thread uses it at a time."""

    @property
    def spec(self) -> ChildSpec: ...

    @property
    def pid(self) -> int: ...

    def send(self, data: bytes, timeout: float) -> None:
        """Writes to stdin.

        Raises:
            ChildTimeout: it did not take the data in time.
            ChildGone: it closed its stdin or ended.
        """
        ...

    def read(self, timeout: float) -> Line | None:
        """The next stdout line, or None at the end of the stream.

        Raises:
            ChildTimeout, LineTooLong, Cancelled.
        """
        ...

    def close_stdin(self) -> None:
        """Says that nothing more will come."""
        ...

    def poll(self) -> int | None:
        """The exit code, or None while it runs."""
        ...

    def stderr_tail(self) -> list[str]:
        """The last cleaned lines of stderr, at most 200."""
        ...

    def stderr_bytes(self) -> int:
        """Bytes of stderr read so far."""
        ...

    def stderr_lines(self) -> int:
        """Lines of stderr read so far."""
        ...

    def stop(self, grace: float = 5.0) -> ExitReport:
        """Close stdin, wait, terminate, wait, kill the tree, wait. Safe to call twice."""
        ...


class Runner(Protocol):
    """Starts children and knows which are alive."""

    def start(self, spec: ChildSpec, stage: str, cancel: CancelToken) -> Child:
        """Starts a child.

        Raises:
            StartFailed: the program is missing or may not be started.
        """
        ...

    def stop_all(self) -> None:
        """Ends every child that is still alive."""
        ...


type EmitLog = Callable[[str, str, list[str], int], None]
"""(stage, source, lines, dropped)"""
