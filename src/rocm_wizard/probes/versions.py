"""Stand-alone: the target interpreter says what it is and what it holds. Standard library and torch only.

Run as `<target python> -I versions.py <JSON>` with `{"packages": [...], "import": true}`. Prints JSON Lines: each step
that could kill the process is announced before (`before`) and confirmed after, so that a crash names it.
"""

import importlib.metadata
import json
import platform
import struct
import sys
import time


def say(kind: str, **fields: object) -> None:
    """One JSON line on stdout."""
    sys.stdout.write(json.dumps({"type": kind, **fields}) + "\n")
    sys.stdout.flush()


def package_version(name: str) -> str | None:
    """The installed version, or None."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def main() -> None:
    """Reports the interpreter, the packages, then torch."""
    request = json.loads(sys.argv[1])
    say(
        "interpreter",
        version=platform.python_version(),
        implementation=platform.python_implementation(),
        bits=struct.calcsize("P") * 8,
        prefix=sys.prefix,
        in_venv=sys.prefix != sys.base_prefix,
        executable=sys.executable,
    )
    say("packages", versions={name: package_version(name) for name in request["packages"]})
    if not request["import"]:
        return
    say("before", step="import torch")
    started = time.monotonic()
    try:
        import torch
    except Exception as error:  # noqa: BLE001  a DLL that does not load may raise anything
        say("import_error", error=type(error).__name__, message=str(error)[:2000])
        return
    say(
        "torch",
        version=torch.__version__,
        hip=torch.version.hip,
        cuda=torch.version.cuda,
        file=torch.__file__,
        seconds=time.monotonic() - started,
    )


if __name__ == "__main__":
    import faulthandler

    faulthandler.enable()
    main()
    say("done")
