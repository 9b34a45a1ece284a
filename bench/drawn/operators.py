"""Operators with random attributes. Each reads values of a drawing and answers the names of its results."""

import numpy
from drawing import Drawing, Unfit
from onnx import TensorProto

ACTIVATIONS = (
    ("Relu", {}), ("Relu", {}), ("Sigmoid", {}), ("Tanh", {}), ("LeakyRelu", {"alpha": 0.1}), ("LeakyRelu", {"alpha": 1.5}),
    ("Elu", {"alpha": 0.5}), ("Selu", {}), ("HardSigmoid", {"alpha": 0.2, "beta": 0.5}), ("HardSwish", {}), ("Softplus", {}),
    ("Softsign", {}), ("ThresholdedRelu", {"alpha": 0.3}), ("Celu", {"alpha": 0.7}), ("Mish", {}), ("Gelu", {"approximate": "none"}),
    ("Gelu", {"approximate": "tanh"}), ("Abs", {}), ("Neg", {}), ("Exp", {}), ("Floor", {}), ("Ceil", {}), ("Sign", {}), ("Erf", {}),
    ("Sin", {}), ("Cos", {}), ("Atan", {}), ("Round", {}), ("Shrink", {"lambd": 0.4, "bias": 0.1}), ("Identity", {}), ("Hardmax", {}),
)  # fmt: skip
REDUCTIONS = ("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL2", "ReduceL1", "ReduceSumSquare", "ReduceLogSumExp", "ReduceProd")


def factors(d: Drawing, extent: int) -> int:
    return d.choose(*[number for number in (1, 2, 3, 4, extent) if extent % number == 0])


def positive(d: Drawing, value: str, least: float) -> str:
    return d.node("Add", d.node("Abs", value), d.float(least))


