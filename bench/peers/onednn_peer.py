"""oneDNN through its C interface. All tensors are `any`: the layout that its best implementation wants; reorders are
done once, outside the clock.

The wheel is the SYCL build: its CPU device is Intel's OpenCL runtime, which it finds only by OCL_ICD_FILENAMES, and its
threads are that runtime's. Both are set before the library is loaded.
"""

import ctypes
import os
import pathlib
import sys

import numpy as np

from peer_protocol import FORWARD, INPUT_GRADIENT, KERNEL_GRADIENT, Convolution, Layer, Operands, Peer, serve
from quantized import QuantizedOperands

LIBRARIES = pathlib.Path(sys.prefix) / "lib"

# dnnl_types.h
DATA_TYPES = {"float32": 3, "int8": 5, "uint8": 6}
CPU = 1
IN_ORDER = 1
FORWARD_TRAINING, FORWARD_INFERENCE = 64, 96
CONVOLUTION_DIRECT = 1
ELTWISE_RELU = 0x20
FORMAT_ANY = 1
ALLOCATE = ctypes.c_void_p(-1)
SCALES_OF = 4096  # and the argument that is scaled
SRC, DST, WEIGHTS, BIAS, DIFF_SRC, DIFF_DST, DIFF_WEIGHTS = 1, 17, 33, 41, 129, 145, 161
QUERY_IMPLEMENTATION = 8
QUERY = {SRC: 129, DIFF_SRC: 130, WEIGHTS: 131, DIFF_WEIGHTS: 132, DST: 133, DIFF_DST: 134}
STATUS = {1: "out of memory", 2: "invalid arguments", 3: "unimplemented", 5: "runtime error"}


class Version(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int) for name in ("major", "minor", "patch")]


class Argument(ctypes.Structure):
    _fields_ = [("arg", ctypes.c_int), ("memory", ctypes.c_void_p)]


def argument_list(memories: "dict[int, Memory]") -> ctypes.Array:
    return (Argument * len(memories))(*[Argument(a, m.handle.value) for a, m in memories.items()])


def dims(values: list[int]) -> ctypes.Array:
    return (ctypes.c_int64 * 12)(*values)  # DNNL_MAX_NDIMS


class Memory:
    """A buffer of the library's, freed with this object."""

    def __init__(self, library: "Library", layout: ctypes.c_void_p):
        self.library = library
        self.handle = library.make("memory_create", layout, library.engine, ALLOCATE)

    def __del__(self) -> None:
        if hasattr(self, "handle"):
            self.library.do("memory_destroy", self.handle)


