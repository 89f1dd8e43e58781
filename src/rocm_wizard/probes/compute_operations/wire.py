"""Messages on a stdout of their own: what native libraries print goes to stderr instead."""

import json
import os
import sys
from typing import IO

_stdout: list[IO[str]] = []


def open_wire() -> None:
    """Keeps stdout for messages only. Call once, before a library that prints is loaded."""
    sys.stdout.flush()
    _stdout.append(os.fdopen(os.dup(1), "w", encoding="utf-8"))
    os.dup2(2, 1)


def say(kind: str, **fields: object) -> None:
    """One JSON line."""
    wire = _stdout[0] if _stdout else sys.stdout
    wire.write(json.dumps({"type": kind, **fields}) + "\n")
    wire.flush()
