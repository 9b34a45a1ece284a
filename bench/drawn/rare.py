"""Attributes and forms of operators that few models have. Each reads values of a drawing and answers the names of its results."""

import math

import numpy
from drawing import Drawing, Unfit
from onnx import TensorProto


def since(d: Drawing, opset: int) -> None:
    if d.opset < opset:
        raise Unfit


def any_axis(d: Drawing, x: str) -> int:
    return d.random.randrange(-len(d.shapes[x]), len(d.shapes[x]))


def pool(d: Drawing) -> str:
    x, kind = d.value(3, 4, 5), d.choose("MaxPool", "AveragePool", "LpPool")
    window = [d.choose(1, 2, 3, 4) for _ in d.shapes[x][2:]]
    attributes: dict = {"kernel_shape": window, "strides": [d.choose(1, 2, 3) for _ in window]}
    if d.opset >= {"MaxPool": 10, "AveragePool": 19, "LpPool": 18}[kind] and d.happens(0.6):
        attributes["dilations"] = [d.choose(1, 2, 3) for _ in window]
    if d.opset >= {"MaxPool": 10, "AveragePool": 10, "LpPool": 18}[kind]:
        attributes["ceil_mode"] = d.choose(0, 1, 1)
    if "dilations" not in attributes and d.happens(0.3):  # ONNX Runtime pads for windows without holes
        attributes["auto_pad"] = d.choose("SAME_UPPER", "SAME_LOWER", "VALID")
    elif d.happens(0.7):
        attributes["pads"] = [d.random.randrange(extent) for extent in window * 2]
    if kind == "AveragePool":
        attributes["count_include_pad"] = d.choose(0, 1)
    if kind == "LpPool":
        attributes["p"] = d.choose(1, 2, 3)
    return d.node(kind, x, **attributes)


