"""Quantized layers drawn at random, and what they compute: LiteRT's definition in plain loops."""

import math
import random

RANGES = {"i8": (-128, 127), "u8": (0, 255)}
C_TYPES = {"i8": "int8_t", "u8": "uint8_t"}


def requantized(total, multiplier, shift):
    left, right = max(shift, 0), max(-shift, 0)
    high = (total * (1 << left) * multiplier + (1 << 30)) >> 31
    rest, half = high & ((1 << right) - 1), ((1 << right) - 1) >> 1
    return (high >> right) + (1 if rest > half + (1 if high < 0 else 0) else 0)


class Layer:
    """An entry of a workload list with operands."""

    def __init__(self, entry, seed):
        self.entry = entry
        draw = random.Random(f"{seed} {entry['name']}")
        self.dtype, self.weights_dtype = entry["dtype"], entry.get("kernel_dtype", "i8")
        height, width, groups_inputs, outputs = entry["kernel"]
        self.input = [draw.randint(*RANGES[self.dtype]) for _ in range(math.prod(entry["input"]))]
        self.kernel = [draw.randint(*RANGES[self.weights_dtype]) for _ in range(math.prod(entry["kernel"]))]
        self.bias = [draw.randint(-3000, 3000) for _ in range(outputs)]
        self.kernel_zero_point = [draw.randint(*RANGES[self.weights_dtype]) for _ in range(outputs)]
        self.multiplier = [draw.randint(1 << 30, (1 << 31) - 1) for _ in range(outputs)]
        # One channel in some layers shifts to the left, which only the general form computes.
        self.shift = [draw.randint(-12, -6) for _ in range(outputs)]
        if draw.random() < 0.5:
            self.shift[0] = 1
        # Another has weights of zero and a scale that is tiny, as training leaves some: its result is that of its bias.
        if outputs > 1 and draw.random() < 0.7:
            self.kernel[1::outputs] = [0] * len(self.kernel[1::outputs])
            self.bias[1] = draw.choice([-1, 1]) * draw.randint(1 << 28, 1 << 30)
            self.shift[1] = draw.randint(-31, -20)
        self.input_zero_point = draw.randint(*RANGES[self.dtype])
        self.output_zero_point = draw.randint(*RANGES[self.dtype])
        self.bounds = sorted(draw.sample(range(RANGES[self.dtype][0], RANGES[self.dtype][1] + 1), 2))

    def padded(self, y, x, c):
        _, height, width, channels = self.entry["input"]
        if not (0 <= y < height and 0 <= x < width):
            return 0
        return self.input[(y * width + x) * channels + c] - self.input_zero_point

    def sums(self):
        """Of every output, with its channel."""
        entry = self.entry
        _, height, width, channels = entry["input"]
        rows, columns, inputs, outputs = entry["kernel"]
        (top, bottom), (left, right) = entry.get("padding", [[0, 0], [0, 0]])
        stride_y, stride_x = entry.get("strides", [1, 1])
        dilation_y, dilation_x = entry.get("rhs_dilation", [1, 1])
        of_group = outputs // entry.get("feature_group_count", 1)
        out_height = (height + top + bottom - dilation_y * (rows - 1) - 1) // stride_y + 1
        out_width = (width + left + right - dilation_x * (columns - 1) - 1) // stride_x + 1
        for y in range(out_height):
            for x in range(out_width):
                for o in range(outputs):
                    total = self.bias[o]
                    zero = self.kernel_zero_point[o] if entry.get("kernel_zero_point") else 0
                    for r in range(rows):
                        for s in range(columns):
                            for c in range(inputs):
                                weight = self.kernel[((r * columns + s) * inputs + c) * outputs + o] - zero
                                at = (y * stride_y + r * dilation_y - top, x * stride_x + s * dilation_x - left)
                                total += weight * self.padded(*at, o // of_group * inputs + c)
                    yield o, total

    def output(self):
        """Its bytes."""
        if self.entry.get("output_dtype") == "i32":
            return b"".join(total.to_bytes(4, "little", signed=True) for _, total in self.sums())
        result = bytearray()
        for channel, total in self.sums():
            value = requantized(total, self.multiplier[channel], self.shift[channel]) + self.output_zero_point
            result.append(min(max(value, self.bounds[0]), self.bounds[1]) & 0xFF)
        return bytes(result)

    def c_text(self, name):
        """Arrays, and the entries of `constants` and `inputs` for them."""

        def array(member, c_type, values):
            return f"static const {c_type} {name}_{member}[] = {{{', '.join(map(str, values))}}};\n"

        text = array("input", C_TYPES[self.dtype], self.input)
        text += array("kernel", C_TYPES[self.weights_dtype], self.kernel)
        for member in ("bias", "kernel_zero_point", "multiplier", "shift"):
            text += array(member, "int32_t", getattr(self, member))
        members = [f"{name}_{m}" for m in ("kernel", "bias", "kernel_zero_point", "multiplier", "shift")]
        members += [str(self.input_zero_point), str(self.output_zero_point)]
        return text, f"{{{', '.join(members)}, {{{self.bounds[0]}, {self.bounds[1]}}}}}", f"{name}_input"


def operands_header(layers, package):
    """operands.h of soft_core_harness.c, for layers in the order of the package's table."""
    texts, constants, inputs = zip(*(layer.c_text(f"l{i}") for i, layer in enumerate(layers)), strict=True)
    return (
        "#include <stdint.h>\n#include <stddef.h>\n"
        + "".join(texts)
        + f"static const {package}_constants constants[] = {{{', '.join(constants)}}};\n"
        + f"static const void *const inputs[] = {{{', '.join(inputs)}}};\n"
        + "enum { MOST_PACKED_WORDS = 4096, MOST_OUTPUT_BYTES = 8192 };\n"
    )
