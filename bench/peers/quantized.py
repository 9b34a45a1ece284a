"""Quantized convolutions for peers: their numbers, what they must compute, and ONNX models of them.

Peers get activations as u8, which their fastest units want: a workload of i8 is the same one with all numbers and zero points 128
higher. Zero points are 0, as behind a ReLU, which spares peers the sums of weights. kiln's kernels serve any zero point.
"""

import dataclasses
import os

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

INPUT_SCALE, WEIGHT_SCALE = 0.02, 0.01

# Where oneDNN, OpenVINO's too, is kept to these, it adds pairs of products in 16 bits, which saturate. Weights of 7 bits give sums that do
# not, so that its numbers are right and it has a time.
SATURATES = os.environ.get("ONEDNN_MAX_CPU_ISA", "").upper() in ("SSE41", "AVX", "AVX2", "AVX512_CORE")
LARGEST_WEIGHT = 64 if SATURATES else 127


@dataclasses.dataclass
class Scales:
    input: float
    weights: np.ndarray  # of each output channel
    output: float

    def of_sums(self) -> np.ndarray:
        return self.input * self.weights / self.output


@dataclasses.dataclass
class QuantizedOperands:
    x: np.ndarray  # N H W C, u8
    k: np.ndarray  # R S Ci/g Co, i8
    bias: np.ndarray | None  # i32
    scales: Scales
    dy: None = None  # gradients have no quantized form

    @staticmethod
    def random(input: list[int], kernel: list[int], has_bias: bool) -> "QuantizedOperands":
        """Results spread over their whole range, about half of them clamped to 0."""
        rng = np.random.default_rng(1)
        terms = kernel[0] * kernel[1] * kernel[2]
        weights = np.float32(WEIGHT_SCALE) * rng.uniform(0.5, 1.5, kernel[3]).astype(np.float32)
        spread = INPUT_SCALE * WEIGHT_SCALE * 147 * 74 * np.sqrt(terms)
        bias = rng.integers(-1000, 1000, kernel[3]).astype(np.int32) if has_bias else None
        return QuantizedOperands(rng.integers(0, 256, input).astype(np.uint8),
                                 rng.integers(-LARGEST_WEIGHT, LARGEST_WEIGHT + 1, kernel).astype(np.int8), bias,
                                 Scales(INPUT_SCALE, weights, float(spread / 100)))


def expected(operands: QuantizedOperands, terms: np.ndarray, channel: int) -> float:
    """The result that is the sum of `terms`, before it is rounded."""
    total = terms.sum() + (0 if operands.bias is None else int(operands.bias[channel]))
    return float(np.clip(total * float(operands.scales.of_sums()[channel]), 0, 255))


def is_near(got: float, value: float) -> bool:
    """Libraries round at different places, which moves a value near a half by one quantum."""
    return abs(got - value) <= 1.001


MOVES = ("Flatten", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze")


def output_quanta(model: onnx.ModelProto) -> dict[str, float]:
    """By how much neighbouring numbers of an output differ: of those that a network quantizes and, perhaps, dequantizes again."""
    constants = {tensor.name: tensor for tensor in model.graph.initializer}
    producers = {name: node for node in model.graph.node for name in node.output}
    quanta = {}
    for output in model.graph.output:
        node = producers.get(output.name)
        while node is not None and node.op_type in MOVES:
            node = producers.get(node.input[0])
        if node is None:
            continue
        if node.op_type == "QuantizeLinear" or node.op_type.startswith("QLinear"):
            quanta[output.name] = 1.0
        elif node.op_type == "DequantizeLinear" and node.input[1] in constants:
            quanta[output.name] = float(np.max(numpy_helper.to_array(constants[node.input[1]])))
    return quanta


def constants(operands: QuantizedOperands) -> dict[str, np.ndarray]:
    scales = operands.scales
    arrays = {"x_scale": np.float32(scales.input), "x_zero": np.uint8(0), "w_scale": scales.weights,
              "y_scale": np.float32(scales.output), "y_zero": np.uint8(0),
              "weights": np.ascontiguousarray(operands.k.transpose(3, 2, 0, 1)),
              "w_zero": np.zeros(operands.k.shape[3], np.int8)}
    if operands.bias is not None:
        arrays["bias"] = operands.bias
        arrays["bias_scale"] = (np.float32(scales.input) * scales.weights).astype(np.float32)
    return {name: np.asarray(array) for name, array in arrays.items()}


def attributes(c) -> dict:
    return {"kernel_shape": c.kernel[:2], "strides": c.strides, "dilations": c.dilation, "group": c.groups,
            "pads": [p[end] for end in (0, 1) for p in c.padding]}


def model_of(nodes: list, input_shape: list[int], output_shape: list[int], arrays: dict) -> onnx.ModelProto:
    used = {name for node in nodes for name in node.input}
    graph = helper.make_graph(
        nodes, "layer", [helper.make_tensor_value_info("x", TensorProto.UINT8, input_shape)],
        [helper.make_tensor_value_info("y", TensorProto.UINT8, output_shape)],
        [numpy_helper.from_array(array, name) for name, array in arrays.items() if name in used])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def qlinear_model(c, operands: QuantizedOperands) -> onnx.ModelProto:
    """One node, from NHWC to NHWC."""
    arrays = constants(operands)
    inputs = ["x", "x_scale", "x_zero", "weights", "w_scale", "w_zero", "y_scale", "y_zero"]
    node = helper.make_node("QLinearConv", inputs + (["bias"] if "bias" in arrays else []), ["y"], domain="com.microsoft",
                            channels_last=1, **attributes(c))
    return model_of([node], c.input, c.output, arrays)


def qdq_model(c, operands: QuantizedOperands, is_nhwc: bool) -> onnx.ModelProto:
    """The convolution between operators that dequantize and quantize, which libraries look for."""
    arrays = constants(operands)
    nodes = [helper.make_node("DequantizeLinear", ["inner_x", "x_scale", "x_zero"], ["real_x"]),
             helper.make_node("DequantizeLinear", ["weights", "w_scale", "w_zero"], ["real_w"], axis=0)]
    inputs = ["real_x", "real_w"]
    if "bias" in arrays:
        nodes.append(helper.make_node("DequantizeLinear", ["bias", "bias_scale"], ["real_bias"], axis=0))
        inputs.append("real_bias")
    nodes += [helper.make_node("Conv", inputs, ["real_y"], **attributes(c)),
              helper.make_node("QuantizeLinear", ["real_y", "y_scale", "y_zero"], ["inner_y"])]
    n, h, w, ci = c.input
    _, ho, wo, co = c.output
    if is_nhwc:
        nodes = [helper.make_node("Transpose", ["x"], ["inner_x"], perm=[0, 3, 1, 2]), *nodes,
                 helper.make_node("Transpose", ["inner_y"], ["y"], perm=[0, 2, 3, 1])]
        return model_of(nodes, c.input, c.output, arrays)
    nodes[0].input[0], nodes[-1].output[0] = "x", "y"
    return model_of(nodes, [n, ci, h, w], [n, co, ho, wo], arrays)
