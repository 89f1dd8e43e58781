"""The real compute probe on a GPU that is none: torch lists `cuda:0`, and every tensor silently stays on the CPU.

`PRETEND` says how far the lie goes: `silent` (the counters stay at nothing), `counters` (they move as well).
"""

import importlib
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
real_probe = importlib.import_module("real_probe")


class Event:
    """A clock that never moves, or moves."""

    def __init__(self, **_options: object) -> None: ...

    def record(self) -> None: ...

    def elapsed_time(self, _other: "Event") -> float:
        """Milliseconds."""
        return 1.0 if os.environ["PRETEND"] == "counters" else 0.0


def stay(function: Any) -> Any:
    """A function that hears `cuda:0` and takes the CPU."""

    def stays(*args: Any, **kwargs: Any) -> Any:
        args = tuple("cpu" if arg == "cuda:0" else arg for arg in args)
        return function(*args, **{name: "cpu" if value == "cuda:0" else value for name, value in kwargs.items()})

    return stays


def pretend(torch: Any) -> None:
    """Puts the GPU that is none in place."""
    used = 4096 if os.environ["PRETEND"] == "counters" else 0
    card = SimpleNamespace(name="AMD Radeon RX 9070 XT", total_memory=2**34, gcnArchName="gfx1201", major=12, minor=0)
    torch.version.hip = "7.2.53211"
    cuda = torch.cuda
    cuda.is_available, cuda.device_count = lambda: True, lambda: 1
    cuda.get_device_properties = lambda _device: card
    cuda.mem_get_info = lambda _device: (2**33, 2**34)
    cuda.get_arch_list = lambda: ["gfx1100", "gfx1201"]
    cuda.synchronize = cuda.reset_peak_memory_stats = lambda: None
    cuda.memory_allocated, cuda.max_memory_allocated = lambda: 0, lambda: used
    cuda.Event = Event
    for name in ("to",):
        setattr(torch.Tensor, name, stay(getattr(torch.Tensor, name)))
    for name in ("full", "arange", "zeros", "ones", "Generator"):
        setattr(torch, name, stay(getattr(torch, name)))


if __name__ == "__main__":
    probe, _operations = real_probe.load()
    import torch

    pretend(torch)
    probe.main()
