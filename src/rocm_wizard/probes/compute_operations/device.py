"""The device: what it says of itself, waiting for it, and evidence that it and nobody else did the work."""

from typing import Any


def is_there(torch: Any, device: str) -> bool:
    """Whether torch offers the device at all. It proves nothing about computing."""
    if device.startswith("cuda"):
        return torch.cuda.is_available()
    if device == "mps":
        return torch.backends.mps.is_available()
    return True


def describe(torch: Any, device: str) -> dict[str, Any]:
    """What the device says of itself, and which other ones stand beside it."""
    facts: dict[str, Any] = {"device": device, "name": None, "gfx": None, "memory": None, "count": None}
    if device.startswith("cuda"):
        every = [torch.cuda.get_device_properties(index) for index in range(torch.cuda.device_count())]
        own = torch.cuda.get_device_properties(device)
        free, _total = torch.cuda.mem_get_info(device)
        facts.update(
            name=own.name,
            memory=own.total_memory,
            free=free,
            gfx=getattr(own, "gcnArchName", None) if torch.version.hip else None,
            capability=[own.major, own.minor],
            arch_list=list(torch.cuda.get_arch_list()),
            count=len(every),
            index=torch.device(device).index or 0,
            devices=[
                {
                    "name": one.name,
                    "gfx": getattr(one, "gcnArchName", None) if torch.version.hip else None,
                    "integrated": bool(getattr(one, "is_integrated", False)),
                    "memory": one.total_memory,
                }
                for one in every
            ],
        )
    return facts


def synchronise(torch: Any, device: str) -> None:
    """Waits until the device has done what it was asked."""
    if device.startswith("cuda"):
        torch.cuda.synchronize()
    elif device == "mps":
        torch.mps.synchronize()


def still_computes(torch: Any, device: str) -> bool:
    """After a refused operation: whether the device still adds one and one. A lost context refuses everything."""
    try:
        total = (torch.ones(2, device=device) + torch.ones(2, device=device)).sum()
        synchronise(torch, device)
        return float(total) == 4.0
    except Exception:  # noqa: BLE001  a lost device may raise anything
        return False


class Meter:
    """Evidence for one run of an operation on a CUDA or HIP device: its own clock and its own memory.

    On a device without these counters only the place of the result is known.
    """

    def __init__(self, torch: Any, device: str) -> None:
        self._torch = torch
        self._device = device
        self._counts = device.startswith("cuda")
        if self._counts:
            torch.cuda.reset_peak_memory_stats()
            self._held = torch.cuda.memory_allocated()
            self._begin = torch.cuda.Event(enable_timing=True)
            self._end = torch.cuda.Event(enable_timing=True)
            self._begin.record()

    def stop(self, result: Any) -> dict[str, Any]:
        """Waits for the device and says where the result is, the device's milliseconds and the bytes it took."""
        if self._counts:
            self._end.record()
        synchronise(self._torch, self._device)
        evidence: dict[str, Any] = {"result_device": str(result.device), "device_ms": None, "device_bytes": None}
        if self._counts:
            evidence["device_ms"] = self._begin.elapsed_time(self._end)
            evidence["device_bytes"] = self._torch.cuda.max_memory_allocated() - self._held
        return evidence
