"""Turns dynamically quantised matrix products of an ONNX graph into plain float ones.

onnxruntime's dynamic quantisation writes `DynamicQuantizeLinear(x) -> MatMulInteger(xq, Wq) -> Cast -> Mul(scales)`.
With `W = (Wq - zero_point) * scale` this is `MatMul(x, W)` but for the rounding of x to 8 bits.
"""

from collections import Counter
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from onnx import ModelProto, NodeProto, helper, numpy_helper


class GraphError(ValueError):
    """The graph holds something this reader does not know."""


@dataclass(frozen=True)
class _Pattern:
    """The nodes of one quantised product, and what it is made of."""

    product: NodeProto
    cast: NodeProto
    scales: NodeProto
    rescale: NodeProto
    values: str
    weight_scale: str


def fold_quantised_products(model: ModelProto) -> ModelProto:
    """A new model with float weights and no integer product; inputs and outputs keep their names.

    Raises GraphError for an integer product that is not part of the pattern above.
    """
    graph = model.graph
    stored = {tensor.name: tensor for tensor in graph.initializer}
    producers = {name: node for node in graph.node for name in node.output}
    readers: dict[str, list[NodeProto]] = {}
    for node in graph.node:
        for name in node.input:
            readers.setdefault(name, []).append(node)
    patterns = [_match(node, producers, readers) for node in graph.node if node.op_type == "MatMulInteger"]

    weights: dict[str, npt.NDArray[np.float32]] = {}
    replaced: dict[str, NodeProto] = {}
    dropped: set[str] = set()
    for found in patterns:
        name = f"{found.product.input[1]}.float"
        if name not in weights:
            quantised, zero = (numpy_helper.to_array(stored[found.product.input[at]]) for at in (1, 3))
            scale = numpy_helper.to_array(stored[found.weight_scale])
            weights[name] = ((quantised.astype(np.int32) - zero.astype(np.int32)) * scale).astype(np.float32)
        output = found.rescale.output[0]
        replaced[output] = helper.make_node("MatMul", [found.values, name], [output])
        dropped |= {found.product.output[0], found.cast.output[0], found.scales.output[0]}
    nodes = [replaced.get(node.output[0], node) for node in graph.node if node.output[0] not in dropped]
    return _rebuilt(model, nodes, weights)


def _match(product: NodeProto, producers: dict[str, NodeProto], readers: dict[str, list[NodeProto]]) -> _Pattern:
    quantiser = producers.get(product.input[0])
    cast = _only(readers.get(product.output[0], []), "Cast")
    rescale = _only(readers.get(cast.output[0], []), "Mul") if cast else None
    if quantiser is None or quantiser.op_type != "DynamicQuantizeLinear" or cast is None or rescale is None:
        raise GraphError(f"{product.name or product.output[0]}: an integer product outside the known pattern")
    other = rescale.input[1] if rescale.input[0] == cast.output[0] else rescale.input[0]
    scales = producers.get(other)
    if scales is None or scales.op_type != "Mul" or quantiser.output[1] not in scales.input:
        raise GraphError(f"{product.name or product.output[0]}: the scales of an integer product are not a plain Mul")
    weight_scale = scales.input[1] if scales.input[0] == quantiser.output[1] else scales.input[0]
    return _Pattern(product, cast, scales, rescale, quantiser.input[0], weight_scale)


def _only(nodes: list[NodeProto], op_type: str) -> NodeProto | None:
    return nodes[0] if len(nodes) == 1 and nodes[0].op_type == op_type else None


def _rebuilt(model: ModelProto, nodes: list[NodeProto], weights: dict[str, npt.NDArray[np.float32]]) -> ModelProto:
    used = Counter(name for node in nodes for name in node.input)
    # A quantiser that nobody reads any more goes too.
    nodes = [n for n in nodes if n.op_type != "DynamicQuantizeLinear" or any(name in used for name in n.output)]
    used = Counter(name for node in nodes for name in node.input)
    kept = [tensor for tensor in model.graph.initializer if tensor.name in used]
    made = [numpy_helper.from_array(values, name) for name, values in weights.items()]
    graph = helper.make_graph(nodes, model.graph.name, model.graph.input, model.graph.output, [*kept, *made])
    return helper.make_model(graph, opset_imports=model.opset_import, ir_version=model.ir_version)
