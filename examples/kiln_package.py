"""A package of `kiln build` from Python, through ctypes and numpy: the structures of kiln.h and the calls one needs.

    package = Package("dist/lib/libresnet50.so")
    layer = Layer(package.find("conv2d/input:1x56x56x64/kernel:3x3x64x64/padding:1,1x1,1"))
    layer.pack(weights)                     once; numpy arrays as stored, C-contiguous
    y = layer.run(x, output=numpy.empty((1, 56, 56, 64), numpy.float32))

    network = Network(package, "dist/lib/resnet50.weights")     of kiln build --network
    (y,) = network.run(x)
"""

import ctypes
import pathlib

import numpy

OK = 0
CONV, CONV_BACKPROP_INPUT, CONV_BACKPROP_KERNEL = 1, 2, 3
F32, F16, BF16, I8, I32, U8 = 1, 2, 3, 4, 5, 7  # bf16 has no dtype in numpy: pass its bits as uint16
DTYPES = {"float32": F32, "float16": F16, "uint16": BF16, "int8": I8, "int32": I32, "uint8": U8}
NETWORK_DTYPES = {F32: "float32", F16: "float16", BF16: "uint16", I8: "int8", I32: "int32", 6: "float64", 7: "uint8",
                  8: "int16", 9: "uint16", 10: "uint32", 11: "int64", 12: "uint64", 13: "bool"}  # fmt: skip
MAX_SPATIAL_RANK, MAX_RANK, MAX_EPILOGUE, MAX_LAYOUT_NAME = 3, 6, 8, 16

# Operands that say how the numbers of a quantized convolution are to be read.
QUANTIZATION = ("input_zero_point", "kernel_zero_point", "multiplier", "shift", "scale", "output_zero_point",
                "result_bounds", "addend_zero_point", "addition_multiplier", "addition_shift", "addition_factors",
                "addition_zero_point", "addition_bounds")  # fmt: skip

Sizes = ctypes.c_int64 * MAX_SPATIAL_RANK


class Status(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int32), ("operand", ctypes.c_int16), ("dimension", ctypes.c_int16),
                ("detail", ctypes.c_char_p)]


class EpilogueStep(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int32), ("lo", ctypes.c_float), ("hi", ctypes.c_float)]


class Descriptor(ctypes.Structure):
    """kiln_descriptor at its defaults, with what is given set: Descriptor(CONV, 2, batch=1, spatial=(56, 56), ...)."""

    _fields_ = [
        ("struct_size", ctypes.c_size_t), ("operation", ctypes.c_int32), ("spatial_rank", ctypes.c_int32),
        ("dtype", ctypes.c_int32), ("output_dtype", ctypes.c_int32),
        ("batch", ctypes.c_int64), ("spatial", Sizes), ("channels", ctypes.c_int64),
        ("kernel", Sizes), ("output_channels", ctypes.c_int64), ("strides", Sizes),
        ("padding_lo", Sizes), ("padding_hi", Sizes), ("lhs_dilation", Sizes), ("rhs_dilation", Sizes),
        ("feature_group_count", ctypes.c_int64), ("batch_group_count", ctypes.c_int64),
        ("input_layout", ctypes.c_int32), ("input_layout_block", ctypes.c_int32),
        ("output_layout", ctypes.c_int32), ("output_layout_block", ctypes.c_int32),
        ("kernel_layout", ctypes.c_int32), ("special_values", ctypes.c_int32),
        ("epilogue_count", ctypes.c_int32), ("reserved", ctypes.c_int32), ("epilogue", EpilogueStep * MAX_EPILOGUE),
        ("block", Sizes), ("from_layout", ctypes.c_char * MAX_LAYOUT_NAME), ("to_layout", ctypes.c_char * MAX_LAYOUT_NAME),
        ("tile", Sizes), ("output", Sizes), ("tile_dimensions", ctypes.c_int32 * 2), ("points", ctypes.c_int32),
        ("without_batch", ctypes.c_int32),
        ("nest", ctypes.c_uint64),
        ("kernel_dtype", ctypes.c_int32), ("kernel_zero_point", ctypes.c_int32),
        ("prologue_count", ctypes.c_int32), ("reserved_too", ctypes.c_int32), ("prologue", EpilogueStep * MAX_EPILOGUE),
        ("depthwise", Sizes),
    ]  # fmt: skip

    def __init__(self, operation, spatial_rank, **fields):
        ones = Sizes(*[1] * spatial_rank)
        super().__init__(struct_size=ctypes.sizeof(Descriptor), operation=operation, spatial_rank=spatial_rank, dtype=F32,
                         output_dtype=F32, strides=ones, lhs_dilation=ones, rhs_dilation=ones, feature_group_count=1,
                         batch_group_count=1, input_layout=1, output_layout=1, kernel_layout=1, special_values=1)  # fmt: skip
        self.tile_dimensions[1] = 1
        for name, value in fields.items():
            setattr(self, name, Sizes(*value) if isinstance(value, tuple) else value)


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("dtype", ctypes.c_int32), ("rank", ctypes.c_int32),
                ("shape", ctypes.c_int64 * MAX_RANK), ("strides", ctypes.c_int64 * MAX_RANK),
                ("device", ctypes.c_int32), ("reserved", ctypes.c_int32), ("stream", ctypes.c_void_p)]  # fmt: skip

    @classmethod
    def of(cls, array):
        if not array.flags.c_contiguous:
            raise ValueError("the array is not C-contiguous; numpy.ascontiguousarray makes it so")
        if array.dtype.name not in DTYPES or not array.dtype.isnative:
            raise ValueError(f"an array of {array.dtype.str}; kernels take {', '.join(DTYPES)} in this machine's byte order")
        tensor = cls(data=array.ctypes.data, dtype=DTYPES[array.dtype.name], rank=array.ndim)
        tensor.shape[: array.ndim] = array.shape
        return tensor


