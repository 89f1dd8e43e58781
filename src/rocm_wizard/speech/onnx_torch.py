"""Runs a float ONNX graph as a torch module.

Integers that hold shapes stay on the CPU, so that a GPU is waited for once a sentence, where the number of frames is
computed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from onnx import ModelProto, NodeProto, helper, numpy_helper
from torch import Tensor, nn

from rocm_wizard.speech.onnx_fold import GraphError
from rocm_wizard.speech.onnx_operators import OPERATORS, Attributes, Operator

OPSET = 17


@dataclass(frozen=True)
class _Step:
    run: Operator
    op_type: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Attributes
    finished: tuple[str, ...]


class OnnxModule(nn.Module):
    """A float ONNX graph. Float weights are buffers, so `.to(device)` moves them."""

    def __init__(self, model: ModelProto) -> None:
        """Raises GraphError for another opset, an unknown operator, or a tensor that is used before it exists."""
        super().__init__()
        versions = {entry.domain: entry.version for entry in model.opset_import}
        if versions.get("") != OPSET:
            raise GraphError(f"opset {versions.get('')}, this interpreter knows {OPSET}")
        self.input_names = [value.name for value in model.graph.input]
        self.output_names = [value.name for value in model.graph.output]
        self._buffer_of: dict[str, str] = {}
        self._on_cpu: dict[str, Tensor] = {}
        for tensor in model.graph.initializer:
            self._keep(tensor.name, numpy_helper.to_array(tensor))
        nodes = self._without_constants(list(model.graph.node))
        self._steps = self._plan(nodes)

    def _keep(self, name: str, values: np.ndarray) -> None:
        tensor = torch.from_numpy(np.array(values))
        if tensor.is_floating_point():
            self._buffer_of[name] = f"weight_{len(self._buffer_of)}"
            self.register_buffer(self._buffer_of[name], tensor, persistent=False)
        else:
            self._on_cpu[name] = tensor

    def _without_constants(self, nodes: list[NodeProto]) -> list[NodeProto]:
        left: list[NodeProto] = []
        for node in nodes:
            if node.op_type == "Constant":
                self._keep(node.output[0], numpy_helper.to_array(node.attribute[0].t))
            else:
                left.append(node)
        return left

    def _plan(self, nodes: Sequence[NodeProto]) -> list[_Step]:
        last_use = {name: at for at, node in enumerate(nodes) for name in node.input if name}
        known = {*self.input_names, *self._buffer_of, *self._on_cpu}
        steps: list[_Step] = []
        for at, node in enumerate(nodes):
            run = OPERATORS.get(node.op_type)
            if run is None or node.domain:
                raise GraphError(f"operator {node.domain}{'.' if node.domain else ''}{node.op_type} is not known")
            missing = [name for name in node.input if name and name not in known]
            if missing:
                raise GraphError(f"{node.op_type} reads {missing[0]} before it exists")
            known.update(node.output)
            attributes = {entry.name: helper.get_attribute_value(entry) for entry in node.attribute}
            finished = tuple(
                name
                for name in {*node.input, *node.output}
                if last_use.get(name, at) == at and name not in self.output_names
            )
            steps.append(_Step(run, node.op_type, tuple(node.input), tuple(node.output), attributes, finished))
        absent = [name for name in self.output_names if name not in known]
        if absent:
            raise GraphError(f"nothing computes the output {absent[0]}")
        return steps

    @torch.inference_mode()
    def forward(self, inputs: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Run the graph. `inputs` by name, on the module's device; returns the outputs by name."""
        values: dict[str, Tensor] = dict(self._on_cpu)
        values.update((name, self.get_buffer(buffer)) for name, buffer in self._buffer_of.items())
        values.update((name, inputs[name]) for name in self.input_names)
        for step in self._steps:
            given = [values[name] if name else None for name in step.inputs]
            results = step.run(given, step.attributes)
            values.update(zip(step.outputs, results, strict=True))
            for name in step.finished:
                values.pop(name, None)
        return {name: values[name] for name in self.output_names}
