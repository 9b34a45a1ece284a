"""Which nodes of a model the profiles of other libraries mean (bench/peers/network_profile.py)."""

import pathlib
import sys
import types
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "bench" / "peers"))
from network_profile import NodeNames  # noqa: E402


def model(*nodes: tuple[str, str, list[str]]) -> types.SimpleNamespace:
    """Of name, type and outputs of nodes."""
    listed = [types.SimpleNamespace(name=name, op_type=kind, output=outputs) for name, kind, outputs in nodes]
    return types.SimpleNamespace(graph=types.SimpleNamespace(node=listed))


class NetworkProfileTest(unittest.TestCase):
    names = NodeNames(model(("n0", "Conv", ["r0"]), ("n1", "Relu", ["r1"]), ("", "Split", ["", "left", "right"]), ("r1", "Pool", ["p"])))

    def test_labels(self):
        for labels, expected in [
            (["n0"], ["n0"]),
            (["r0"], ["n0"]),  # by its tensor
            (["left"], ["Split:left"]),
            (["right", "left"], ["Split:left"]),  # once
            (["r1"], ["r1"]),  # a node's own name counts more than a tensor's
            (["r0_nchwc"], ["n0"]),
            (["n0_quant_token_17"], ["n0"]),
            (["n0", "Multiply_36810", "n1"], ["n0", "n1"]),
            (["ReorderInput"], []),
            (["_nchwc"], []),
            ([""], []),
            ([], []),
        ]:
            self.assertEqual(self.names.of(labels), expected, labels)


if __name__ == "__main__":
    unittest.main()
