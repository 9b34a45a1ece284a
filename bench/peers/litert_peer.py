"""LiteRT (TensorFlow Lite) with its XNNPACK delegate, for quantized convolutions. The model is a file of its own format, made by the
classes that its package brings for it. Numbers are i8, 128 below those of the other peers.

Padding that its operators have no word for is an operator of its own, which XNNPACK takes into the convolution.
"""

import importlib.metadata
import os

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter

from peer_protocol import Convolution, Layer, Peer, Unsupported, serve
from quantized import QuantizedOperands

ZERO = -128  # of u8's 0


class Model:
    """Tensors, buffers and operators, by number."""

    def __init__(self) -> None:
        self.graph = schema.SubGraphT()
        self.graph.tensors, self.graph.operators = [], []
        self.buffers, self.codes = [schema.BufferT()], []

    def tensor(self, shape: list[int], kind: int, scales: list[float], data: np.ndarray | None = None, axis: int = 0,
               zero: int = 0) -> int:
        tensor = schema.TensorT()
        tensor.shape, tensor.type, tensor.buffer, tensor.name = shape, kind, 0, f"t{len(self.graph.tensors)}"
        if scales:
            tensor.quantization = schema.QuantizationParametersT()
            tensor.quantization.scale = scales
            tensor.quantization.zeroPoint = [zero] * len(scales)
            tensor.quantization.quantizedDimension = axis
        if data is not None:
            buffer = schema.BufferT()
            buffer.data = np.frombuffer(np.ascontiguousarray(data).tobytes(), np.uint8)
            tensor.buffer = len(self.buffers)
            self.buffers.append(buffer)
        self.graph.tensors.append(tensor)
        return len(self.graph.tensors) - 1

    def operator(self, code: int, version: int, inputs: list[int], output: int, options: object = None,
                 options_type: int = 0) -> None:
        known = schema.OperatorCodeT()
        known.builtinCode, known.deprecatedBuiltinCode, known.version = code, min(code, 127), version
        operator = schema.OperatorT()
        operator.opcodeIndex, operator.inputs, operator.outputs = len(self.codes), inputs, [output]
        operator.builtinOptions, operator.builtinOptionsType = options, options_type
        self.codes.append(known)
        self.graph.operators.append(operator)

    def packed(self, inputs: list[int], outputs: list[int]) -> bytes:
        self.graph.inputs, self.graph.outputs, self.graph.name = inputs, outputs, "layer"
        whole = schema.ModelT()
        whole.version, whole.operatorCodes, whole.subgraphs, whole.buffers = 3, self.codes, [self.graph], self.buffers
        builder = flatbuffers.Builder(1024)
        builder.Finish(whole.Pack(builder), b"TFL3")
        return bytes(builder.Output())


def pads_alike(c: Convolution) -> bool:
    """Whether the padding is that of SAME."""
    for d in range(2):
        out = -(-c.input[1 + d] // c.strides[d])
        all_of_it = max(0, (out - 1) * c.strides[d] + (c.kernel[d] - 1) * c.dilation[d] + 1 - c.input[1 + d])
        if list(c.padding[d]) != [all_of_it // 2, all_of_it - all_of_it // 2]:
            return False
    return True


def options_of(c: Convolution, padding: int) -> tuple[object, int]:
    is_depthwise = c.groups > 1
    options = schema.DepthwiseConv2DOptionsT() if is_depthwise else schema.Conv2DOptionsT()
    options.padding = padding
    (options.strideH, options.strideW), (options.dilationHFactor, options.dilationWFactor) = c.strides, c.dilation
    if is_depthwise:
        options.depthMultiplier = c.kernel[3] // c.groups
        return options, schema.BuiltinOptions.DepthwiseConv2DOptions
    return options, schema.BuiltinOptions.Conv2DOptions


def model_of(c: Convolution, operands: QuantizedOperands) -> bytes:
    model, scales = Model(), operands.scales
    i8, i32 = schema.TensorType.INT8, schema.TensorType.INT32
    x = source = model.tensor(c.input, i8, [scales.input], zero=ZERO)
    if is_same := pads_alike(c):
        padding = schema.Padding.SAME
    else:
        padding = schema.Padding.VALID
    if not is_same and any(p for pair in c.padding for p in pair):
        n, h, w, channels = c.input
        amounts = np.array([[0, 0], *c.padding, [0, 0]], np.int32)
        padded = [n, h + sum(c.padding[0]), w + sum(c.padding[1]), channels]
        source = model.tensor(padded, i8, [scales.input], zero=ZERO)
        at = model.tensor([4, 2], i32, [], amounts)
        model.operator(schema.BuiltinOperator.PAD, 2, [x, at], source, schema.PadOptionsT(), schema.BuiltinOptions.PadOptions)
    is_depthwise = c.groups > 1
    r, s, per_group, co = c.kernel
    weights = operands.k.reshape(1, r, s, co) if is_depthwise else operands.k.transpose(3, 0, 1, 2)
    of_weights = model.tensor(list(weights.shape), i8, [float(v) for v in scales.weights], weights, 3 if is_depthwise else 0)
    bias = operands.bias if operands.bias is not None else np.zeros(co, np.int32)
    of_bias = model.tensor([co], i32, [float(scales.input * v) for v in scales.weights], bias)
    y = model.tensor(c.output, i8, [scales.output], zero=ZERO)
    code = schema.BuiltinOperator.DEPTHWISE_CONV_2D if is_depthwise else schema.BuiltinOperator.CONV_2D
    model.operator(code, 3, [source, of_weights, of_bias], y, *options_of(c, padding))
    return model.packed([x], [y])


class LiteRt(Peer):
    name = "litert"
    version = importlib.metadata.version("ai-edge-litert")

    def prepare_quantized(self, c: Convolution, operands: QuantizedOperands, threads: int) -> Layer:
        if c.groups > 1 and c.kernel[2] != 1:
            raise Unsupported("groups of several channels")
        interpreter = Interpreter(model_content=model_of(c, operands), num_threads=threads)
        interpreter.allocate_tensors()
        at, to = interpreter.get_input_details()[0]["index"], interpreter.get_output_details()[0]["index"]
        interpreter.set_tensor(at, (operands.x.astype(np.int16) + ZERO).astype(np.int8))

        def result() -> np.ndarray:
            return interpreter.get_tensor(to).astype(np.int16) - ZERO

        return Layer(interpreter.invoke, result, "XNNPACK, NHWC")


if __name__ == "__main__":
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    serve(LiteRt)
