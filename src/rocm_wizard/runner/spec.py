"""What a child is started with, what can be read from it, and how it ended."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from rocm_wizard.envfile.secrets import is_secret
from rocm_wizard.qualification.clean import HIDDEN, Hiding
from rocm_wizard.qualification.stage import CancelToken
from rocm_wizard.runner.arguments import argument_secrets
from rocm_wizard.runner.exit_status import ExitMeaning
from rocm_wizard.runner.hidden import secret_values

LINE_LIMIT = 32 * 2**20
STDERR_LINES_KEPT = 200


@dataclass(frozen=True, slots=True)
class ChildSpec:
    """One process to start, without a shell.

    Attributes:
        purpose: what it is for (`asr sidecar`, `compute probe`), used in the journal and in file names.
        environment: changes to ours; None removes a variable.
        masked: variables whose values the journal must not hold, beside those whose names look like secrets.
        line_limit: longest stdout line in bytes; a longer one is a protocol error.
        hidden: values that must not be told even if the child prints them, beside those of its environment.
        undrained: its stderr stays unread until it has ended or is stopped, in a pipe as small as on Windows.
    """

    purpose: str
    argv: Sequence[str]
    cwd: Path
    environment: Mapping[str, str | None] = field(default_factory=dict[str, "str | None"], repr=False)
    line_limit: int = LINE_LIMIT
    masked: frozenset[str] = frozenset()
    hidden: frozenset[str] = field(default=frozenset(), repr=False)
    undrained: bool = False

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
            name: HIDDEN if value and (name in self.masked or is_secret(name, value)) else value
            for name, value in self.environment.items()
        }

    def shown_command(self) -> list[str]:
        """The command as the journal may hold it."""
        hiding = self.hiding()
        return [hiding.text(part) for part in self.argv]

    def hiding(self) -> Hiding:
        """Hides the secrets that the child knows from whoever is told what it prints."""
        known = secret_values(self.full_environment(), self.masked) | argument_secrets(self.argv, self.cwd)
        return Hiding(self.hidden | known)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of stdout, newline removed; `arrived` is `time.monotonic()` when its last byte was read.

    `torn`: the stream ended before the newline came.
    """

    data: bytes
    arrived: float
    torn: bool = False


@dataclass(frozen=True, slots=True)
class ExitReport:
    """How a child ended.

    Attributes:
        forced: none, terminate, kill, or survived (nothing ended it).
        left: names of the processes that it left behind when it ended by itself: they had the rest of its grace to end
            too, and were killed then.
    """

    code: int | None
    meaning: ExitMeaning
    forced: str
    seconds: float
    left: tuple[str, ...] = ()


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

    def drain(self) -> None:
        """Reads an undrained child's stderr from now on."""
        ...

    def stderr_bytes(self) -> int:
        """Bytes of stderr so far, read or (`undrained`) waiting in the pipe."""
        ...

    def stderr_lines(self) -> int:
        """Lines of stderr read so far."""
        ...

    def stop(self, grace: float = 5.0) -> ExitReport:
        """Close stdin, wait, terminate, wait, kill the tree, wait; `grace` is for what the child leaves behind too.

        Safe to call twice.
        """
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