def global_pool(d: Drawing) -> str:
    kind = d.choose("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
    return d.node(kind, d.value(3, 4, 5), **({"p": d.choose(1, 2, 3)} if kind == "GlobalLpPool" else {}))


def transposed_convolution(d: Drawing) -> str:
    x = d.value(3, 4, 5)
    channels, axes = d.shapes[x][1], len(d.shapes[x]) - 2
    window, strides = [d.choose(1, 2, 3, 4) for _ in range(axes)], [d.choose(1, 2, 3) for _ in range(axes)]
    attributes: dict = {"strides": strides, "dilations": [d.choose(1, 1, 2) for _ in range(axes)]}
    way = d.choose("pads", "auto_pad", "output_shape", "output_padding")
    if way == "auto_pad":
        attributes["auto_pad"] = d.choose("SAME_UPPER", "SAME_LOWER", "VALID")
    elif way == "output_shape":
        reach = [(e - 1) * s + (w - 1) * g + 1 for e, s, w, g in zip(d.shapes[x][2:], strides, window, attributes["dilations"])]
        attributes["output_shape"] = [max(1, extent - d.choose(0, 1, 2, 3)) for extent in reach]
        attributes |= {"auto_pad": d.choose("SAME_UPPER", "SAME_LOWER")} if d.happens(0.5) else {}
    else:
        attributes["pads"] = [d.choose(0, 0, 1, 2) for _ in window * 2]
    if way == "output_padding":
        attributes["output_padding"] = [d.random.randrange(max(s, g)) for s, g in zip(strides, attributes["dilations"])]
    groups, outputs = d.choose(1, channels), d.choose(1, 2, 3)
    return d.node("ConvTranspose", x, d.floats([channels, outputs, *window]), group=groups, **attributes)


def resize(d: Drawing) -> str:
    since(d, 11)
    x, mode = d.value(3, 4, 5), d.choose("nearest", "linear", "cubic")
    shape = d.shapes[x]
    spatial = [1.0] * 2 + [d.choose(0.5, 0.6, 1, 1.3, 2, 2.5) if i < 2 or mode == "nearest" else 1.0 for i in range(len(shape) - 2)]
    places = d.choose("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel", "tf_crop_and_resize", "half_pixel_symmetric")
    attributes: dict = {"mode": mode, "coordinate_transformation_mode": places}
    part = ""
    if places == "tf_crop_and_resize":
        cut = [factor != 1 for factor in spatial]  # ONNX Runtime leaves an axis of scale 1 as it is
        starts, ends = [d.choose(0, 0.2, -0.3) * c for c in cut], [d.choose(1, 0.7, 1.2) if c else 1 for c in cut]
        part = d.constant(numpy.float32(starts + ends))
        attributes["extrapolation_value"] = d.choose(0.0, 2.5)
    if mode == "nearest":
        attributes["nearest_mode"] = d.choose("floor", "ceil", "round_prefer_floor", "round_prefer_ceil")
    if mode == "cubic":
        attributes |= {"cubic_coeff_a": d.choose(-0.5, -0.75), "exclude_outside": d.choose(0, 1)}
    if d.opset >= 18 and mode != "nearest" and d.happens(0.4):
        attributes["antialias"] = 1
    part = part or (d.constant(numpy.zeros(0, numpy.float32)) if d.opset < 13 else "")
    if d.happens(0.5):
        return d.node("Resize", x, part, d.constant(numpy.float32(spatial)), **attributes)
    sizes = [max(1, int(extent * factor)) for extent, factor in zip(shape, spatial)]
    if d.opset >= 18 and not part and d.happens(0.4):
        # ONNX Runtime does not keep the ratio of negative axes.
        attributes |= {"axes": [2, 3] if len(shape) > 3 else [2], "keep_aspect_ratio_policy": d.choose("stretch", "not_larger", "not_smaller")}
        sizes = sizes[2:4]
    empty = d.constant(numpy.zeros(0, numpy.float32)) if d.opset < 13 else ""
    return d.node("Resize", x, part, empty, d.integers(*sizes), **attributes)


def slices(d: Drawing) -> str:
    since(d, 10)
    x = d.value()
    axes = d.random.sample(range(len(d.shapes[x])), d.random.randrange(1, len(d.shapes[x]) + 1))
    starts, ends, steps = [], [], []
    for axis in axes:
        extent, step = d.shapes[x][axis], d.choose(1, 2, 3, -1, -2, 100, -100)
        starts.append(d.choose(0, 1, -1, extent, -extent - 3, 2**40, d.random.randrange(extent)))
        ends.append(d.choose(extent, -1, 2**62, -(2**62), d.random.randrange(extent)))
        steps.append(step)
    axes = [d.choose(axis, axis - len(d.shapes[x])) for axis in axes]
    return d.node("Slice", x, d.integers(*starts), d.integers(*ends), d.integers(*axes), d.integers(*steps))


def pad(d: Drawing) -> str:
    since(d, 11)
    x, modes = d.value(), ["constant", "reflect", "edge"] + ["wrap"] * (d.opset >= 19)
    mode, shape = d.choose(*modes), d.shapes[x]
    axes = list(range(len(shape)))
    if d.opset >= 18 and d.happens(0.6):
        axes = d.random.sample(axes, d.random.randrange(1, len(axes) + 1))
    pads = [d.choose(0, 0, 1, 2, -1, -2) for _ in axes * 2]
    if any(shape[axis] + min(pads[i], 0) + min(pads[i + len(axes)], 0) < 0 for i, axis in enumerate(axes)):
        raise Unfit  # more is cut off than there is
    fill = d.float(d.choose(1.5, -1)) if mode == "constant" and d.happens(0.5) else ""
    which = [d.integers(*[d.choose(axis, axis - len(shape)) for axis in axes])] if d.opset >= 18 else []
    return d.node("Pad", x, d.integers(*pads), fill, *which, mode=mode)


def reduction(d: Drawing) -> str:
    x = d.value()
    kind = d.choose("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL2", "ReduceL1", "ReduceLogSumExp", "ReduceProd", "ReduceSumSquare")
    keep = {"keepdims": d.choose(0, 1)}
    if d.opset >= 18 or (kind == "ReduceSum" and d.opset >= 13):
        way = d.choose("none", "empty", "noop")
        axes = [] if way == "none" else [d.constant(numpy.zeros(0, numpy.int64))]
        return d.node(kind, x, *axes, **keep, **({"noop_with_empty_axes": 1} if way == "noop" else {}))
    return d.node(kind, x, **keep)


def broadcast(d: Drawing) -> str:
    """Both operands are repeated, or a constant has more axes."""
    x = d.value()
    shape = d.shapes[x]
    other = [d.choose(1, extent) if extent > 1 else d.choose(1, 2, 3) for extent in shape]
    other = d.choose(other, other[d.random.randrange(len(other) + 1) :], [d.choose(1, 2), *other], [])
    y = d.floats(other, 0.5, 2)
    kind = d.choose("Add", "Sub", "Mul", "Div", "Max", "Min", "Pow", "PRelu", "Mod", "Expand", "Sum", "Where")
    if kind == "PRelu" and len(other) > len(shape):  # ONNX repeats slopes only
        raise Unfit
    if kind == "Expand":
        return d.node(kind, x, d.integers(*other))
    if kind == "Mod":
        since(d, 10)
        return d.node(kind, x, y, fmod=1)
    if kind == "Pow":
        return d.node(kind, d.node("Abs", x), y)
    if kind == "Where":
        since(d, 9)
        return d.node(kind, d.constant(d.numbers.random(other) < 0.5), *d.choose((x, y), (y, x)))
    if kind in ("Max", "Min", "Sum"):
        return d.node(kind, *d.random.sample([x, y, d.float(0.3)], d.choose(1, 2, 3)), x)
    return d.node(kind, *(d.choose((x, y), (y, x)) if kind in ("Add", "Sub", "Mul") else (x, y)))


def axes_of_one(d: Drawing) -> str:
    x = d.value()
    if d.happens(0.5):
        axes = sorted(d.random.sample(range(len(d.shapes[x]) + 1), d.choose(1, 1, 2) if d.shapes[x] else 1))
        return d.node("Unsqueeze", x, d.integers(*axes)) if d.opset >= 13 else d.node("Unsqueeze", x, axes=axes)
    if d.happens(0.3):
        return d.node("Squeeze", x)
    axes = [axis for axis, extent in enumerate(d.shapes[x]) if extent == 1]
    if not axes:
        raise Unfit
    axis = d.choose(*axes)
    return d.node("Squeeze", x, d.integers(axis - len(d.shapes[x]))) if d.opset >= 13 else d.node("Squeeze", x, axes=[axis])


def without_elements(d: Drawing) -> str:
    """Part of it has none."""
    x = d.value(1, 2, 3, 4)
    since(d, 13)
    axis = d.random.randrange(len(d.shapes[x]))
    none, whole = d.parts("Split", 2, x, d.integers(0, d.shapes[x][axis]), axis=axis)
    way = d.choose("Concat", "sum", "Pad")
    if way == "Concat":
        return d.node("Concat", d.node("Relu", none), whole, none, axis=axis)
    if way == "sum":
        return d.node("Add", whole, d.node("ReduceSum", none, d.integers(axis), keepdims=1))
    pads = [0] * (2 * len(d.shapes[x]))
    pads[axis] = 2
    return d.node("Pad", none, d.integers(*pads))


def recurrent(d: Drawing) -> str:
    kind, x = d.choose("RNN", "GRU", "LSTM"), d.value(3)
    gates = {"RNN": 1, "GRU": 3, "LSTM": 4}[kind]
    direction, hidden = d.choose("forward", "reverse", "bidirectional"), d.choose(1, 3, 8)
    ways, (steps, batch, inputs) = 2 if direction == "bidirectional" else 1, d.shapes[x]
    if steps > 16:
        raise Unfit
    parts = [d.floats([ways, gates * hidden, inputs]), d.floats([ways, gates * hidden, hidden])]
    parts.append(d.floats([ways, 2 * gates * hidden]) if d.happens(0.6) else "")
    parts.append(d.constant(numpy.full(batch, steps, numpy.int32)) if d.happens(0.2) else "")
    parts.append(d.floats([ways, batch, hidden]) if d.happens(0.5) else "")
    attributes: dict = {"hidden_size": hidden, "direction": direction}
    if kind == "LSTM":
        parts.append(d.floats([ways, batch, hidden]) if d.happens(0.5) else "")
        parts.append(d.floats([ways, 3 * hidden]) if d.happens(0.3) else "")
        attributes |= {"input_forget": 1} if d.happens(0.2) else {}
    if kind == "GRU":
        attributes["linear_before_reset"] = d.choose(0, 1)
    if d.happens(0.3):
        attributes["clip"] = d.choose(0.5, 2.0)
    if d.happens(0.3):
        functions = {"RNN": ["Relu"], "GRU": ["HardSigmoid", "Tanh"], "LSTM": ["Sigmoid", "Softsign", "Tanh"]}[kind]
        attributes["activations"] = functions * ways
    made = d.parts(kind, 3 if kind == "LSTM" else 2, x, *parts, **attributes)
    return made if d.happens(0.5) else made[1]


def elements(d: Drawing) -> str:
    """Gathers and scatters by elements, sums along an axis, triangles, einsum."""
    x = d.value(2, 3, 4)
    shape, axis = d.shapes[x], any_axis(d, x)
    kind = d.choose("GatherElements", "ScatterElements", "GatherND", "CumSum", "Trilu", "Einsum")
    if kind == "GatherElements":
        since(d, 11)
        return d.node(kind, x, d.constant(d.numbers.integers(-shape[axis], shape[axis], shape)), axis=axis)
    if kind == "ScatterElements":
        since(d, 11)
        places = numpy.stack([d.numbers.permutation(shape[axis]) for _ in range(math.prod(shape) // shape[axis])])
        places = numpy.moveaxis(places.reshape([*numpy.delete(shape, axis), shape[axis]]), -1, axis)
        updates = d.floats(shape)
        return d.node(kind, x, d.constant(places.astype(numpy.int64)), updates, axis=axis)
    if kind == "GatherND":
        since(d, 12)
        depth = d.random.randrange(1, len(shape) + 1)
        places = [d.numbers.integers(-extent, extent, (2, 3)) for extent in shape[:depth]]
        return d.node(kind, x, d.constant(numpy.stack(places, -1)))
    if kind == "CumSum":
        since(d, 11)
        return d.node(kind, x, d.constant(numpy.int64(axis)), exclusive=d.choose(0, 1), reverse=d.choose(0, 1))
    if kind == "Trilu":
        since(d, 14)
        return d.node(kind, x, d.constant(numpy.int64(d.choose(-2, 0, 1, 9))), upper=d.choose(0, 1))
    since(d, 12)
    return d.node(kind, x, d.floats([shape[-1], 4]), equation=d.choose("...i,ij->...j", "...i,ij->j...", "...i,ij->..."))


def normalization(d: Drawing) -> str:
    x = d.value(3, 4)
    shape, kind = d.shapes[x], d.choose("GroupNormalization", "MeanVarianceNormalization", "LayerNormalization", "LRN", "Softmax")
    if kind == "GroupNormalization":
        since(d, 21)
        groups = d.choose(*[n for n in range(1, shape[1] + 1) if shape[1] % n == 0])
        return d.node(kind, x, d.floats([shape[1]]), d.floats([shape[1]]), num_groups=groups)
    if kind == "MeanVarianceNormalization":  # ONNX Runtime makes NaN of equal numbers, as quantized ones may be
        since(d, 13)
        return d.node(kind, x, axes=d.random.sample(range(len(shape)), 2))
    if kind == "LayerNormalization":
        since(d, 17)
        axis = d.random.randrange(-len(shape), 0)
        return d.parts(kind, d.choose(1, 2, 3), x, d.floats(shape[axis:]), d.floats(shape[axis:]), axis=axis, epsilon=0.01)
    if kind == "LRN":
        return d.node(kind, x, size=d.choose(2, 4, 7), alpha=0.3, beta=d.choose(0.5, 0.75, 1.0))
    return d.node(d.choose("Softmax", "LogSoftmax", "Hardmax"), x, **d.some(axis=any_axis(d, x) if d.opset >= 11 else 1))


def product(d: Drawing) -> str:
    x = d.value(1, 2, 3, 4)
    inner, rank = d.shapes[x][-1], len(d.shapes[x])
    if rank == 2 and d.happens(0.6):
        turned, outer = d.choose(0, 1), d.choose(1, 4, 9)
        rows = d.shapes[x][1 if turned else 0]
        depth = d.shapes[x][0 if turned else 1]
        added = d.choose([], [outer], [1], [rows, 1], [1, outer], [rows, outer])
        bias = [d.floats(added)] if d.opset < 11 or d.happens(0.7) else []
        return d.node("Gemm", x, d.floats([outer, depth]), *bias, transA=turned, transB=1, alpha=d.choose(1.0, -0.5), beta=d.choose(1.0, 2.0))
    if d.happens(0.4):
        return d.node("MatMul", x, d.floats([inner]))
    if rank == 1:
        return d.node("MatMul", d.floats([d.choose(1, 3), inner]), x)
    return d.node("MatMul", d.floats([*d.choose([], [1], [2])[: rank - 2], 3, d.shapes[x][-2]]), x)


def integers(d: Drawing) -> str:
    """Through whole numbers or conditions and back."""
    x = d.value()
    number = d.node("Cast", d.node("Mul", x, d.float(40)), to=d.choose(TensorProto.INT32, TensorProto.INT64))
    kind = d.choose("conditions", "Abs", "Neg", "ReduceMax", "number")
    if kind == "conditions":
        since(d, 11)
        one, other = d.node("Less", x, d.float(0.1)), d.node("Greater", x, d.float(-0.2))
        both = d.node(d.choose("And", "Or", "Xor"), d.node("Not", one), other)
        return d.node("Cast", both, to=TensorProto.FLOAT)
    if kind == "ReduceMax":
        since(d, 12)
        number = d.node(kind, number, keepdims=1)
    elif kind != "number":
        number = d.node(kind, number)
    return d.node("Cast", number, to=TensorProto.FLOAT)


RARE = {
    pool: 6, global_pool: 2, transposed_convolution: 6, resize: 6, slices: 4, pad: 4, reduction: 2, broadcast: 6, axes_of_one: 3,
    without_elements: 2, recurrent: 4, elements: 4, normalization: 4, product: 4, integers: 2,
}  # fmt: skip
