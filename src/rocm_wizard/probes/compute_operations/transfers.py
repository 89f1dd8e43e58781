"""Memory: allocating, copying both ways, giving back, and a captured graph."""

from typing import Any

from .prepared import Options, Prepared, Unavailable, flat, normal

_COUNT = 2**20
"""Elements of a copy (4 MiB); every whole number below it is exact in FP32."""


def allocate(torch: Any, device: str, _options: Options) -> Prepared:
    """4 MiB on the device, filled with threes."""
    expected = torch.full((_COUNT,), 3.0, dtype=torch.float64)
    return Prepared([], lambda: torch.full((_COUNT,), 3.0, device=device), expected)


def host_to_device(torch: Any, _device: str, _options: Options) -> Prepared:
    """Numbers copied in, compared there with the same numbers made there: no difference."""
    numbers = torch.arange(_COUNT, dtype=torch.float32)

    def on_device(copied: Any) -> Any:
        return copied - torch.arange(_COUNT, dtype=torch.float32, device=copied.device)

    return Prepared([numbers], on_device, torch.zeros(_COUNT, dtype=torch.float64))


def device_to_host(torch: Any, device: str, _options: Options) -> Prepared:
    """Numbers made on the device and copied out transposed, so that the copy is no plain block."""
    expected = torch.arange(_COUNT, dtype=torch.float64).view(1024, -1).T

    def on_device() -> Any:
        return torch.arange(_COUNT, dtype=torch.float32, device=device).view(1024, -1).T

    return Prepared([], on_device, expected)


def allocate_free(torch: Any, device: str, options: Options) -> Prepared:
    """Blocks of changing size filled, summed and given back; the last element is what was not given back, in bytes."""
    sizes = [1 + (index * 7919) % 65536 for index in range(options["cycles"])]

    def held() -> int:
        return torch.cuda.memory_allocated() if device.startswith("cuda") else 0

    def on_device() -> Any:
        sums = torch.zeros(len(sizes), device=device)
        before = held()
        for index, size in enumerate(sizes):
            sums[index] = torch.full((size,), float(index % 8), device=device).sum()
        kept = torch.full((1,), float(held() - before), device=device)
        return flat(torch, [sums, kept])

    expected = [float(size * (index % 8)) for index, size in enumerate(sizes)]
    return Prepared([], on_device, torch.tensor([*expected, 0.0], dtype=torch.float64))


def graph_capture(torch: Any, device: str, _options: Options) -> Prepared:
    """A product and a ReLU captured as a graph, replayed on other numbers than it was captured with."""
    signal, weights = normal(torch, 91, 64, 128), normal(torch, 92, 128, 64) * 128**-0.5

    def on_device(x: Any, w: Any) -> Any:
        if not device.startswith("cuda"):
            raise Unavailable(f"{device} has no graphs")
        held = torch.zeros_like(x)
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            torch.relu(held @ w)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            result = torch.relu(held @ w)
        held.copy_(x)
        graph.replay()
        return result.clone()

    return Prepared([signal, weights], on_device, (signal.double() @ weights.double()).clamp(min=0))
