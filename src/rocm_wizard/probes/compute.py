"""Stand-alone: computes on a device and compares every number with its known answer. Standard library and torch only.

Run as `<target python> -I compute.py <JSON>` with `{"device": "cpu"}`. Prints JSON Lines. Each operation is announced
before it runs, so that a process that dies or hangs names the operation. Operations are in order of danger.
"""

import json
import math
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple


class Prepared(NamedTuple):
    """Inputs on the CPU, what to do with them on the device, the known answer and how far off it may be."""

    inputs: list[Any]
    operation: Callable[..., Any]
    expected: Any
    tolerance: float


def say(kind: str, **fields: object) -> None:
    """One JSON line on stdout."""
    sys.stdout.write(json.dumps({"type": kind, **fields}) + "\n")
    sys.stdout.flush()


def synchronise(torch: Any, device: str) -> None:
    """Waits until the device has done what it was asked."""
    if device.startswith("cuda"):
        torch.cuda.synchronize()
    elif device == "mps":
        torch.mps.synchronize()


def product_of_ones(torch: Any) -> Prepared:
    """256 x 256 ones times ones: every element is exactly 256."""
    ones = torch.ones(256, 256)
    return Prepared([ones], lambda on_device: on_device @ on_device, torch.full((256, 256), 256.0), 0.0)


def convolution(torch: Any) -> Prepared:
    """A dilated 1-D convolution (kernel 5, dilation 3) against the same sum written out in float64."""
    taps, dilation, length = 5, 3, 512
    generator = torch.Generator().manual_seed(1)
    signal = torch.rand(1, 8, length, generator=generator)
    kernel = torch.rand(4, 8, taps, generator=generator)
    wide, weights = signal.double(), kernel.double()
    count = length - dilation * (taps - 1)
    expected = torch.zeros(1, 4, count, dtype=torch.float64)
    for tap in range(taps):
        expected[0] += weights[:, :, tap] @ wide[0, :, tap * dilation : tap * dilation + count]
    conv1d = torch.nn.functional.conv1d
    return Prepared([signal, kernel], lambda x, w: conv1d(x, w, dilation=dilation), expected, 1e-4)


def fourier(torch: Any) -> Prepared:
    """A cosine of 37 whole periods in 1,024 samples: one line of height 512 at bin 37, nothing elsewhere."""
    samples, line = 1024, 37
    phase = torch.arange(samples, dtype=torch.float64) * (2 * math.pi * line / samples)
    expected = torch.zeros(samples // 2 + 1, dtype=torch.float64)
    expected[line] = samples / 2
    return Prepared([torch.cos(phase).float()], lambda wave: torch.fft.rfft(wave).abs(), expected, 2e-3)


OPERATIONS = {"fp32_product": product_of_ones, "conv1d": convolution, "fft": fourier}


def compare(torch: Any, result: Any, expected: Any, tolerance: float) -> dict[str, Any]:
    """The largest error and where it is; a NaN or an infinity is an infinite error."""
    error = (result - expected).abs()
    error = torch.where(torch.isfinite(error), error, torch.tensor(math.inf, dtype=torch.float64))
    worst = int(error.argmax())
    return {
        "right": bool(error.flatten()[worst] <= tolerance),
        "max_error": min(float(error.flatten()[worst]), 1e308),
        "tolerance": tolerance,
        "worst_index": worst,
        "worst_value": repr(float(result.flatten()[worst])),
        "expected_value": repr(float(expected.flatten()[worst])),
        "elements": result.numel(),
    }


def enumerate_device(torch: Any, device: str) -> dict[str, Any]:
    """What the device says of itself."""
    facts: dict[str, Any] = {"device": device, "name": None, "gfx": None, "memory": None, "count": None}
    if device.startswith("cuda"):
        facts["count"] = torch.cuda.device_count()
        properties = torch.cuda.get_device_properties(device)
        facts.update(name=properties.name, memory=properties.total_memory, gfx=getattr(properties, "gcnArchName", None))
    return facts


def device_is_there(torch: Any, device: str) -> bool:
    """Whether torch offers the device at all. It proves nothing about computing."""
    if device.startswith("cuda"):
        return torch.cuda.is_available()
    if device == "mps":
        return torch.backends.mps.is_available()
    return True


def run(torch: Any, name: str, prepare: Callable[[Any], Prepared], device: str) -> None:
    """One operation, cold and warm: copying in, computing and copying out are timed, the reference is not."""
    say("before", step=name)
    prepared = prepare(torch)
    times: list[float] = []
    result: Any = None
    for _ in range(2):
        started = time.perf_counter()
        result = prepared.operation(*(tensor.to(device) for tensor in prepared.inputs))
        synchronise(torch, device)
        result = result.cpu()
        times.append(time.perf_counter() - started)
    verdict = compare(torch, result.double(), prepared.expected.double(), prepared.tolerance)
    say("operation", step=name, cold=times[0], warm=times[1], **verdict)


def main() -> None:
    """Imports torch, enumerates, computes."""
    device = json.loads(sys.argv[1])["device"]
    say("before", step="import torch")
    import torch

    say("imported", torch=torch.__version__, hip=torch.version.hip)
    say("before", step="enumerate")
    if not device_is_there(torch, device):
        say("no_device", device=device)
        return
    say("device", **enumerate_device(torch, device))
    for name, prepare in OPERATIONS.items():
        try:
            run(torch, name, prepare, device)
        except Exception as error:  # noqa: BLE001  whatever an operation raises is its result
            say("operation_error", step=name, error=type(error).__name__, message=str(error)[:2000])
            return
    say("done")


if __name__ == "__main__":
    import faulthandler

    faulthandler.enable()
    main()