class Parallel(ctypes.Structure):
    _fields_ = [("run", ctypes.c_void_p), ("pool", ctypes.c_void_p), ("threads", ctypes.c_int)]


class Arguments(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("input", Tensor), ("weights", Tensor), ("bias", Tensor),
                ("addend", Tensor), ("output", Tensor), ("packed", ctypes.c_void_p), ("prepared", ctypes.c_void_p),
                ("packed_bytes", ctypes.c_size_t), ("prepared_bytes", ctypes.c_size_t), ("workspace", ctypes.c_void_p),
                ("workspace_bytes", ctypes.c_size_t), ("parallel", ctypes.POINTER(Parallel)),
                *[(f"operand_{i}", Tensor) for i in range(1, 8)], ("slope", Tensor),
                *[(name, Tensor) for name in QUANTIZATION], ("factor", Tensor), ("input_factor", Tensor),
                ("input_bias", Tensor), ("depthwise_kernel", Tensor)]  # fmt: skip


TENSORS = {name for name, kind in Arguments._fields_ if kind is Tensor}


class KernelInfo(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("key", ctypes.c_char_p), ("name", ctypes.c_char_p),
                ("candidate", ctypes.c_char_p), ("trial", ctypes.c_char_p), ("object_hash", ctypes.c_char_p),
                ("target", ctypes.c_char_p), ("tuned", ctypes.c_int32), ("threads", ctypes.c_int32),
                ("packed_bytes", ctypes.c_size_t), ("prepared_bytes", ctypes.c_size_t), ("alignment", ctypes.c_size_t),
                ("cpu_features", ctypes.c_uint64), ("median_ns", ctypes.c_double),
                ("workload", ctypes.POINTER(Descriptor)), ("place", ctypes.c_int32), ("reserved", ctypes.c_int32),
                ("why_place", ctypes.c_char_p)]  # fmt: skip


Handle = ctypes.c_void_p  # of a kernel or a package
Find = ctypes.CFUNCTYPE(Status, Handle, ctypes.POINTER(Descriptor), ctypes.c_uint64, ctypes.POINTER(Handle))
FindKey = ctypes.CFUNCTYPE(Status, Handle, ctypes.c_char_p, ctypes.c_uint64, ctypes.POINTER(Handle))
Call = ctypes.CFUNCTYPE(Status, Handle, ctypes.POINTER(Arguments))


class PackageTable(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("interface_version", ctypes.c_int32), ("reserved", ctypes.c_int32),
                ("name", ctypes.c_char_p), ("toolchain", ctypes.c_char_p), ("table", ctypes.c_void_p),
                ("cpu_features", ctypes.CFUNCTYPE(ctypes.c_uint64)), ("find", Find), ("find_key", FindKey),
                ("kernel_count", ctypes.CFUNCTYPE(ctypes.c_size_t, Handle)),
                ("kernel_at", ctypes.CFUNCTYPE(Handle, Handle, ctypes.c_size_t)),
                ("info", ctypes.CFUNCTYPE(ctypes.POINTER(KernelInfo), Handle)),
                ("workspace_bytes", ctypes.CFUNCTYPE(ctypes.c_size_t, Handle, ctypes.c_int)),
                ("pack", Call), ("prepare", Call), ("run", Call),
                ("pool_create", ctypes.CFUNCTYPE(Status, ctypes.c_int, ctypes.POINTER(Parallel))),
                ("pool_destroy", ctypes.CFUNCTYPE(None, ctypes.POINTER(Parallel))),
                ("manifest", ctypes.c_char_p)]  # fmt: skip


