"""The real compute probe on a device that gets one element of every result wrong. `FAULT` says how.

`above` and `below` put the element one eighth of the tolerance beyond and within it (an exact operation: a tiny bit
off, and unchanged); `nan`, `zero` and `shape` speak for themselves.
"""

import importlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
real_probe = importlib.import_module("real_probe")


def bend(torch: Any, fault: str, result: Any, expected: Any, tolerance: float) -> Any:
    """The result with its fault, in float64 so that the fault itself is not rounded."""
    wide = result.double().clone()
    flat, answer = wide.view(-1), expected.reshape(-1)
    at = len(flat) // 3
    if fault == "above":
        flat[at] = answer[at] + (tolerance * 1.125 or 1e-6)
    elif fault == "below":
        flat[at] = answer[at] - tolerance * 0.875
    elif fault == "nan":
        flat[at] = float("nan")
    elif fault == "zero":
        wide = torch.where(answer.view(wide.shape) == 0, torch.ones_like(wide), torch.zeros_like(wide))
    elif fault == "shape":
        wide = wide.unsqueeze(0)
    return wide


def faulty(prepare: Callable[..., Any], fault: str) -> Callable[..., Any]:
    """An operation whose device has the fault."""

    def prepare_faulty(torch: Any, device: str, options: dict[str, Any]) -> Any:
        prepared = prepare(torch, device, options)

        def operation(*inputs: Any) -> Any:
            result = prepared.operation(*inputs).contiguous()
            return bend(torch, fault, result, prepared.expected, options["tolerance"])

        return prepared._replace(operation=operation)

    return prepare_faulty


if __name__ == "__main__":
    probe, operations = real_probe.load()
    for name, prepare in list(operations.items()):
        operations[name] = faulty(prepare, os.environ["FAULT"])
    probe.main()
