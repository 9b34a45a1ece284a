"""An ONNX model that grows node by node, at random."""

import random
from collections.abc import Callable

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

MOST_ELEMENTS = 60000


class Unfit(Exception):
    """The operator does not fit the values that there are."""


class Drawing:
    def __init__(self, seed: int):
        self.random, self.numbers = random.Random(seed), numpy.random.default_rng(seed)
        self.opset = self.random.choice((*range(7, 23), *range(13, 23)))
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.shapes: dict[str, list[int]] = {}  # of the values that operators may read, the newest last
        self.inputs: dict[str, list[int]] = {}
        for number in range(self.random.choice((1, 1, 1, 2))):
            shape = [self.choose(1, 1, 1, 2), self.choose(1, 3, 3, 4, 8, 16, 20), self.choose(5, 7, 8, 12, 14), self.choose(5, 6, 8, 9, 14)]
            self.inputs[f"x{number}"] = self.shapes[f"x{number}"] = shape

    def choose(self, *options):
        return self.random.choice(options)

    def some(self, **attributes) -> dict:
        """Each with a chance of four fifths."""
        return {name: value for name, value in attributes.items() if self.happens(0.8)}

    def happens(self, chance: float) -> bool:
        return self.random.random() < chance

    def value(self, *ranks: int) -> str:
        """One that has one of these ranks, most likely a new one."""
        names = [name for name, shape in self.shapes.items() if not ranks or len(shape) in ranks]
        if not names:
            raise Unfit
        return names[-1 - min(len(names) - 1, int(self.random.expovariate(0.7)))]

    def constant(self, array) -> str:
        self.constants.append(numpy_helper.from_array(numpy.asarray(array), f"c{len(self.constants)}"))
        return self.constants[-1].name

    def floats(self, shape: list[int], low: float = -1, high: float = 1) -> str:
        return self.constant(self.numbers.uniform(low, high, shape).astype(numpy.float32))

    def float(self, number: float) -> str:
        return self.constant(numpy.float32(number))

    def integers(self, *numbers: int) -> str:
        return self.constant(numpy.array(numbers, numpy.int64))

    def node(self, kind: str, *inputs: str, **attributes) -> str:
        return self.parts(kind, 1, *inputs, **attributes)[0]

    def parts(self, kind: str, count: int, *inputs: str, **attributes) -> list[str]:
        number = len(self.nodes)
        outputs = [f"v{number}_{i}" for i in range(count)]
        self.nodes.append(helper.make_node(kind, list(inputs), outputs, f"n{number}_{kind}", **attributes))
        return outputs

    def model(self, outputs: list[str]) -> onnx.ModelProto:
        """Inputs that nothing reads are left out."""
        read = {name for node in self.nodes for name in node.input}
        values = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in self.inputs.items() if n in read]
        results = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
        graph = helper.make_graph(self.nodes, "drawn", values, results, self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8 if self.opset < 19 else 10)
        return onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)

    def grow(self, operator: Callable) -> bool:
        """Adds what an operator makes, if it fits: ONNX infers a float of a moderate size."""
        nodes, constants = len(self.nodes), len(self.constants)
        try:
            made = operator(self)
            made = made if isinstance(made, list) else [made]
            shapes = {}
            for value in self.model(made).graph.output:
                shape = [axis.dim_value for axis in value.type.tensor_type.shape.dim]
                if min(shape, default=1) <= 0 or numpy.prod(shape) > MOST_ELEMENTS or value.type.tensor_type.elem_type != TensorProto.FLOAT:
                    raise Unfit
                shapes[value.name] = shape
        except (Unfit, onnx.shape_inference.InferenceError, ValueError, IndexError):
            del self.nodes[nodes:], self.constants[constants:]
            return False
        self.shapes |= shapes
        return True

    def finish(self) -> onnx.ModelProto:
        """The outputs are all that nothing reads, and sometimes another value."""
        read = {name for node in self.nodes for name in node.input}
        computed = [name for name in self.shapes if name not in self.inputs]
        others = [name for name in computed if name in read]
        outputs = [name for name in computed if name not in read]
        return self.model(outputs + ([self.random.choice(others)] if others and self.happens(0.3) else []))
