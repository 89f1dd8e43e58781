"""The ONNX interpreter against ONNX's own reference evaluator and against onnxruntime."""

import json
from pathlib import Path

import hibari
import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from rocm_wizard.speech.onnx_fold import GraphError, fold_quantised_products
from rocm_wizard.speech.onnx_torch import OnnxModule

ASSETS = Path(hibari.__file__).parent / "assets"
R = np.random.default_rng(3)


def model_of(nodes: list[NodeProto], constants: dict[str, np.ndarray], opset: int = 17) -> ModelProto:
    stored = [numpy_helper.from_array(values, name) for name, values in constants.items()]
    graph = helper.make_graph(
        nodes,
        "test",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, None)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        stored,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def run_torch(model: ModelProto, x: np.ndarray) -> np.ndarray:
    return OnnxModule(model)({"x": torch.from_numpy(x)})["y"].numpy()


def run_reference(model: ModelProto, x: np.ndarray) -> np.ndarray:
    return np.asarray(ReferenceEvaluator(model).run(None, {"x": x})[0])  # pyright: ignore[reportArgumentType]


def f32(*shape: int) -> np.ndarray:
    return R.standard_normal(shape).astype(np.float32)


def i64(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


@pytest.mark.parametrize(
    ("node", "x", "constants"),
    [
        (helper.make_node("Div", ["x", "c"], ["y"]), i64(7, -7, 6), {"c": i64(2, 2, -4)}),
        (helper.make_node("Div", ["x", "c"], ["y"]), f32(2, 3), {"c": np.float32(3.0)}),
        (helper.make_node("Round", ["x"], ["y"]), np.array([0.5, 1.5, 2.5, -0.5, -1.5], np.float32), {}),
        (helper.make_node("Clip", ["x", "c"], ["y"]), f32(9), {"c": np.float32(0.1)}),
        (helper.make_node("Clip", ["x", "", "c"], ["y"]), f32(9), {"c": np.float32(0.1)}),
        (helper.make_node("Gather", ["x", "c"], ["y"], axis=1), f32(2, 5, 3), {"c": i64(-1, 0, 2, 2)}),
        (helper.make_node("Gather", ["x", "c"], ["y"]), f32(4, 2), {"c": np.array([[0, 3], [1, -4]])}),
        (helper.make_node("Gather", ["x", "c"], ["y"], axis=2), f32(2, 5, 3), {"c": np.int64(1)}),
        (helper.make_node("Reshape", ["x", "c"], ["y"]), f32(2, 3, 4), {"c": i64(0, -1)}),
        (helper.make_node("Slice", ["x", "a", "b", "c"], ["y"]), f32(3, 8), {"a": i64(-5), "b": i64(99), "c": i64(-1)}),
        (helper.make_node("Slice", ["x", "a", "b"], ["y"]), f32(3, 8), {"a": i64(1, 2), "b": i64(-1, 6)}),
        (helper.make_node("Unsqueeze", ["x", "c"], ["y"]), f32(2, 3), {"c": i64(-1, 0)}),
        (helper.make_node("Transpose", ["x"], ["y"], perm=[1, 2, 0]), f32(2, 3, 4), {}),
        (helper.make_node("Transpose", ["x"], ["y"]), f32(2, 3, 4), {}),
        (helper.make_node("CumSum", ["x", "c"], ["y"]), f32(2, 5), {"c": np.int64(1)}),
        (helper.make_node("ReduceSum", ["x", "c"], ["y"], keepdims=0), f32(2, 5), {"c": i64(1)}),
        (helper.make_node("ReduceSum", ["x"], ["y"], keepdims=1), f32(2, 5), {}),
        (helper.make_node("Tile", ["x", "c"], ["y"]), f32(2, 2), {"c": i64(1, 3)}),
        (helper.make_node("Softmax", ["x"], ["y"], axis=1), f32(2, 5, 3), {}),
        (helper.make_node("Pow", ["x", "c"], ["y"]), np.abs(f32(4)), {"c": np.float32(0.5)}),
        (helper.make_node("Cast", ["x"], ["y"], to=TensorProto.INT64), np.array([1.9, -1.9], np.float32), {}),
        (helper.make_node("GreaterOrEqual", ["x", "c"], ["y"]), i64(1, 2, 3), {"c": i64(2)}),
        (helper.make_node("Shape", ["x"], ["y"]), f32(4, 7), {}),
        (helper.make_node("Concat", ["x", "c"], ["y"], axis=1), f32(2, 3), {"c": f32(2, 1)}),
        (
            helper.make_node("Conv", ["x", "w", "b"], ["y"], pads=[2, 2], dilations=[2], group=2),
            f32(1, 4, 9),
            {"w": f32(6, 2, 3), "b": f32(6)},
        ),
        (helper.make_node("Conv", ["x", "w"], ["y"], pads=[3, 1], strides=[2]), f32(1, 2, 9), {"w": f32(3, 2, 5)}),
        (
            helper.make_node("LayerNormalization", ["x", "w", "b"], ["y"], epsilon=1e-3),
            f32(2, 3, 8),
            {"w": f32(8), "b": f32(8)},
        ),
    ],
    ids=lambda value: value.op_type if isinstance(value, NodeProto) else "",
)
def test_operators_do_what_the_reference_does(node: NodeProto, x: np.ndarray, constants: dict[str, np.ndarray]) -> None:
    model = model_of([node], constants)
    found, expected = run_torch(model, x), run_reference(model, x)
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (model_of([helper.make_node("Gelu", ["x"], ["y"])], {}), "operator Gelu is not known"),
        (model_of([helper.make_node("Relu", ["x"], ["y"], domain="com.example")], {}), "com.example.Relu"),
        (model_of([helper.make_node("Relu", ["x"], ["y"])], {}, opset=18), "opset 18"),
        (model_of([helper.make_node("Relu", ["z"], ["y"])], {}), "reads z before it exists"),
        (model_of([helper.make_node("Relu", ["x"], ["z"])], {}), "nothing computes the output y"),
    ],
)
def test_a_graph_that_it_does_not_know_is_refused_at_once(model: ModelProto, reason: str) -> None:
    with pytest.raises(GraphError, match=reason):
        OnnxModule(model)