class Library:
    """libdnnl with statuses as exceptions. Buffers have an owner; the small things are freed with the process."""

    def __init__(self) -> None:
        self.dnnl = ctypes.CDLL(str(LIBRARIES / "libdnnl.so.3"))
        self.dnnl.dnnl_version.restype = ctypes.POINTER(Version)
        self.dnnl.dnnl_primitive_desc_query_md.restype = ctypes.c_void_p
        self.engine = self.make("engine_create", CPU, ctypes.c_size_t(0))
        self.stream = self.make("stream_create", self.engine, IN_ORDER)

    def version(self) -> str:
        v = self.dnnl.dnnl_version().contents
        return f"{v.major}.{v.minor}.{v.patch}"

    def do(self, function: str, *arguments: object) -> None:
        status = getattr(self.dnnl, "dnnl_" + function)(*arguments)
        if status:
            raise RuntimeError(f"dnnl_{function}: {STATUS.get(status, status)}")

    def make(self, function: str, *arguments: object) -> ctypes.c_void_p:
        result = ctypes.c_void_p()
        self.do(function, ctypes.byref(result), *arguments)
        return result

    def any_layout(self, array: np.ndarray) -> ctypes.c_void_p:
        """Of what has this shape and type."""
        return self.make("memory_desc_create_with_tag", array.ndim, dims(list(array.shape)), DATA_TYPES[array.dtype.name],
                         FORMAT_ANY)

    def layout_of(self, array: np.ndarray) -> ctypes.c_void_p:
        strides = [s // array.itemsize for s in array.strides]
        return self.make("memory_desc_create_with_strides", array.ndim, dims(list(array.shape)),
                         DATA_TYPES[array.dtype.name], dims(strides))

    def query(self, pd: ctypes.c_void_p, what: int) -> ctypes.c_void_p:
        return ctypes.c_void_p(self.dnnl.dnnl_primitive_desc_query_md(pd, what, 0))

    def implementation(self, pd: ctypes.c_void_p) -> str:
        text = ctypes.c_char_p()
        self.do("primitive_desc_query", pd, QUERY_IMPLEMENTATION, 0, ctypes.byref(text))
        return (text.value or b"").decode()

    def execute(self, primitive: ctypes.c_void_p, arguments: ctypes.Array) -> None:
        self.do("primitive_execute", primitive, self.stream, len(arguments), arguments)
        self.do("stream_wait", self.stream)

    def reorder(self, source: Memory, source_layout: ctypes.c_void_p, target: Memory,
                target_layout: ctypes.c_void_p) -> None:
        pd = self.make("reorder_primitive_desc_create", source_layout, self.engine, target_layout, self.engine, None)
        self.execute(self.make("primitive_create", pd), argument_list({SRC: source, DST: target}))

    def copy(self, memory: Memory, array: np.ndarray, to_array: bool) -> None:
        """Between dense C-ordered contents and an array."""
        address = ctypes.c_void_p()
        self.do("memory_map_data", memory.handle, ctypes.byref(address))
        here = array.ctypes.data_as(ctypes.c_void_p)
        pair = (here, address) if to_array else (address, here)
        ctypes.memmove(*pair, array.nbytes)
        self.do("memory_unmap_data", memory.handle, address)

    def upload(self, array: np.ndarray, layout: ctypes.c_void_p) -> Memory:
        array = np.ascontiguousarray(array)
        plain_layout = self.layout_of(array)
        plain, wanted = Memory(self, plain_layout), Memory(self, layout)
        self.copy(plain, array, to_array=False)
        self.reorder(plain, plain_layout, wanted, layout)
        return wanted

    def download(self, memory: Memory, layout: ctypes.c_void_p, like: np.ndarray) -> np.ndarray:
        array = np.empty(like.shape, like.dtype)
        plain_layout = self.layout_of(array)
        plain = Memory(self, plain_layout)
        self.reorder(memory, layout, plain, plain_layout)
        self.copy(plain, array, to_array=True)
        return array


class OneDnn(Peer):
    name = "onednn"
    operations = (FORWARD, INPUT_GRADIENT, KERNEL_GRADIENT)
    works_in_calling_thread = False  # a thread of the OpenCL runtime works, the caller waits

    def __init__(self) -> None:
        self.library = Library()
        self.version = self.library.version()

    def prepare(self, c: Convolution, operands: Operands, threads: int) -> Layer:
        attributes = self.library.make("primitive_attr_create")
        if c.relu:
            post = self.library.make("post_ops_create")
            self.library.do("post_ops_append_eltwise", post, ELTWISE_RELU, ctypes.c_float(0), ctypes.c_float(0))
            self.library.do("primitive_attr_set_post_ops", attributes, post)
        return self.layer_of(c, operands, operands.dy, attributes, {}, operands.bias)

    def prepare_quantized(self, c: Convolution, operands: QuantizedOperands, threads: int) -> Layer:
        """All scales together are those of the weights, one for each output channel; the bias is added behind them."""
        scales = operands.scales.of_sums().astype(np.float32)
        attributes = self.library.make("primitive_attr_create")
        mask = 3 if c.groups > 1 else 1
        self.library.do("primitive_attr_set_scales_mask", attributes, WEIGHTS, mask)
        bias = None if operands.bias is None else (operands.bias * scales).astype(np.float32)
        return self.layer_of(c, operands, np.empty(c.output, np.uint8), attributes, {SCALES_OF | WEIGHTS: scales}, bias)

    def layer_of(self, c: Convolution, operands: Operands | QuantizedOperands, y: np.ndarray, attributes: ctypes.c_void_p,
                 of_attributes: dict[int, np.ndarray], bias: np.ndarray | None) -> Layer:
        lib = self.library
        r, s, per_group, co = c.kernel
        grouped = [c.groups, co // c.groups, per_group, r, s] if c.groups > 1 else [co, per_group, r, s]
        source, output = operands.x.transpose(0, 3, 1, 2), y.transpose(0, 3, 1, 2)
        weights = operands.k.transpose(3, 2, 0, 1).reshape(grouped)  # (G) O I R S
        bias_layout = lib.layout_of(bias) if bias is not None else None
        pd = self.primitive_desc(c, [source, weights, output], bias_layout, attributes)
        inputs, result_argument, result_like = {
            FORWARD: ({SRC: source, WEIGHTS: weights}, DST, output),
            INPUT_GRADIENT: ({WEIGHTS: weights, DIFF_DST: output}, DIFF_SRC, source),
            KERNEL_GRADIENT: ({SRC: source, DIFF_DST: output}, DIFF_WEIGHTS, weights),
        }[c.op]
        result_layout = lib.query(pd, QUERY[result_argument])
        result_memory = Memory(lib, result_layout)
        arguments = {argument: lib.upload(array, lib.query(pd, QUERY[argument])) for argument, array in inputs.items()}
        arguments[result_argument] = result_memory
        for argument, array in of_attributes.items():
            arguments[argument] = lib.upload(array, lib.layout_of(array))
        if bias is not None:
            arguments[BIAS] = lib.upload(bias, bias_layout)
        primitive = lib.make("primitive_create", pd)
        list_of = argument_list(arguments)

        def call(kept: dict[int, Memory] = arguments) -> None:  # the list alone would not keep its buffers
            lib.execute(primitive, list_of)

        def result() -> np.ndarray:
            got = lib.download(result_memory, result_layout, result_like)
            if c.op == KERNEL_GRADIENT:
                return got.reshape(co, per_group, r, s).transpose(2, 3, 1, 0)
            return got.transpose(0, 2, 3, 1)

        return Layer(call, result, lib.implementation(pd))

    def primitive_desc(self, c: Convolution, tensors: list[np.ndarray], bias_layout: ctypes.c_void_p | None,
                       attributes: ctypes.c_void_p) -> ctypes.c_void_p:
        """`tensors` are like source, weights and output. A gradient wants the forward convolution as a hint."""
        lib = self.library
        source, weights, output = (lib.any_layout(tensor) for tensor in tensors)
        window = (dims(c.strides), dims([d - 1 for d in c.dilation]), dims([lo for lo, _ in c.padding]),
                  dims([hi for _, hi in c.padding]))
        forward = lib.make("convolution_forward_primitive_desc_create", lib.engine,
                           FORWARD_INFERENCE if c.op == FORWARD else FORWARD_TRAINING, CONVOLUTION_DIRECT, source,
                           weights, bias_layout, output, *window, attributes)
        if c.op == INPUT_GRADIENT:
            return lib.make("convolution_backward_data_primitive_desc_create", lib.engine, CONVOLUTION_DIRECT, source,
                            weights, output, *window, forward, attributes)
        if c.op == KERNEL_GRADIENT:
            return lib.make("convolution_backward_weights_primitive_desc_create", lib.engine, CONVOLUTION_DIRECT,
                            source, weights, None, output, *window, forward, attributes)
        return forward


def start_in_environment() -> None:
    """Libraries read the environment when they are loaded, some before main: start again with it set."""
    runtime = str(LIBRARIES / "libintelocl.so")
    if os.environ.get("OCL_ICD_FILENAMES") == runtime:
        return
    threads = str(len(os.sched_getaffinity(0)))
    os.environ.update(OCL_ICD_FILENAMES=runtime, ONEAPI_DEVICE_SELECTOR="opencl:cpu", DPCPP_CPU_NUM_CUS=threads,
                      LD_LIBRARY_PATH=str(LIBRARIES))
    os.execv(sys.executable, [sys.executable, *sys.argv])


if __name__ == "__main__":
    start_in_environment()
    serve(OneDnn)
