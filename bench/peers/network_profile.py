"""What a library spends on the nodes of a network, and which nodes of the ONNX file it means. Its optimizer fuses nodes and names
what comes out of it after one of them or after a tensor that one computed, often with an ending of its own.
"""

from __future__ import annotations

import dataclasses
import re
import typing

if typing.TYPE_CHECKING:  # tests do without
    import onnx

PROFILED_CALLS = 15  # behind WARM_CALLS that do not count
WARM_CALLS = 3

# Endings of onnxruntime's layout transforms and fusions, as "n3_nchwc" and "n3_quant_token_17".
ENDING = re.compile(r"(_nchwc|_nhwc|_nchw|_quant|_token_\d+|/DuplicateDQ|/duplicated)$")


@dataclasses.dataclass
class Spent:
    """On one of the library's nodes. Labels are names that it took from nodes or tensors of the ONNX file."""

    labels: list[str]
    ns: float


class NodeNames:
    def __init__(self, model: onnx.ModelProto):
        self.known: dict[str, str] = {}  # names of nodes and of tensors to kiln's name of the node
        for node in model.graph.node:
            name = node.name or f"{node.op_type}:{next(filter(None, node.output), '')}"
            for tensor in filter(None, node.output):
                self.known.setdefault(tensor, name)
            self.known[name] = name  # a node's own name counts more than a tensor's

    def of(self, labels: list[str]) -> list[str]:
        """In the order of the labels, each once. Nothing for what the library added, as reorders."""
        found = dict.fromkeys(name for name in map(self.node_of, labels) if name)
        return list(found)

    def node_of(self, label: str) -> str:
        while label not in self.known:
            shorter = ENDING.sub("", label)
            if shorter == label:
                return ""
            label = shorter
        return self.known[label]
