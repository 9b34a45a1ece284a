"""Writes MobileNet v1 as ONNX, with seeded random weights that keep activations of one size. It needs onnx.
usage: mobilenet_v1.py MODEL.onnx [SIZE WIDTH CLASSES]; else 224 x 224 pixels, width 1 and 1000 classes"""

import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

# Channels and stride of each pair of a depthwise and a pointwise convolution.
PAIRS = ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5, (1024, 2), (1024, 1))


class Model:
    def __init__(self, size: int, classes: int):
        self.size, self.classes = size, classes
        self.random = numpy.random.default_rng(0)
        self.nodes, self.constants = [], []
        self.last = "input"

    def constant(self, array: numpy.ndarray) -> str:
        name = f"constant{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(numpy.asarray(array, "f4"), name))
        return name

    def node(self, kind: str, inputs: list[str] = [], **attributes) -> None:
        name = f"{kind.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, [self.last, *inputs], [name], name, **attributes))
        self.last = name

    def weights(self, shape: list[int]) -> list[str]:
        terms = numpy.prod(shape[1:])
        return [self.constant(self.random.normal(0, (2 / terms) ** 0.5, shape)), self.constant(self.random.normal(0, 0.1, shape[0]))]

    def convolution(self, inputs: int, outputs: int, window: int, stride: int = 1, groups: int = 1) -> None:
        self.node("Conv", self.weights([outputs, inputs // groups, window, window]), kernel_shape=[window] * 2, strides=[stride] * 2,
                  pads=[window // 2] * 4, group=groups)
        self.node("Clip", [self.constant(0), self.constant(6)])

    def write(self, path: str) -> None:
        shapes = (("input", [1, 3, self.size, self.size]), (self.last, [1, self.classes]))
        values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes]
        graph = helper.make_graph(self.nodes, "mobilenet_v1", values[:1], values[1:], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
        onnx.checker.check_model(model, full_check=True)
        onnx.save(model, path)


def main() -> None:
    size, width, classes = sys.argv[2:] or (224, 1, 1000)
    model = Model(int(size), int(classes))
    channels = int(32 * float(width))
    model.convolution(3, channels, 3, stride=2)
    for full, stride in PAIRS:
        outputs = int(full * float(width))
        model.convolution(channels, channels, 3, stride, groups=channels)
        model.convolution(channels, outputs, 1)
        channels = outputs
    model.node("GlobalAveragePool")
    model.node("Flatten")
    model.node("Gemm", model.weights([model.classes, channels]), transB=1)
    model.node("Softmax", axis=1)
    model.write(sys.argv[1])


if __name__ == "__main__":
    main()