class Port(ctypes.Structure):
    """An input or output of a network: dense, row-major."""

    _fields_ = [("name", ctypes.c_char_p), ("dtype", ctypes.c_int32), ("rank", ctypes.c_int32),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("bytes", ctypes.c_size_t)]  # fmt: skip

    @property
    def numpy_dtype(self):
        return numpy.dtype(NETWORK_DTYPES[self.dtype])

    @property
    def extents(self):
        return tuple(self.shape[: self.rank]) if self.rank else ()


class NetworkVariant(ctypes.Structure):
    _fields_ = [("target", ctypes.c_char_p), ("cpu_features", ctypes.c_uint64), ("step_count", ctypes.c_size_t)]


class NetworkInfo(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("name", ctypes.c_char_p), ("plan", ctypes.c_char_p),
                ("input_count", ctypes.c_size_t), ("output_count", ctypes.c_size_t), ("inputs", ctypes.POINTER(Port)),
                ("outputs", ctypes.POINTER(Port)), ("variant_count", ctypes.c_size_t),
                ("variants", ctypes.POINTER(NetworkVariant)), ("weights_bytes", ctypes.c_size_t),
                ("weights_alignment", ctypes.c_size_t), ("weights", ctypes.c_void_p)]  # fmt: skip


class Weights(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("bytes", ctypes.c_size_t)]


class BoundNetwork(ctypes.Structure):
    _fields_ = [("memory", ctypes.c_uint64 * 8)]


class Observer(ctypes.Structure):
    _fields_ = [("after_step", ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_size_t)), ("context", ctypes.c_void_p)]  # fmt: skip


class NetworkArguments(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("inputs", ctypes.POINTER(ctypes.c_void_p)),
                ("outputs", ctypes.POINTER(ctypes.c_void_p)), ("workspace", ctypes.c_void_p),
                ("workspace_bytes", ctypes.c_size_t), ("parallel", ctypes.POINTER(Parallel)),
                ("observer", ctypes.POINTER(Observer))]  # fmt: skip


class NetworkTable(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("interface_version", ctypes.c_int32), ("reserved", ctypes.c_int32),
                ("package", ctypes.c_void_p), ("info", ctypes.POINTER(NetworkInfo)), ("table", ctypes.c_void_p),
                ("workspace_bytes", ctypes.CFUNCTYPE(ctypes.c_size_t, Handle, ctypes.c_int, ctypes.c_uint64)),
                ("map_weights", ctypes.CFUNCTYPE(Status, ctypes.c_char_p, ctypes.POINTER(Weights))),
                ("unmap_weights", ctypes.CFUNCTYPE(None, ctypes.POINTER(Weights))),
                ("bind", ctypes.CFUNCTYPE(Status, Handle, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint64,
                                          ctypes.POINTER(BoundNetwork))),
                ("variant", ctypes.CFUNCTYPE(ctypes.POINTER(NetworkVariant), ctypes.POINTER(BoundNetwork))),
                ("run", ctypes.CFUNCTYPE(Status, ctypes.POINTER(BoundNetwork),
                                         ctypes.POINTER(NetworkArguments))),
                ("load_weights", ctypes.CFUNCTYPE(Status, ctypes.c_char_p, ctypes.POINTER(Weights)))]  # fmt: skip


class KilnError(Exception):
    """A refused call; nothing was touched. `code` is that of kiln.h."""

    def __init__(self, status):
        super().__init__(status.detail.decode())
        self.code = status.code


def check(status):
    if status.code != OK:
        raise KilnError(status)


class Package:
    """A shared library of `kiln build`; its one symbol is called after its file, libNAME.so."""

    def __init__(self, library):
        path = pathlib.Path(library).resolve()
        self.library = ctypes.CDLL(str(path))
        self.name = path.name.removeprefix("lib").split(".")[0]
        function = getattr(self.library, self.name + "_package")
        function.restype = ctypes.POINTER(PackageTable)
        self.pointer = function()
        self.table = self.pointer.contents

    @property
    def manifest(self):
        return self.table.manifest.decode()

    def kernels(self):
        return [Kernel(self, self.table.kernel_at(self.pointer, i)) for i in range(self.table.kernel_count(self.pointer))]

    def find(self, workload):
        """The kernel of a key (str) or a Descriptor that suits this CPU best."""
        kernel = Handle()
        if isinstance(workload, str):
            status = self.table.find_key(self.pointer, workload.encode(), self.table.cpu_features(), kernel)
        else:
            status = self.table.find(self.pointer, workload, self.table.cpu_features(), kernel)
        check(status)
        return Kernel(self, kernel.value)


class Kernel:
    def __init__(self, package, handle):
        self.package, self.handle = package, handle

    @property
    def info(self):
        return self.package.table.info(self.handle).contents


