"""Runs one ordered operation cold and warm, compares it with its known answer and says so."""

import faulthandler
import math
import time
from typing import Any

from .device import Meter, still_computes
from .prepared import Unavailable
from .registry import OPERATIONS
from .vocoder import vocoder
from .wire import say

_RUNS = 2
_FRAMES_BEFORE_THE_END = 0.8
"""A hanging operation writes its Python frames to stderr after this part of its time, while somebody still listens."""


def compare(torch: Any, result: Any, expected: Any) -> dict[str, Any]:
    """The largest error and where it is; a NaN or an infinity is an infinite error, another shape is one too."""
    if result.shape != expected.shape:
        shapes = {"worst_value": str(list(result.shape)), "expected_value": str(list(expected.shape))}
        return {"max_error": 1e308, "worst_index": 0, "not_finite": 0, "elements": result.numel(), **shapes}
    finite = torch.isfinite(result)
    error = torch.where(finite, (result - expected).abs(), torch.tensor(math.inf, dtype=torch.float64)).flatten()
    worst = int(error.argmax())
    return {
        "max_error": min(float(error[worst]), 1e308),
        "worst_index": worst,
        "worst_value": repr(float(result.flatten()[worst])),
        "expected_value": repr(float(expected.flatten()[worst])),
        "not_finite": int((~finite).sum()),
        "elements": result.numel(),
    }


def _compute(torch: Any, order: dict[str, Any], device: str) -> None:
    prepared = OPERATIONS[order["function"]](torch, device, order["options"])
    times: list[float] = []
    result, evidence = None, {}
    for _ in range(_RUNS):
        started = time.perf_counter()
        meter = Meter(torch, device)
        result = prepared.operation(*(tensor.to(device) for tensor in prepared.inputs))
        evidence = meter.stop(result)
        result = result.cpu()
        times.append(time.perf_counter() - started)
    verdict = compare(torch, result.double(), prepared.expected)  # pyright: ignore[reportOptionalMemberAccess]
    say("operation", step=order["id"], cold=times[0], warm=times[-1], **evidence, **verdict)


def carry_out(torch: Any, order: dict[str, Any], device: str) -> bool:
    """One order. False when the device is lost and nothing after it would mean anything."""
    step = order["id"]
    say("before", step=step)
    faulthandler.dump_traceback_later(order["seconds"] * _FRAMES_BEFORE_THE_END)
    try:
        if order["function"] == "vocoder":
            vocoder(torch, device, order["options"], lambda kind, **fields: say(kind, step=step, **fields))
        else:
            _compute(torch, order, device)
    except Unavailable as reason:
        say("unavailable", step=step, reason=str(reason)[:500])
    except Exception as error:  # noqa: BLE001  whatever an operation raises is its result
        say("operation_error", step=step, error=type(error).__name__, message=str(error)[:2000])
        if not still_computes(torch, device):
            say("device_lost", step=step)
            return False
    finally:
        faulthandler.cancel_dump_traceback_later()
    return True
