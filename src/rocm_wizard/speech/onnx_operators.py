"""The ONNX operators that the embedded voice's graph needs, on torch tensors.

Semantics are those of the ONNX operator specification, opset 17 (https://onnx.ai/onnx/operators/). An operator takes
its inputs (None where an optional one is absent) and attributes, and returns its outputs.
"""

from collections.abc import Callable, Mapping, Sequence

import torch
from onnx import TensorProto
from torch import Tensor
from torch.nn import functional

from rocm_wizard.speech.onnx_fold import GraphError

type Attributes = Mapping[str, object]
type Operator = Callable[[list[Tensor | None], Attributes], list[Tensor]]


def _integers(tensor: Tensor | None) -> list[int]:
    """The values of a shape or index tensor, as Python numbers."""
    if tensor is None:
        return []
    return [int(value) for value in tensor.reshape(-1).tolist()]


def _together(a: Tensor | None, b: Tensor | None) -> tuple[Tensor, Tensor]:
    """Both on one device: a CPU constant goes to the other's."""
    if a is None or b is None:
        raise GraphError("an operator misses an input")
    if a.device == b.device:
        return a, b
    return (a.to(b.device), b) if a.device.type == "cpu" else (a, b.to(a.device))


def _first(inputs: Sequence[Tensor | None]) -> Tensor:
    if not inputs or inputs[0] is None:
        raise GraphError("an operator misses an input")
    return inputs[0]


def _unary(function: Callable[[Tensor], Tensor]) -> Operator:
    return lambda inputs, _: [function(_first(inputs))]


def _binary(function: Callable[[Tensor, Tensor], Tensor]) -> Operator:
    return lambda inputs, _: [function(*_together(inputs[0], inputs[1]))]


def _divide(a: Tensor, b: Tensor) -> Tensor:
    return a / b if a.is_floating_point() else torch.div(a, b, rounding_mode="trunc")


_TYPES = {
    TensorProto.FLOAT: torch.float32,
    TensorProto.INT32: torch.int32,
    TensorProto.INT64: torch.int64,
    TensorProto.BOOL: torch.bool,
}


def _cast(inputs: list[Tensor | None], attributes: Attributes) -> list[Tensor]:
    kind = attributes["to"]
    if kind not in _TYPES:
        raise GraphError(f"Cast to element type {kind} is not known")
    return [_first(inputs).to(_TYPES[kind])]  # pyright: ignore[reportArgumentType]


def _clip(inputs: list[Tensor | None], _: Attributes) -> list[Tensor]:
    value, low, high = (*inputs, None, None)[:3]
    found = _first([value])
    if low is not None:
        found = torch.maximum(*_together(found, low))
    if high is not None:
        found = torch.minimum(*_together(found, high))
    return [found]


def _conv(inputs: list[Tensor | None], attributes: Attributes) -> list[Tensor]:
    value, weight, bias = (*inputs, None)[:3]
    value, weight = _together(value, weight)
    if weight.dim() != 3:
        raise GraphError("only one-dimensional Conv is known")
    left, right = _list(attributes.get("pads", [0, 0]))
    if left != right:
        value, left = functional.pad(value, (left, right)), 0
    (stride,) = _list(attributes.get("strides", [1]))
    (dilation,) = _list(attributes.get("dilations", [1]))
    (groups,) = _list([attributes.get("group", 1)])
    return [functional.conv1d(value, weight, bias, stride, left, dilation, groups)]


def _list(value: object) -> list[int]:
    if not isinstance(value, Sequence):
        raise GraphError(f"{value!r} is no list of integers")
    return [int(entry) for entry in value]


def _axis(attributes: Attributes, default: int) -> int:
    (axis,) = _list([attributes.get("axis", default)])
    return axis


def _cumulative_sum(inputs: list[Tensor | None], _: Attributes) -> list[Tensor]:
    (axis,) = _integers(inputs[1])
    return [torch.cumsum(_first(inputs), dim=axis)]


def _gather(inputs: list[Tensor | None], attributes: Attributes) -> list[Tensor]:
    value, index = _first(inputs), inputs[1]
    if index is None:
        raise GraphError("Gather misses its indices")
    axis = _axis(attributes, 0) % value.dim()
    index = index.to(value.device)
    index = torch.where(index < 0, index + value.shape[axis], index)
    found = value.index_select(axis, index.reshape(-1))
    return [found.reshape([*value.shape[:axis], *index.shape, *value.shape[axis + 1 :]])]


