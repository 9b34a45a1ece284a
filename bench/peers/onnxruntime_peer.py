"""onnxruntime. Its own graph optimizer chooses the layout and packs the weights; the reorders it puts around the
convolution are then taken out of the graph, so that the timed graph is the convolution alone, in blocked channels where
it works in them (NCHWc).
"""

import json
import pathlib
import statistics
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from network_profile import PROFILED_CALLS, WARM_CALLS, Spent
from peer_protocol import Convolution, Layer, Network, Operands, Peer, serve
from quantized import QuantizedOperands, qlinear_model

REORDERS = ("ReorderInput", "ReorderOutput")


def plain_model(c: Convolution, operands: Operands) -> onnx.ModelProto:
    constants = {"weights": np.ascontiguousarray(operands.k.transpose(3, 2, 0, 1))}
    if operands.bias is not None:
        constants["bias"] = operands.bias
    nodes = [
        helper.make_node("Conv", ["x", *constants], ["y"], kernel_shape=c.kernel[:2], strides=c.strides,
                         dilations=c.dilation, group=c.groups, pads=[p[end] for end in (0, 1) for p in c.padding])
    ]
    if c.relu:
        nodes.append(helper.make_node("Relu", ["y"], ["z"]))
    n, h, w, ci = c.input
    graph = helper.make_graph(
        nodes, "layer", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [n, ci, h, w])],
        [helper.make_tensor_value_info("z" if c.relu else "y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(value, name) for name, value in constants.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def session(model: onnx.ModelProto | str, threads: int, level: onnxruntime.GraphOptimizationLevel,
            save: str = "", profile: str = "") -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.graph_optimization_level = level
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "0" if threads == 1 else "1")
    if save:
        options.optimized_model_filepath = save
    if profile:
        options.enable_profiling = True
        options.profile_file_prefix = profile
    source = model if isinstance(model, str) else model.SerializeToString()
    return onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])


def optimized(model: onnx.ModelProto, threads: int) -> onnx.ModelProto:
    with tempfile.TemporaryDirectory() as folder:
        path = str(pathlib.Path(folder, "optimized.onnx"))
        session(model, threads, onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL, save=path)
        return onnx.load(path)


def without_reorders(model: onnx.ModelProto, c: Convolution) -> tuple[onnx.ModelProto, bool, bool]:
    """The convolution alone, and whether its input and its output are in blocked channels."""
    kept = [node for node in model.graph.node if node.op_type not in REORDERS]
    taken = {node.op_type for node in model.graph.node} & set(REORDERS)
    if len(kept) != 1:
        raise RuntimeError("the optimized graph is " + ", ".join(node.op_type for node in model.graph.node))
    weights = next(t for t in model.graph.initializer if t.name == kept[0].input[1])
    blocked_input, blocked_output = REORDERS[0] in taken, REORDERS[1] in taken
    _, h, w, ci = c.input
    n, ho, wo, co = c.output
    co = weights.dims[0] if blocked_output else co  # filled up to whole blocks
    graph = helper.make_graph(
        kept, "layer", [helper.make_tensor_value_info(kept[0].input[0], TensorProto.FLOAT, [n, ci, h, w])],
        [helper.make_tensor_value_info(kept[0].output[0], TensorProto.FLOAT, [n, co, ho, wo])],
        list(model.graph.initializer))
    alone = helper.make_model(graph, opset_imports=list(model.opset_import), ir_version=model.ir_version)
    return alone, blocked_input, blocked_output


def channels_in_a_block() -> int:
    """Of NCHWc: as many as a vector has floats."""
    return 16 if "avx512f" in pathlib.Path("/proc/cpuinfo").read_text() else 8


def spent_on_nodes(events: list[dict]) -> list[Spent]:
    """Medians over the runs of a profile."""
    runs: dict[str, list[float]] = {}
    for event in events:
        if event.get("cat") == "Node" and event["name"].endswith("_kernel_time"):
            runs.setdefault(event["name"].removesuffix("_kernel_time"), []).append(event["dur"] * 1e3)
    return [Spent([name], statistics.median(times[WARM_CALLS:])) for name, times in runs.items() if len(times) > WARM_CALLS]


