"""Operators with quantized numbers, as graphs that quantize and dequantize, or as nodes of integers."""

import numpy
from drawing import Drawing, Unfit
from operators import padding

STORED = ((numpy.int8, -128, 127), (numpy.uint8, 0, 255))


def scale(d: Drawing) -> float:
    return d.choose(0.02, 0.05, 0.0173, 0.1, 1 / 128, 0.031415927, 0.25)


def point(d: Drawing):
    """A zero point with its type: usual ones, both ends, and odd ones between."""
    kind, low, high = d.choose(*STORED)
    return d.constant(kind(d.choose(0, low, high, (low + high + 1) // 2, d.random.randint(low, high))))


def quantized(d: Drawing, value: str) -> str:
    if d.opset < 10:
        raise Unfit
    step, zero = d.float(scale(d)), point(d)
    return d.node("DequantizeLinear", d.node("QuantizeLinear", value, step, zero), step, zero)


def weights(d: Drawing, shape: list[int], axis: int) -> str:
    """Of one scale or of one for each channel, with or without a zero point."""
    kind, low, high = d.choose(*STORED, (numpy.int8, -127, 127))
    stored, count = d.constant(d.numbers.integers(low, high + 1, shape).astype(kind)), shape[axis]
    if d.opset < 13 or d.happens(0.3):
        zero = d.constant(kind(d.choose(0, 0, 3, (low + high + 1) // 2)))
        return d.node("DequantizeLinear", stored, d.float(d.random.uniform(0.002, 0.02)), zero)
    zero = d.constant(numpy.full(count, (low + high + 1) // 2 if d.happens(0.8) else low + 5, kind))
    return d.node("DequantizeLinear", stored, d.floats([count], 0.002, 0.02), zero, axis=axis)


def quantized_convolution(d: Drawing) -> str:
    x = d.value(3, 4, 4, 4, 5)
    channels, axes = d.shapes[x][1], len(d.shapes[x]) - 2
    window = [d.choose(1, 1, 3, 3, 2, 5) for _ in range(axes)] if d.happens(0.5) else [d.choose(1, 3)] * axes
    groups, outputs = d.choose((1, d.choose(1, 3, 4, 8, 16)), (channels, channels), (channels, 2 * channels))
    y = [quantized(d, x), weights(d, [outputs, channels // groups, *window], 0)]
    y += [d.floats([outputs])] if d.happens(0.6) else []
    if d.happens(0.5):
        attributes = {"pads": [extent // 2 for extent in window] * 2}
    else:
        attributes = padding(d, window)
    if "auto_pad" not in attributes and d.happens(0.2):
        attributes["dilations"] = [d.choose(1, 2) for _ in range(axes)]
    made = d.node("Conv", *y, group=groups, strides=[d.choose(1, 1, 2, 3) for _ in range(axes)], **attributes)
    return quantized(d, d.node("Relu", made) if d.happens(0.4) else made)


def quantized_product(d: Drawing) -> str:
    x = d.value(2, 3, 4)
    inner, outer = d.shapes[x][-1], d.choose(1, 3, 8, 17)
    if len(d.shapes[x]) == 2 and d.happens(0.5):
        bias = [d.floats([outer])] if d.happens(0.5) else []
        return quantized(d, d.node("Gemm", quantized(d, x), weights(d, [outer, inner], 0), *bias, transB=1))
    return quantized(d, d.node("MatMul", quantized(d, x), weights(d, [inner, outer], 1)))


def quantized_sum(d: Drawing) -> str:
    x = d.value()
    alike = [name for name, shape in d.shapes.items() if shape == d.shapes[x]]
    y = d.node(d.choose("Add", "Add", "Mul", "Concat"), quantized(d, x), quantized(d, d.choose(*alike)), **{})
    return quantized(d, y)


def quantized_pool(d: Drawing) -> str:
    x = d.value(4)
    if d.happens(0.3):
        return quantized(d, d.node("GlobalAveragePool", quantized(d, x)))
    kind, window = d.choose("MaxPool", "AveragePool"), [d.choose(1, 2, 3) for _ in range(2)]
    return quantized(d, d.node(kind, quantized(d, x), kernel_shape=window, strides=[d.choose(1, 2)] * 2, **padding(d, window, 1)))


def linear_convolution(d: Drawing) -> str:
    """QLinearConv, or ConvInteger, whose sums are scaled by hand."""
    x = d.value(4)
    if d.opset < 10:
        raise Unfit
    channels, outputs, window = d.shapes[x][1], d.choose(1, 3, 8), [d.choose(1, 3), d.choose(1, 2, 3)]
    step, zero = d.float(scale(d)), point(d)
    kind, low, high = d.choose(*STORED)
    stored = d.constant(d.numbers.integers(low, high + 1, (outputs, channels, *window)).astype(kind))
    number, middle = d.node("QuantizeLinear", x, step, zero), d.constant(kind((low + high + 1) // 2 + d.choose(0, 0, 7)))
    if d.happens(0.4):
        sums = d.node("ConvInteger", number, stored, zero, middle, **padding(d, window))
        return d.node("Mul", d.node("Cast", sums, to=1), d.float(0.003))
    inner, outer, out = d.float(0.004), d.float(scale(d)), point(d)
    made = d.node("QLinearConv", number, step, zero, stored, inner, middle, outer, out, **padding(d, window))
    return d.node("DequantizeLinear", made, outer, out)


def linear_product(d: Drawing) -> str:
    """QLinearMatMul, or MatMulInteger of numbers whose scale follows from them."""
    x = d.value(2, 3)
    if d.opset < 11:
        raise Unfit
    kind, low, high = d.choose(*STORED)
    stored = d.constant(d.numbers.integers(low, high + 1, (d.shapes[x][-1], d.choose(1, 4, 9))).astype(kind))
    middle = d.constant(kind((low + high + 1) // 2))
    if d.happens(0.4):
        number, step, zero = d.parts("DynamicQuantizeLinear", 3, x)
        return d.node("Mul", d.node("Cast", d.node("MatMulInteger", number, stored, zero, middle), to=1), d.node("Mul", step, d.float(0.01)))
    step, zero, outer, out = d.float(scale(d)), point(d), d.float(scale(d)), point(d)
    made = d.node("QLinearMatMul", d.node("QuantizeLinear", x, step, zero), step, zero, stored, d.float(0.01), middle, outer, out)
    return d.node("DequantizeLinear", made, outer, out)


QUANTIZED = {
    quantized_convolution: 40, quantized_product: 6, quantized_sum: 6, quantized_pool: 6, linear_convolution: 6, linear_product: 4
}  # fmt: skip
