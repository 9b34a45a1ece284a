"""Writes small ONNX models, field by field, without a package: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto"""

import array

FLOAT, INT, INTS = 1, 2, 7  # kinds of attributes; FLOAT is also the element type of tensors
ELEMENTS = {"f": FLOAT, "B": 2, "b": 3, "i": 6, "l": 7, "q": 7}  # by the format of a buffer


def number(value):
    """A varint."""
    digits = []
    while True:
        digits.append(value & 0x7F | (0x80 if value > 0x7F else 0))
        value >>= 7
        if value == 0:
            return bytes(digits)


def field(tag, value):
    """An integer, or bytes: text, packed numbers or a message."""
    if isinstance(value, int):
        return number(tag << 3) + number(value)
    data = value.encode() if isinstance(value, str) else value
    return number(tag << 3 | 2) + number(len(data)) + data


def tensor(name, numbers):
    """Numbers are a numpy array, or another buffer with a shape. Doubles become floats."""
    view = memoryview(numbers)
    kind, data = view.format, view.tobytes()
    if kind == "d":
        kind, data = "f", array.array("f", array.array(kind, data)).tobytes()
    if kind not in ELEMENTS:
        raise ValueError(f"tensor {name} has elements of the format {kind}")
    shape = b"".join(field(1, extent) for extent in view.shape)
    return shape + field(2, ELEMENTS[kind]) + field(8, name) + field(9, data)


def value(name, shape):
    axes = b"".join(field(1, field(1, extent)) for extent in shape)
    return field(1, name) + field(2, field(1, field(1, FLOAT) + field(2, axes)))


def node(op, inputs, output, **attributes):
    """Attributes are integers or lists of them."""
    text = b"".join(field(1, name) for name in inputs) + field(2, output) + field(3, output) + field(4, op)
    for name, numbers in attributes.items():
        if isinstance(numbers, int):
            text += field(5, field(1, name) + field(3, numbers) + field(20, INT))
        else:
            text += field(5, field(1, name) + b"".join(field(8, n) for n in numbers) + field(20, INTS))
    return text


def model(nodes, constants, inputs, outputs, opset=16):
    """Nodes as node() makes them; constants are as tensor() wants them, inputs and outputs are shapes, all by name."""
    graph = b"".join(field(1, n) for n in nodes) + field(2, "written")
    graph += b"".join(field(5, tensor(name, numbers)) for name, numbers in constants.items())
    graph += b"".join(field(11, value(name, shape)) for name, shape in inputs.items())
    graph += b"".join(field(12, value(name, shape)) for name, shape in outputs.items())
    return field(1, 8) + field(7, graph) + field(8, field(2, opset))