class OnnxRuntime(Peer):
    name = "onnxruntime"
    version = onnxruntime.__version__

    def prepare(self, c: Convolution, operands: Operands, threads: int) -> Layer:
        model, blocked_input, blocked_output = without_reorders(optimized(plain_model(c, operands), threads), c)
        alone = session(model, threads, onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL)
        b = channels_in_a_block()
        n, h, w, ci = c.input
        _, ho, wo, co = c.output
        x = operands.x.transpose(0, 3, 1, 2)
        if blocked_input:  # its blocks are whole: it blocks no other input
            x = x.reshape(n, ci // b, b, h, w).transpose(0, 1, 3, 4, 2).reshape(n, ci, h, w)
        x = onnxruntime.OrtValue.ortvalue_from_numpy(np.ascontiguousarray(x))
        y_shape = list(alone.get_outputs()[0].shape)
        y = onnxruntime.OrtValue.ortvalue_from_shape_and_type(y_shape, np.float32)
        binding = alone.io_binding()
        binding.bind_ortvalue_input(alone.get_inputs()[0].name, x)
        binding.bind_ortvalue_output(alone.get_outputs()[0].name, y)

        def result() -> np.ndarray:
            got = y.numpy()
            if blocked_output:
                got = got.reshape(n, -1, ho, wo, b).transpose(0, 2, 3, 1, 4).reshape(n, ho, wo, -1)
                return got[..., :co]
            return got.transpose(0, 2, 3, 1)

        return Layer(lambda: alone.run_with_iobinding(binding), result, self.about(model, blocked_input, b))

    def prepare_quantized(self, c: Convolution, operands: QuantizedOperands, threads: int) -> Layer:
        """With channels last, as its optimizer rewrites quantized graphs for its own kernels."""
        alone = session(qlinear_model(c, operands), threads, onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL)
        x = onnxruntime.OrtValue.ortvalue_from_numpy(operands.x)
        y = onnxruntime.OrtValue.ortvalue_from_shape_and_type(c.output, np.uint8)
        binding = alone.io_binding()
        binding.bind_ortvalue_input("x", x)
        binding.bind_ortvalue_output("y", y)
        return Layer(lambda: alone.run_with_iobinding(binding), y.numpy, "com.microsoft.QLinearConv, NHWC")

    def prepare_network(self, model: str, inputs: dict[str, np.ndarray], threads: int) -> Network:
        whole = session(model, threads, onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL)
        names = [output.name for output in whole.get_outputs()]

        def bind_outputs(binding: onnxruntime.IOBinding) -> None:
            for name in names:
                binding.bind_output(name)  # kept by the session's arena from the first call on

        def bound(to: onnxruntime.InferenceSession) -> onnxruntime.IOBinding:
            binding = to.io_binding()
            for name, array in inputs.items():
                binding.bind_ortvalue_input(name, onnxruntime.OrtValue.ortvalue_from_numpy(array))
            bind_outputs(binding)
            return binding

        binding = bound(whole)
        whole.run_with_iobinding(binding)
        ranks = [len(output.shape()) for output in binding.get_outputs()]
        # Such outputs are refused where they are written again.
        misstates_ranks = ranks != [len(output.shape) for output in whole.get_outputs()]

        def run(to: onnxruntime.InferenceSession, binding: onnxruntime.IOBinding) -> None:
            if misstates_ranks:
                binding.clear_binding_outputs()
                bind_outputs(binding)
            to.run_with_iobinding(binding)

        def outputs() -> dict[str, np.ndarray]:
            return dict(zip(names, binding.copy_outputs_to_cpu()))

        def profile() -> list[Spent]:
            with tempfile.TemporaryDirectory() as folder:
                counted = session(model, threads, onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL,
                                  profile=str(pathlib.Path(folder, "profile")))
                to = bound(counted)
                for _ in range(WARM_CALLS + PROFILED_CALLS):
                    run(counted, to)
                return spent_on_nodes(json.loads(pathlib.Path(counted.end_profiling()).read_text()))

        return Network(lambda: run(whole, binding), outputs, "all graph optimizations", profile)

    @staticmethod
    def about(model: onnx.ModelProto, blocked_input: bool, block: int) -> str:
        node = model.graph.node[0]
        layout = f"NCHW{block}c" if blocked_input else "NCHW"
        return f"{node.domain or 'ai.onnx'}.{node.op_type}, input {layout}"


if __name__ == "__main__":
    serve(OnnxRuntime)
