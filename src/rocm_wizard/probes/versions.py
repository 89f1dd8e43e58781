"""Stand-alone: the target interpreter says what it is and what it holds. Standard library and torch only.

Run as `<target python> -I versions.py <JSON>` with `{"packages": [...], "shadow": [...],
"modules": [...]}`. Prints JSON Lines: each step that could kill the process is announced before (`before`) and
confirmed after, so that a crash names it.
"""

import importlib
import importlib.metadata
import json
import platform
import struct
import sys
import sysconfig
import time
from pathlib import Path
from types import ModuleType
from typing import Any


def say(kind: str, **fields: object) -> None:
    """One JSON line on stdout."""
    sys.stdout.write(json.dumps({"type": kind, **fields}) + "\n")
    sys.stdout.flush()


def beside(*names: str) -> list[ModuleType]:
    """Modules of the package beside this file: isolated mode leaves this folder out of the search path."""
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    try:
        return [importlib.import_module(f"version_facts.{name}") for name in names]
    finally:
        sys.path.pop(0)


def package_version(name: str) -> str | None:
    """The installed version, or None."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def say_error(kind: str, error: BaseException, **fields: object) -> None:
    """An exception as a message; `winerror` is Windows' own number for it, which no language changes."""
    text = f"{error}"[:2000]
    say(kind, error=type(error).__name__, message=text, winerror=getattr(error, "winerror", None), **fields)


def say_interpreter() -> None:
    """What runs here."""
    say(
        "interpreter",
        version=platform.python_version(),
        implementation=platform.python_implementation(),
        bits=struct.calcsize("P") * 8,
        prefix=sys.prefix,
        in_venv=sys.prefix != sys.base_prefix,
        executable=sys.executable,
    )


def import_torch(libraries: ModuleType) -> Any:
    """torch, or None after saying why not."""
    say("before", step="import_torch")
    started = time.monotonic()
    try:
        import torch
    except Exception as error:  # noqa: BLE001  a DLL that does not load may raise anything
        say_error("import_error", error, missing=libraries.missing_for_torch(Path(sysconfig.get_path("platlib"))))
        return None
    say(
        "torch",
        version=torch.__version__,
        hip=torch.version.hip,
        cuda=torch.version.cuda,
        file=torch.__file__,
        seconds=time.monotonic() - started,
    )
    return torch


def say_numpy(torch: Any) -> None:
    """Whether torch and numpy share memory: a number written on one side is read on the other, both ways."""
    say("before", step="numpy")
    try:
        numpy = importlib.import_module("numpy")
        tensor = torch.zeros(3)
        array = tensor.numpy()
        array[1] = 5.0
        back = torch.from_numpy(array)
        array[2] = 7.0
        right = tensor.tolist() == [0.0, 5.0, 7.0] and back.tolist() == [0.0, 5.0, 7.0]
    except Exception as error:  # noqa: BLE001  another ABI may raise anything
        say_error("numpy_error", error, version=package_version("numpy"))
    else:
        say("numpy", version=numpy.__version__, right=right)


def say_module(name: str) -> None:
    """Whether a package can be imported, and from where."""
    say("before", step=f"import_{name}")
    started = time.monotonic()
    try:
        module = importlib.import_module(name)
    except Exception as error:  # noqa: BLE001  as with torch
        say_error("module_error", error, name=name)
    else:
        say("module", name=name, file=str(module.__file__), seconds=time.monotonic() - started)


def main() -> None:
    """Reports the interpreter, the packages and paths, then what can be imported."""
    request = json.loads(sys.argv[1])
    libraries, paths = beside("libraries", "paths")
    say_interpreter()
    say("packages", versions={name: package_version(name) for name in request["packages"]})
    say("paths", **paths.describe_paths(request["shadow"]))
    torch = import_torch(libraries)
    if torch is None:
        return
    say_numpy(torch)
    for name in request["modules"]:
        if package_version(name) is not None:
            say_module(name)
    if torch.version.hip:
        say("hip_runtime", loaded=libraries.loaded_hip_runtimes(), on_path=libraries.hip_runtimes_on_path())


if __name__ == "__main__":
    import faulthandler

    faulthandler.enable()
    main()
    say("done")