def padding(d: Drawing, window: list[int], most: int = 2) -> dict:
    if d.happens(0.25):
        return {"auto_pad": d.choose("SAME_UPPER", "SAME_LOWER", "VALID")}
    axes = range(2 * len(window))
    return {"pads": [d.choose(0, min(1, most), min(window[i % len(window)] // 2, most)) for i in axes]} if d.happens(0.7) else {}


def convolution(d: Drawing) -> str:
    x = d.value(3, 4, 4, 5)
    channels, axes = d.shapes[x][1], len(d.shapes[x]) - 2
    groups = d.choose(1, factors(d, channels))
    outputs = groups * d.choose(1, 2, 3, 5) if groups > 1 else d.choose(1, 2, 3, 4, 7, 8, 16, 17, 24)
    window = [d.choose(1, 1, 3, 3, 2, 5) for _ in range(axes)]
    attributes = {"strides": [d.choose(1, 1, 2, 3) for _ in range(axes)], **padding(d, window)}
    if "auto_pad" not in attributes and d.happens(0.3):
        attributes["dilations"] = [d.choose(1, 2) for _ in range(axes)]
    bias = [d.floats([outputs])] if d.happens(0.6) else []
    return d.node("Conv", x, d.floats([outputs, channels // groups, *window], -0.7, 0.7), *bias, group=groups, **attributes)


def transposed_convolution(d: Drawing) -> str:
    x = d.value(3, 4)
    channels, axes = d.shapes[x][1], len(d.shapes[x]) - 2
    groups, outputs = d.choose(1, factors(d, channels)), d.choose(1, 2, 3, 8)
    window, strides = [d.choose(1, 2, 3, 4) for _ in range(axes)], [d.choose(1, 2, 3) for _ in range(axes)]
    attributes: dict = {"strides": strides}
    if d.happens(0.5):
        attributes["pads"] = [d.choose(0, 1) if window[i % axes] > 1 else 0 for i in range(2 * axes)]
    if d.happens(0.3):
        attributes["output_padding"] = [d.random.randrange(stride) for stride in strides]
    bias = [d.floats([outputs * groups])] if d.happens(0.5) else []
    return d.node("ConvTranspose", x, d.floats([channels, outputs, *window], -0.7, 0.7), *bias, group=groups, **attributes)


def pool(d: Drawing) -> str:
    x = d.value(3, 4, 4, 5)
    window = [d.choose(1, 2, 2, 3, 3, 4) for _ in d.shapes[x][2:]]
    kind = d.choose("MaxPool", "AveragePool", "AveragePool", "LpPool")
    attributes = {"kernel_shape": window, "strides": [d.choose(1, 2, 2, 3) for _ in window]}
    attributes |= {"pads": [d.random.randrange(window[i % len(window)]) for i in range(2 * len(window))]} if d.happens(0.5) else {}
    if kind != "LpPool" and d.happens(0.3):
        attributes["ceil_mode"] = 1
    if kind == "AveragePool" and d.happens(0.5):
        attributes["count_include_pad"] = 1
    return d.node(kind, x, **attributes)


def global_pool(d: Drawing) -> str:
    return d.node(d.choose("GlobalAveragePool", "GlobalMaxPool"), d.value(4))


def activation(d: Drawing) -> str:
    kind, attributes = d.choose(*ACTIVATIONS)
    return d.node(kind, d.value(), **attributes)


def of_positive(d: Drawing) -> str:
    return d.node(d.choose("Log", "Sqrt", "Reciprocal"), positive(d, d.value(), 0.3))


def slopes(d: Drawing) -> str:
    x = d.value(3, 4)
    return d.node("PRelu", x, d.floats(d.choose([1], [d.shapes[x][1]] + [1] * (len(d.shapes[x]) - 2)), -0.5, 0.5))


def clip(d: Drawing) -> str:
    low, high = sorted(d.random.uniform(-1, 1) for _ in range(2))
    if d.opset < 11:
        return d.node("Clip", d.value(), **d.some(min=low, max=high))
    return d.node("Clip", d.value(), d.float(low) if d.happens(0.8) else "", d.float(high) if d.happens(0.8) else "")


def two_values(d: Drawing) -> str:
    x = d.value()
    shape = d.shapes[x]
    alike = [n for n, s in d.shapes.items() if n != x and len(s) == len(shape) and all(a == b or 1 in (a, b) for a, b in zip(s, shape))]
    y = d.choose(*alike) if alike and d.happens(0.6) else d.floats([extent if d.happens(0.6) else 1 for extent in shape])
    kind = d.choose("Add", "Add", "Mul", "Mul", "Sub", "Div", "Max", "Min", "Pow", "Mean", "Sum", "Where")
    if kind == "Div":
        return d.node(kind, x, positive(d, y, 0.5))
    if kind == "Pow":
        return d.node(kind, positive(d, x, 0.1), d.float(d.choose(2, 0.5, 3, -1, 1.7)))
    if kind == "Where":
        condition = d.node(d.choose("Less", "Greater", "GreaterOrEqual", "LessOrEqual", "Equal"), x, y)
        return d.node(kind, condition, d.choose(x, y), d.choose(x, y))
    return d.node(kind, *d.choose((x, y), (y, x)))


def normalization(d: Drawing) -> str:
    x = d.value(4)
    channels, kind = d.shapes[x][1], d.choose("BatchNormalization", "BatchNormalization", "InstanceNormalization", "LRN", "LpNormalization")
    if kind == "BatchNormalization":
        return d.node(kind, x, d.floats([channels], 0.5, 1.5), d.floats([channels]), d.floats([channels]), d.floats([channels], 0.3, 2))
    if kind == "InstanceNormalization":
        return d.node(kind, x, d.floats([channels]), d.floats([channels]))
    if kind == "LRN":
        return d.node(kind, x, size=d.choose(1, 2, 3, 5), alpha=0.1, bias=d.choose(1.0, 2.0))
    return d.node(kind, d.node("Add", x, d.float(3)), axis=d.random.randrange(-4, 4), p=d.choose(1, 2))


def layer_normalization(d: Drawing) -> str:
    x = d.value()
    axis = d.random.randrange(len(d.shapes[x]))
    if d.opset < 17:  # ONNX Runtime has it in any opset
        raise Unfit
    return d.node("LayerNormalization", x, d.floats(d.shapes[x][axis:]), axis=axis)


def softmax(d: Drawing) -> str:
    x = d.value()
    return d.node(d.choose("Softmax", "LogSoftmax"), x, axis=d.random.randrange(len(d.shapes[x])))


def reduction(d: Drawing) -> str:
    x, kind = d.value(), d.choose(*REDUCTIONS)
    rank = len(d.shapes[x])
    axes = d.random.sample(range(rank), d.random.randrange(1, rank + 1))
    axes = [axis - rank if d.opset >= 11 and d.happens(0.3) else axis for axis in axes]
    if (kind == "ReduceSum" and d.opset >= 13) or d.opset >= 18:
        return d.node(kind, x, d.integers(*axes), keepdims=1)
    return d.node(kind, x, axes=axes, keepdims=d.choose(0, 1) if len(axes) < rank else 1)


def place_of_extreme(d: Drawing) -> str:
    x = d.value()
    last = {"select_last_index": d.choose(0, 1)} if d.opset >= 12 else {}
    place = d.node(d.choose("ArgMax", "ArgMin"), x, axis=d.random.randrange(len(d.shapes[x])), **last)
    return d.node("Cast", place, to=TensorProto.FLOAT)


def concat(d: Drawing) -> str:
    x = d.value()
    shape, axis = d.shapes[x], d.random.randrange(len(d.shapes[x]))
    alike = [n for n, s in d.shapes.items() if len(s) == len(shape) and s[:axis] + s[axis + 1 :] == shape[:axis] + shape[axis + 1 :]]
    return d.node("Concat", *[d.choose(*alike) for _ in range(d.choose(1, 2, 2, 3))], x, axis=axis)


def split(d: Drawing) -> list[str]:
    x = d.value()
    axis = d.random.randrange(len(d.shapes[x]))
    if d.opset >= 18 and d.happens(0.5):  # the last part may be smaller
        count = d.choose(2, 3, 4)
        return d.parts("Split", count, x, axis=d.choose(axis, axis - len(d.shapes[x])), num_outputs=count)
    first = d.random.randrange(1, d.shapes[x][axis])
    sizes = [first, d.shapes[x][axis] - first]
    return d.parts("Split", 2, x, d.integers(*sizes), axis=axis) if d.opset >= 13 else d.parts("Split", 2, x, axis=axis, split=sizes)


def slices(d: Drawing) -> str:
    x = d.value()
    axis = d.random.randrange(len(d.shapes[x]))
    extent = d.shapes[x][axis]
    begin, end = d.random.randrange(-extent, extent), d.choose(2**31 - 1, -(2**31), d.random.randrange(-extent, extent + 3))
    if d.opset < 10:
        return d.node("Slice", x, axes=[axis], starts=[begin], ends=[end])
    axis = d.choose(axis, axis - len(d.shapes[x]))
    return d.node("Slice", x, d.integers(begin), d.integers(end), d.integers(axis), d.integers(d.choose(1, 1, 2, -1, -2, 3)))


def pad(d: Drawing) -> str:
    x, mode = d.value(), d.choose("constant", "constant", "constant", "reflect", "edge")
    shape = d.shapes[x]
    pads = [min(d.choose(0, 0, 1, 2), shape[i % len(shape)] - 1) for i in range(2 * len(shape))]
    if mode == "constant" and d.happens(0.3):
        pads[d.random.randrange(len(pads))] = -1
    if d.opset < 11:
        return d.node("Pad", x, pads=pads, mode=mode, **({"value": 1.5} if mode == "constant" and d.happens(0.5) else {}))
    return d.node("Pad", x, d.integers(*pads), *([d.float(d.choose(1.5, -1))] if mode == "constant" and d.happens(0.5) else []), mode=mode)


def transpose(d: Drawing) -> str:
    x = d.value()
    return d.node("Transpose", x, perm=d.random.sample(range(len(d.shapes[x])), len(d.shapes[x])))


def reshape(d: Drawing) -> str:
    x = d.value()
    shape = d.shapes[x]
    axis = d.random.randrange(len(shape))
    if d.happens(0.3):
        return d.node("Flatten", x, axis=axis)
    if d.happens(0.4) and axis + 1 < len(shape):
        return d.node("Reshape", x, d.integers(*shape[:axis], shape[axis] * shape[axis + 1], *shape[axis + 2 :]))
    first = factors(d, shape[axis])
    if len(shape) > 4:
        raise Unfit
    return d.node("Reshape", x, d.integers(*shape[:axis], first, shape[axis] // first, *shape[axis + 1 :]))


def product(d: Drawing) -> str:
    x = d.value(2, 3, 4, 5)
    inner, rank = d.shapes[x][-1], len(d.shapes[x])
    if d.happens(0.5):
        return d.node("MatMul", x, d.floats([inner, d.choose(1, 3, 8, 17)], -0.6, 0.6))
    if rank == 2:
        return d.node("Gemm", x, d.floats([5, inner], -0.6, 0.6), d.floats([5]), transB=1, alpha=d.choose(1.0, 0.5))
    turned = d.node("Transpose", x, perm=[*range(rank - 2), rank - 1, rank - 2])
    return d.node("MatMul", *d.choose((x, turned), (turned, x)))


def resize(d: Drawing) -> str:
    x, mode = d.value(4), d.choose("nearest", "linear", "cubic")
    places = d.choose("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel")
    attributes = {"nearest_mode": d.choose("floor", "ceil", "round_prefer_floor", "round_prefer_ceil")} if mode == "nearest" else {}
    numbers = [1.0, 1.0, d.choose(2.0, 1.5, 0.5, 3.0, 0.7), d.choose(2.0, 1.5, 0.5, 1.0)]
    if d.opset < 9:
        return d.node("Upsample", x, mode=d.choose("nearest", "linear"), scales=[max(number, 1.0) for number in numbers])
    scales = d.constant(numpy.float32(numbers))
    if d.opset < 11:
        return d.node("Resize" if d.opset == 10 else "Upsample", x, scales, mode=d.choose("nearest", "linear"))
    return d.node("Resize", x, "", scales, mode=mode, coordinate_transformation_mode=places, **attributes)


def moved_channels(d: Drawing) -> str:
    x, way = d.value(4), d.choose("DepthToSpace", "SpaceToDepth", "shuffle")
    if way == "DepthToSpace":
        return d.node(way, x, blocksize=2, mode=d.choose("DCR", "CRD"))
    if way == "SpaceToDepth":
        return d.node(way, x, blocksize=2)
    images, channels, *plane = d.shapes[x]
    groups = factors(d, channels)
    apart = d.node("Reshape", x, d.integers(images, groups, channels // groups, *plane))
    return d.node("Reshape", d.node("Transpose", apart, perm=[0, 2, 1, 3, 4]), d.integers(*d.shapes[x]))


def gate(d: Drawing) -> str:
    x = d.value(4)
    channels, inner = d.shapes[x][1], max(1, d.shapes[x][1] // 2)
    y = d.node("Conv", d.node("GlobalAveragePool", x), d.floats([inner, channels, 1, 1]), d.floats([inner]))
    y = d.node("Conv", d.node("Relu", y), d.floats([channels, inner, 1, 1]))
    return d.node("Mul", x, d.node(d.choose("Sigmoid", "HardSigmoid"), y))


def inverted_residual(d: Drawing) -> str:
    x = d.value(4)
    channels = d.shapes[x][1]
    wide = channels * d.choose(1, 2, 3)
    y = d.node("Relu", d.node("Conv", x, d.floats([wide, channels, 1, 1], -0.4, 0.4), d.floats([wide])))
    y = d.node("Conv", y, d.floats([wide, 1, 3, 3], -0.4, 0.4), d.floats([wide]), group=wide, pads=[1, 1, 1, 1])
    y = d.node("Conv", d.node("Clip", y, d.float(0), d.float(6)), d.floats([channels, wide, 1, 1], -0.4, 0.4))
    return d.node("Add", x, y)


def gather(d: Drawing) -> str:
    x = d.value(2, 3, 4)
    axis = d.random.randrange(len(d.shapes[x]))
    places = d.numbers.integers(-d.shapes[x][axis], d.shapes[x][axis], d.choose((2,), (3,), ()))
    return d.node("Gather", x, d.constant(numpy.asarray(places, numpy.int64)), axis=axis)


def repeated(d: Drawing) -> str:
    x = d.value()
    return d.node("Tile", x, d.integers(*[d.choose(1, 1, 2) for _ in d.shapes[x]]))


def four_axes(d: Drawing) -> str:
    x = d.value(0, 1, 2, 3)
    return d.node("Reshape", x, d.integers(*[1] * (4 - len(d.shapes[x])), *d.shapes[x]))


COMMON = {
    convolution: 12, transposed_convolution: 3, pool: 5, global_pool: 1, activation: 8, of_positive: 1, slopes: 2, clip: 2, two_values: 7,
    normalization: 5, layer_normalization: 1, softmax: 2, reduction: 2, place_of_extreme: 1, concat: 4, split: 2, slices: 2, pad: 3,
    transpose: 2, reshape: 3, product: 3, resize: 2, moved_channels: 3, gate: 2, inverted_residual: 2, gather: 1, repeated: 1, four_axes: 3,
}  # fmt: skip
