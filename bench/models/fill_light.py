"""Gives a light_*.onnx of the package onnx seeded random weights: real topologies in which every weight is a constant of shape alone.

The same model and seed give the same weights; they keep the sizes of activations about equal from layer to layer."""

import numpy as np
import onnx
from onnx import numpy_helper


class Weights:
    """The weights of a graph: outputs of ConstantOfShape nodes with constant shapes."""

    def __init__(self, graph: onnx.GraphProto, seed: int) -> None:
        shapes = {i.name: numpy_helper.to_array(i) for i in graph.initializer}
        self.shapes = {n.output[0]: tuple(int(d) for d in shapes[n.input[0]]) for n in graph.node
                       if n.op_type == "ConstantOfShape" and n.input[0] in shapes}  # fmt: skip
        # Old models broadcast the scale of a normalization by an Unsqueeze.
        self.same = {n.output[0]: n.input[0] for n in graph.node if n.op_type == "Unsqueeze" and n.input[0] in self.shapes}
        self.random = np.random.default_rng(seed)
        self.made: dict[str, np.ndarray] = {}

    def make(self, name: str, kind: str) -> None:
        name = self.same.get(name, name)
        if name not in self.shapes or name in self.made:
            return
        shape = self.shapes[name]
        if kind == "kernel":
            values = self.random.standard_normal(shape) * np.sqrt(2.0 / max(1, np.prod(shape[1:])))
        elif kind == "scale":
            values = self.random.uniform(0.5, 1.5, shape)
        else:
            values = self.random.standard_normal(shape) * 0.1
        self.made[name] = values.astype(np.float32)

    def of_node(self, node: onnx.NodeProto) -> list[tuple[str, str]]:
        """Inputs and what they are."""
        if node.op_type in ("Conv", "Gemm"):
            return [(node.input[1], "kernel")] + [(name, "shift") for name in node.input[2:]]
        if node.op_type == "BatchNormalization":
            return list(zip(node.input[1:], ("scale", "shift", "shift", "scale")))
        kinds = {"Mul": "scale", "Add": "shift"}
        return [(name, kinds[node.op_type]) for name in node.input] if node.op_type in kinds else []

    def make_all(self, graph: onnx.GraphProto) -> None:
        for node in graph.node:
            for name, kind in self.of_node(node):
                self.make(name, kind)
        for name in self.shapes:
            self.make(name, "shift")


def fill(model: onnx.ModelProto, seed: int = 0) -> onnx.ModelProto:
    graph = model.graph
    weights = Weights(graph, seed)
    weights.make_all(graph)
    kept = [n for n in graph.node if not (n.op_type == "ConstantOfShape" and n.output[0] in weights.made)]
    del graph.node[:]
    graph.node.extend(kept)
    graph.initializer.extend(numpy_helper.from_array(values, name) for name, values in weights.made.items())
    # In IR version 3 initializers are inputs too, which callers may replace, so that peers fold nothing.
    model.ir_version = 8
    constants = {i.name for i in graph.initializer}
    inputs = [i for i in graph.input if i.name not in constants]
    del graph.input[:]
    graph.input.extend(inputs)
    onnx.checker.check_model(model)
    return model
