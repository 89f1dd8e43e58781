"""Stand-alone: computes on a device and compares every number with its known answer. Standard library and torch only.

Run as `<target python> -I compute.py <JSON>` with `{"device": "cpu", "operations": [...]}`, where an operation is
`{"id": ..., "function": ..., "seconds": ..., "options": {...}}`. Prints JSON Lines. Each operation is announced before
it runs, so that a process that dies or hangs names the operation. Whoever asked judges the errors.
"""

import faulthandler
import importlib
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any


def beside(*names: str) -> list[ModuleType]:
    """Modules of the package beside this file: isolated mode leaves this folder out of the search path."""
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    try:
        return [importlib.import_module(f"compute_operations.{name}") for name in names]
    finally:
        sys.path.pop(0)


def full_precision(torch: Any) -> None:
    """FP32 means FP32: without this an NVIDIA card may round inputs of products to ten bits."""
    torch.set_float32_matmul_precision("highest")
    torch.backends.cudnn.allow_tf32 = False


def main() -> None:
    """Imports torch, enumerates, computes."""
    request = json.loads(sys.argv[1])
    device = request["device"]
    device_facts, execute, wire = beside("device", "execute", "wire")
    say = wire.say
    wire.open_wire()
    say("before", step="import_torch")
    import torch

    say("imported", torch=torch.__version__, hip=torch.version.hip)
    say("before", step="enumerate")
    if not device_facts.is_there(torch, device):
        say("no_device", device=device)
        return
    say("device", **device_facts.describe(torch, device))
    full_precision(torch)
    with torch.inference_mode():
        for order in request["operations"]:
            if not execute.carry_out(torch, order, device):
                return
    say("done")


if __name__ == "__main__":
    faulthandler.enable()
    main()
