"""OpenVINO's CPU plugin. Activations outside are NHWC or NCHW, whichever gives the faster call: with NHWC the plugin
mostly runs the convolution in place and its reorders do nothing. Where it does reorder in both, that is counted, since
it cannot be asked for its inner layout; `about` names the implementation.
"""

import statistics

import numpy as np
import openvino
from openvino import opset13 as ops

from network_profile import Spent
from peer_protocol import FORWARD, INPUT_GRADIENT, Convolution, Layer, Network, Operands, Peer, serve, warm_up
from quantized import QuantizedOperands, qdq_model

TO_NCHW, TO_NHWC = (0, 3, 1, 2), (0, 2, 3, 1)


def convolved(c: Convolution, y: openvino.Node, weights: np.ndarray) -> openvino.Node:
    lo, hi = [p[0] for p in c.padding], [p[1] for p in c.padding]
    window = (c.strides, lo, hi, c.dilation)
    co, per_group, r, s = weights.shape
    if c.groups > 1:
        weights = weights.reshape(c.groups, co // c.groups, per_group, r, s)
    constant = ops.constant(weights)
    if c.op == INPUT_GRADIENT:
        backprop = ops.group_convolution_backprop_data if c.groups > 1 else ops.convolution_backprop_data
        extents = ops.constant(np.array(c.input[1:3]))
        return backprop(y, constant, c.strides, extents, pads_begin=lo, pads_end=hi, dilations=c.dilation)
    return (ops.group_convolution if c.groups > 1 else ops.convolution)(y, constant, *window)


def model(c: Convolution, operands: Operands, is_nhwc: bool) -> openvino.Model:
    n, h, w, channels = c.output if c.op == INPUT_GRADIENT else c.input
    x = ops.parameter([n, h, w, channels] if is_nhwc else [n, channels, h, w], np.float32)
    y = ops.transpose(x, ops.constant(np.array(TO_NCHW))) if is_nhwc else x
    y = convolved(c, y, np.ascontiguousarray(operands.k.transpose(3, 2, 0, 1)))
    if operands.bias is not None:
        y = ops.add(y, ops.constant(operands.bias.reshape(1, -1, 1, 1)))
    if c.relu:
        y = ops.relu(y)
    if is_nhwc:
        y = ops.transpose(y, ops.constant(np.array(TO_NHWC)))
    return openvino.Model([y], [x])


def implementation(compiled: openvino.CompiledModel) -> str:
    for node in compiled.get_runtime_model().get_ordered_ops():
        info = node.get_rt_info()
        if any(kind in info["layerType"].astype(str) for kind in ("Convolution", "Deconvolution")):
            return info["primitiveType"].astype(str)
    return "no convolution left in the graph"


# Means are whole microseconds, so that the share of the last of many runs would be told by their rounding.
COUNTED_CALLS = 9


def median_run(means: list[float]) -> float:
    """Of the runs behind the first, from the means of all runs until each. A run that another process interrupted does not count."""
    totals = [mean * (k + 1) for k, mean in enumerate(means)]
    return max(0.0, statistics.median(after - before for before, after in zip(totals, totals[1:])))


def original_names(node: openvino.Node) -> list[str]:
    info = node.get_rt_info()
    names = info["originalLayersNames"].astype(str) if "originalLayersNames" in info else ""
    return names.split(",") if names else [node.get_friendly_name()]


class OpenVino(Peer):
    name = "openvino"
    operations = (FORWARD, INPUT_GRADIENT)

    def __init__(self) -> None:
        self.core = openvino.Core()
        self.version = openvino.__version__.split("-")[0]

    def prepare(self, c: Convolution, operands: Operands, threads: int) -> Layer:
        layers = [self.prepare_in(layout, c, operands, threads) for layout in ("NHWC", "NCHW")]
        return min(layers, key=lambda layer: warm_up(layer.call))

    def prepare_quantized(self, c: Convolution, operands: QuantizedOperands, threads: int) -> Layer:
        layers = []
        for is_nhwc in (True, False):
            read = self.core.read_model(qdq_model(c, operands, is_nhwc).SerializeToString())
            layers.append(self.layer_of(read, is_nhwc, operands.x, threads))
        return min(layers, key=lambda layer: warm_up(layer.call))

    @staticmethod
    def options(threads: int) -> dict:
        return {"INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "f32",
                "ENABLE_CPU_PINNING": False}

    def prepare_network(self, model: str, inputs: dict[str, np.ndarray], threads: int) -> Network:
        read = self.core.read_model(model)
        read.reshape({name: list(array.shape) for name, array in inputs.items()})
        compiled = self.core.compile_model(read, "CPU", self.options(threads))
        request = compiled.create_infer_request()
        for name, array in inputs.items():
            request.set_tensor(name, openvino.Tensor(array))  # a copy of its own: the array may go before the request

        def outputs() -> dict[str, np.ndarray]:
            return {name: request.get_tensor(output).data.copy() for output in compiled.outputs for name in output.names}

        def profile() -> list[Spent]:
            counted = self.core.compile_model(read, "CPU", {**self.options(threads), "PERF_COUNT": True})
            run = counted.create_infer_request()
            for name, array in inputs.items():
                run.set_tensor(name, openvino.Tensor(array))
            means: dict[str, list[float]] = {}  # of all runs until then
            for _ in range(COUNTED_CALLS):
                run.infer()
                for node in run.get_profiling_info():
                    means.setdefault(node.node_name, []).append(node.real_time.total_seconds() * 1e9)
            labels = {node.get_friendly_name(): original_names(node) for node in counted.get_runtime_model().get_ops()}
            return [Spent(labels.get(name, [name]), median_run(of_node)) for name, of_node in means.items() if of_node[-1] > 0]

        return Network(lambda: request.infer(), outputs, "whole model", profile)

    def prepare_in(self, layout: str, c: Convolution, operands: Operands, threads: int) -> Layer:
        is_nhwc = layout == "NHWC"
        x = operands.dy if c.op == INPUT_GRADIENT else operands.x
        return self.layer_of(model(c, operands, is_nhwc), is_nhwc, x, threads)

    def layer_of(self, whole: openvino.Model, is_nhwc: bool, x: np.ndarray, threads: int) -> Layer:
        """`x` is N H W C."""
        compiled = self.core.compile_model(whole, "CPU", self.options(threads))
        request = compiled.create_infer_request()
        if not is_nhwc:
            x = np.ascontiguousarray(x.transpose(TO_NCHW))
        y = np.empty(list(compiled.outputs[0].shape), x.dtype)
        # Tensors over arrays do not keep the arrays alive: `result` does.
        request.set_input_tensor(openvino.Tensor(x, shared_memory=True))
        request.set_output_tensor(openvino.Tensor(y, shared_memory=True))

        def result(kept: tuple[np.ndarray, np.ndarray] = (x, y)) -> np.ndarray:
            return kept[1] if is_nhwc else kept[1].transpose(TO_NHWC)

        return Layer(lambda: request.infer(), result, f"{implementation(compiled)}, {'NHWC' if is_nhwc else 'NCHW'}")


if __name__ == "__main__":
    serve(OpenVino)