class Pool:
    """Threads of its own, the calling one included; a context manager. After os.fork() the child's layers run on one
    thread, and leaving the context is safe there."""

    def __init__(self, package, threads):
        self.package, self.parallel = package, Parallel()
        check(package.table.pool_create(threads, self.parallel))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.package.table.pool_destroy(self.parallel)


class Layer:
    """A kernel with the memory that it needs."""

    def __init__(self, kernel, pool=None):
        self.kernel, self.table, info = kernel, kernel.package.table, kernel.info
        self.pool = pool
        self.arguments = Arguments(struct_size=ctypes.sizeof(Arguments))
        if pool:
            self.arguments.parallel = ctypes.pointer(pool.parallel)
        threads = pool.parallel.threads if pool else 1
        self.memory = {}
        for name, size in (("packed", info.packed_bytes), ("prepared", info.prepared_bytes),
                           ("workspace", self.table.workspace_bytes(kernel.handle, threads))):  # fmt: skip
            block = numpy.empty(size + info.alignment, numpy.uint8)
            self.memory[name] = block
            setattr(self.arguments, name, block.ctypes.data + -block.ctypes.data % info.alignment)
            setattr(self.arguments, name + "_bytes", size)

    def pack(self, weights):
        """Once for each set of weights."""
        self.memory["weights"] = weights  # kernels without a packed form read it in every run
        self.arguments.weights = Tensor.of(weights)
        check(self.table.pack(self.kernel.handle, self.arguments))

    def run(self, x, output, bias=None, addend=None, slope=None, **others):
        """Writes `output` and answers it. All arrays as stored; `others` by their names in kiln_arguments. Nothing but the
        weights stays from one call to the next: the arrays of an earlier one may be gone."""
        arrays = {"input": x, "output": output, "bias": bias, "addend": addend, "slope": slope, **others}
        if unknown := arrays.keys() - TENSORS:
            raise TypeError(f"kiln_arguments has no tensor {', '.join(sorted(unknown))}")
        arrays = {name: array for name, array in arrays.items() if array is not None}
        if "weights" in arrays:
            self.memory["weights"] = arrays["weights"]
        for name in TENSORS:
            if name in arrays:
                setattr(self.arguments, name, Tensor.of(arrays[name]))
            elif name != "weights":
                setattr(self.arguments, name, Tensor())
        check(self.table.prepare(self.kernel.handle, self.arguments))
        check(self.table.run(self.kernel.handle, self.arguments))
        return output


class Network:
    """The network of a package with its weights: a file, or None for those in the library. Each thread runs one of its own,
    or one after the other; the file is mapped, so that several share its memory. `function` is "prepare" for what prepares
    the inputs of a network that was built with --prepare-input; its weights are in the library."""

    def __init__(self, package, weights=None, function="network"):
        function = getattr(package.library, f"{package.name}_{function}")
        function.restype = ctypes.POINTER(NetworkTable)
        self.package, self.pointer = package, function()
        self.table, self.weights, self.bound = self.pointer.contents, Weights(), BoundNetwork()
        if weights is not None:
            check(self.table.map_weights(bytes(pathlib.Path(weights)), self.weights))
        features = package.table.cpu_features()
        check(self.table.bind(self.pointer, self.weights.data, self.weights.bytes, features, self.bound))

    def __del__(self):
        if hasattr(self, "weights"):
            self.table.unmap_weights(self.weights)

    @property
    def inputs(self):
        info = self.table.info.contents
        return info.inputs[: info.input_count]

    @property
    def outputs(self):
        info = self.table.info.contents
        return info.outputs[: info.output_count]

    def run(self, *inputs, pool=None):
        """The outputs for these arrays, which have the dtypes and shapes of `self.inputs`."""
        if len(inputs) != len(self.inputs):
            raise ValueError(f"{len(inputs)} inputs where the network has {len(self.inputs)}")
        for port, array in zip(self.inputs, inputs):
            if array.shape != port.extents or array.dtype != port.numpy_dtype or not array.flags.c_contiguous:
                raise ValueError(f"{port.name.decode()} needs a C-contiguous array of {port.numpy_dtype} {port.extents}")
        outputs = [numpy.empty(port.extents, port.numpy_dtype) for port in self.outputs]
        threads = pool.parallel.threads if pool else 1
        workspace_bytes = self.table.workspace_bytes(self.pointer, threads, self.package.table.cpu_features())
        workspace = numpy.empty(workspace_bytes, numpy.uint8)

        def pointers(arrays):
            return (ctypes.c_void_p * len(arrays))(*[array.ctypes.data for array in arrays])

        arguments = NetworkArguments(ctypes.sizeof(NetworkArguments), pointers(inputs), pointers(outputs),
                                     workspace.ctypes.data, workspace_bytes,
                                     ctypes.pointer(pool.parallel) if pool else None)  # fmt: skip
        check(self.table.run(self.bound, arguments))
        return outputs