def _layer_norm(inputs: list[Tensor | None], attributes: Attributes) -> list[Tensor]:
    value, weight, bias = (*inputs, None)[:3]
    value = _first([value])
    if _axis(attributes, -1) not in (-1, value.dim() - 1):
        raise GraphError("only LayerNormalization over the last axis is known")
    epsilon = attributes.get("epsilon", 1e-5)
    return [functional.layer_norm(value, value.shape[-1:], weight, bias, float(epsilon))]  # pyright: ignore[reportArgumentType]


def _range(inputs: list[Tensor | None], _: Attributes) -> list[Tensor]:
    device = next((value.device for value in inputs if value is not None and value.device.type != "cpu"), None)
    (start,), (stop,), (step,) = (_integers(value) for value in inputs)
    return [torch.arange(start, stop, step, device=device)]


def _reduce_sum(inputs: list[Tensor | None], attributes: Attributes) -> list[Tensor]:
    value = _first(inputs)
    axes = _integers(inputs[1]) if len(inputs) > 1 else []
    keep = bool(attributes.get("keepdims", 1))
    return [value.sum(dim=axes or tuple(range(value.dim())), keepdim=keep)]


def _reshape(inputs: list[Tensor | None], attributes: Attributes) -> list[Tensor]:
    if attributes.get("allowzero", 0):
        raise GraphError("Reshape with allowzero is not known")
    value = _first(inputs)
    shape = [value.shape[at] if size == 0 else size for at, size in enumerate(_integers(inputs[1]))]
    return [value.reshape(shape)]


def _slice(inputs: list[Tensor | None], _: Attributes) -> list[Tensor]:
    value, starts, stops, axes, steps = (*inputs, None, None)[:5]
    value = _first([value])
    begins, ends = _integers(starts), _integers(stops)
    chosen = _integers(axes) or list(range(len(begins)))
    for begin, end, axis, step in zip(begins, ends, chosen, _integers(steps) or [1] * len(begins), strict=True):
        if step != 1:
            raise GraphError("Slice with a step is not known")
        index = [slice(None)] * value.dim()
        index[axis] = slice(begin, end)
        value = value[tuple(index)]
    return [value]


def _split(inputs: list[Tensor | None], attributes: Attributes) -> list[Tensor]:
    return list(torch.split(_first(inputs), _integers(inputs[1]), dim=_axis(attributes, 0)))


def _transpose(inputs: list[Tensor | None], attributes: Attributes) -> list[Tensor]:
    value = _first(inputs)
    return [value.permute(_list(attributes.get("perm", range(value.dim() - 1, -1, -1))))]


def _unsqueeze(inputs: list[Tensor | None], _: Attributes) -> list[Tensor]:
    value, axes = _first(inputs), _integers(inputs[1])
    size = value.dim() + len(axes)
    for axis in sorted(axis % size for axis in axes):
        value = value.unsqueeze(axis)
    return [value]


def _concat(inputs: list[Tensor | None], attributes: Attributes) -> list[Tensor]:
    given = [value for value in inputs if value is not None]
    return [torch.cat(given, dim=_axis(attributes, 0))]


OPERATORS: dict[str, Operator] = {
    "Add": _binary(torch.add),
    "Cast": _cast,
    "Clip": _clip,
    "Concat": _concat,
    "Conv": _conv,
    "CumSum": _cumulative_sum,
    "Div": _binary(_divide),
    "Erf": _unary(torch.erf),
    "Exp": _unary(torch.exp),
    "Gather": _gather,
    "GreaterOrEqual": _binary(torch.ge),
    "LayerNormalization": _layer_norm,
    "Log": _unary(torch.log),
    "MatMul": _binary(torch.matmul),
    "Mul": _binary(torch.mul),
    "Pow": _binary(torch.pow),
    "Range": _range,
    "ReduceSum": _reduce_sum,
    "Relu": _unary(torch.relu),
    "Reshape": _reshape,
    "Round": _unary(torch.round),
    "Shape": _unary(lambda value: torch.tensor(value.shape, dtype=torch.int64)),
    "Slice": _slice,
    "Softmax": lambda inputs, attributes: [torch.softmax(_first(inputs), dim=_axis(attributes, -1))],
    "Split": _split,
    "Sub": _binary(torch.sub),
    "Tile": lambda inputs, _: [_first(inputs).repeat(_integers(inputs[1]))],
    "Transpose": _transpose,
    "Unsqueeze": _unsqueeze,
}
