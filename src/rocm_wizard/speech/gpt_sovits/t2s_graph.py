"""One decoding step captured as a CUDA or HIP Graph and replayed for every token of a sentence."""

from collections.abc import Callable

import torch
from torch import Tensor

type Step = Callable[[Tensor, Tensor, Tensor], Tensor]
"""(x [1, W], position [1], mask [1, L]) to [W]."""

_WARM_UPS = 3


class StepGraph:
    """Captured at the first token. Raises RuntimeError where the device or the driver cannot capture."""

    def __init__(self, step: Step, cache: Tensor, begin: int) -> None:
        if not cache.is_cuda:
            raise RuntimeError(f"graphs exist on CUDA and HIP only, and this is {cache.device}")
        self._step = step
        self._index = torch.tensor([begin], device=cache.device)
        self._mask = torch.zeros(1, cache.shape[3], dtype=torch.bool, device=cache.device)
        self._mask[:, :begin] = True
        self._graph: torch.cuda.CUDAGraph | None = None
        self._x: Tensor | None = None
        self._out: Tensor | None = None

    def run(self, x: Tensor, at: int) -> Tensor:
        """The step at position `at`."""
        self._index.fill_(at)
        self._mask[:, at] = True
        if self._graph is None or self._x is None or self._out is None:
            self._x = x.clone()
            self._graph, self._out = self._capture(self._x)
        else:
            self._x.copy_(x)
        self._graph.replay()
        return self._out

    def _capture(self, x: Tensor) -> tuple[torch.cuda.CUDAGraph, Tensor]:
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(_WARM_UPS):
                self._step(x, self._index, self._mask)
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = self._step(x, self._index, self._mask)
        return graph, out
