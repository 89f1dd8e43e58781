"""The real compute probe on a torch whose device functions each have a plausible bug; float64 on the CPU is left right.

Shows that no reference is computed by the function that it is to judge.
"""

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
real_probe = importlib.import_module("real_probe")


def keyword(original: Callable[..., Any], name: str, value: object) -> Callable[..., Any]:
    """The function with one keyword ignored."""
    return lambda *args, **kwargs: original(*args, **(kwargs | {name: value}))


def after(original: Callable[..., Any], change: Callable[[Any], Any]) -> Callable[..., Any]:
    """The function with its result changed, unless that is float64: the references' type."""

    def changed(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        first = result[0] if isinstance(result, tuple) else result
        if str(first.dtype) == "torch.float64":
            return result
        return (change(first), *result[1:]) if isinstance(result, tuple) else change(result)

    return changed


def last_step_forgotten(result: Any) -> Any:
    """Zeros where the last time step should be."""
    result = result.clone()
    result[-1] = 0
    return result


def break_torch(torch: Any) -> None:
    """One bug for each function that the probe calls on the device."""
    functional = torch.nn.functional
    functional.conv1d = after(functional.conv1d, lambda result: result.roll(1, -1))
    functional.conv_transpose1d = after(functional.conv_transpose1d, lambda result: result.roll(1, -1))
    functional.batch_norm = keyword(functional.batch_norm, "eps", 1e-2)
    functional.instance_norm = keyword(functional.instance_norm, "eps", 1e-2)
    functional.layer_norm = after(functional.layer_norm, lambda result: result * 1.001)
    functional.scaled_dot_product_attention = keyword(functional.scaled_dot_product_attention, "is_causal", False)
    torch.nn.GRU.forward = after(torch.nn.GRU.forward, last_step_forgotten)
    torch.nn.LSTM.forward = after(torch.nn.LSTM.forward, last_step_forgotten)
    torch.fft.rfft = after(torch.fft.rfft, lambda result: result * 1.001)
    torch.stft = keyword(torch.stft, "window", torch.ones(1024))
    torch.istft = keyword(torch.istft, "window", torch.ones(1024))
    torch.softmax = after(torch.softmax, lambda result: result.roll(1, -1))
    torch.multinomial = after(torch.multinomial, lambda drawn: drawn // 2 * 2)
    torch.full = after(torch.full, lambda result: result + 1)
    torch.arange = after(torch.arange, lambda result: result.flip(0) if result.is_floating_point() else result)
    torch.Tensor.to = after(torch.Tensor.to, lambda result: result.roll(1, 0) if result.numel() == 2**20 else result)
    torch.Tensor.index_copy_ = lambda self, dim, index, source: self
    torch.Tensor.__matmul__ = after(torch.Tensor.__matmul__, lambda result: result.roll(1, 0) * 1.1)


if __name__ == "__main__":
    probe, _operations = real_probe.load()
    full_precision = probe.full_precision

    def then_break(torch: Any) -> None:
        full_precision(torch)
        break_torch(torch)

    probe.full_precision = then_break
    probe.main()