def quantised_product(zero_point: int) -> ModelProto:
    nodes = [
        helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
        helper.make_node("Mul", ["s", "ws"], ["scales"]),
        helper.make_node("MatMulInteger", ["q", "w", "z", "wz"], ["i"]),
        helper.make_node("Cast", ["i"], ["f"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["f", "scales"], ["y"]),
    ]
    weights = R.integers(-127, 127, (16, 4)).astype(np.int8)
    return model_of(nodes, {"w": weights, "ws": np.array(0.02, np.float32), "wz": np.array(zero_point, np.int8)})


@pytest.mark.parametrize("zero_point", [0, 5, -9])
def test_folding_keeps_the_product_but_for_the_rounding_of_its_input(zero_point: int) -> None:
    model = quantised_product(zero_point)
    folded = fold_quantised_products(model)
    assert [node.op_type for node in folded.graph.node] == ["MatMul"]
    x = f32(3, 16)
    # One step of the 8-bit scale: half for the value's own rounding, half for the zero point's.
    step = (max(float(x.max()), 0.0) - min(float(x.min()), 0.0)) / 255
    bound = step * np.abs(numpy_helper.to_array(folded.graph.initializer[0])).sum(axis=0)
    difference = np.abs(run_torch(folded, x) - run_reference(model, x))
    assert bool((difference <= bound * 1.01).all())
    assert float(difference.max()) > 0


def test_an_integer_product_outside_the_pattern_is_refused() -> None:
    model = quantised_product(0)
    del model.graph.node[3:]
    with pytest.raises(GraphError, match="outside the known pattern"):
        fold_quantised_products(model)


def session(model: ModelProto) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 2
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def test_the_voice_is_what_onnxruntime_computes() -> None:
    """Against the folded graph to rounding; against the quantised original as far as eight bits go."""
    original = onnx.load(str(ASSETS / "hibari.onnx"))
    folded = fold_quantised_products(original)
    onnx.checker.check_model(folded)
    module = OnnxModule(folded)
    assert sum(buffer.numel() for buffer in module.buffers()) == pytest.approx(6.15e6, rel=0.01)
    numbers = json.loads((ASSETS / "vocab.json").read_text(encoding="utf-8"))
    ids = np.array([[0, *(numbers[c] for c in "ðə kwˈɪk bɹˈWn fˈɑks ʤˈʌmps ˈOvəɹ ðə lˈAzi dˈɔɡ."), 0]])
    given = {"ids": ids, "speed": np.ones(1, np.float32)}
    found = {k: v.numpy() for k, v in module({k: torch.from_numpy(v) for k, v in given.items()}).items()}
    exact = dict(zip(module.output_names, session(folded).run(None, given), strict=True))
    rounded = dict(zip(module.output_names, session(original).run(None, given), strict=True))
    for name, values in exact.items():
        limit = 1e-3 if name == "f0" else 1e-4  # f0 is in Hz, up to 300
        assert float(np.abs(found[name] - np.asarray(values)).max()) < limit, name
    pitch, rounded_pitch = found["f0"][0], np.asarray(rounded["f0"])[0]
    assert abs(pitch.size - rounded_pitch.size) <= 0.02 * rounded_pitch.size
    assert float(np.median(pitch)) == pytest.approx(float(np.median(rounded_pitch)), rel=0.02)
