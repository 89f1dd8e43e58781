"""GRU and LSTM against their equations, one time step after the other in float64.

A bidirectional LSTM of several layers is known to give wrong numbers without any error on gfx1201.
"""

from collections.abc import Callable
from typing import Any

from .prepared import Options, Prepared, normal

type Cell = Callable[[Any, Any, Any, tuple[Any, Any]], tuple[Any, Any]]


def _lstm_cell(torch: Any, hidden: Any, state: Any, gates: tuple[Any, Any]) -> tuple[Any, Any]:
    enter, forget, new, leave = (gates[0] + gates[1]).chunk(4, -1)
    state = torch.sigmoid(forget) * state + torch.sigmoid(enter) * torch.tanh(new)
    del hidden
    return torch.sigmoid(leave) * torch.tanh(state), state


def _gru_cell(torch: Any, hidden: Any, state: Any, gates: tuple[Any, Any]) -> tuple[Any, Any]:
    (reset_x, keep_x, new_x), (reset_h, keep_h, new_h) = (part.chunk(3, -1) for part in gates)
    new = torch.tanh(new_x + torch.sigmoid(reset_x + reset_h) * new_h)
    keep = torch.sigmoid(keep_x + keep_h)
    return (1 - keep) * new + keep * hidden, state


def _direction(torch: Any, cell: Cell, wide: Any, weights: tuple[Any, Any, Any, Any], backwards: bool) -> Any:
    into, back, bias_into, bias_back = weights
    hidden = state = torch.zeros(wide.shape[1], back.shape[1], dtype=torch.float64)
    outputs: list[Any] = [None] * wide.shape[0]
    steps = range(wide.shape[0])
    for step in reversed(steps) if backwards else steps:
        gates = (wide[step] @ into.T + bias_into, hidden @ back.T + bias_back)
        hidden, state = cell(torch, hidden, state, gates)
        outputs[step] = hidden
    return torch.stack(outputs)


def _reference(torch: Any, cell: Cell, module: Any, signal: Any) -> Any:
    weights = {name: value.detach().double() for name, value in module.named_parameters()}
    wide = signal.double()
    for layer in range(module.num_layers):
        sides: list[Any] = []
        for suffix in ("", "_reverse") if module.bidirectional else ("",):
            names = (f"{kind}_l{layer}{suffix}" for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))
            own = tuple(weights[name] for name in names)
            sides.append(_direction(torch, cell, wide, own, suffix != ""))
        wide = torch.cat(sides, -1)
    return wide


def recurrent(torch: Any, device: str, options: Options) -> Prepared:
    """`GRU` or `LSTM` (`network`) of `layers`, in one or both directions, 40 steps of 2 sequences."""
    width, hidden = 24, options["hidden"]
    module = getattr(torch.nn, options["network"])(
        width, hidden, num_layers=options["layers"], bidirectional=options["bidirectional"]
    )
    for seed, parameter in enumerate(module.parameters()):
        parameter.data.copy_(normal(torch, 60 + seed, *parameter.shape) * 1.5 * hidden**-0.5)
    signal = normal(torch, 59, 40, 2, width)
    cell = _lstm_cell if options["network"] == "LSTM" else _gru_cell
    expected = _reference(torch, cell, module, signal)
    return Prepared([signal], lambda x: module.to(device)(x)[0], expected)
