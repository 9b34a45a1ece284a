"""What stands in front of a convolution in a network, a batch normalization behind a concatenation and the gate of
squeeze-and-excite, happens where the convolution reads its input, and what a package of the network computes is right."""

import json
import sys
import unittest

import numpy
from kiln_job import ROOT, KilnJob
from onnx_writer import model, node

sys.path.insert(0, str(ROOT / "examples"))

import kiln_package  # noqa: E402

SHAPE = (1, 16, 29, 31)
CHANNELS = 32


def drawn():
    random = numpy.random.default_rng(1)
    shapes = {"narrow": (16, 16, 3, 3), "wide": (CHANNELS, CHANNELS, 1, 1), "squeeze": (CHANNELS, CHANNELS, 1, 1), "last": (8, CHANNELS, 3, 3)}
    shapes |= {name: (CHANNELS,) for name in ("scale", "shift", "mean")}
    shapes |= {name: (1, CHANNELS, 1, 1) for name in ("factor", "summand")}
    constants = {name: random.uniform(-1, 1, shape).astype("f4") for name, shape in shapes.items()}
    constants["variance"] = random.uniform(0.5, 2, CHANNELS).astype("f4")
    return constants


NODES = [
    node("Conv", ["x", "narrow"], "a", pads=[1, 1, 1, 1]),
    node("Concat", ["x", "a"], "both", axis=1),
    node("BatchNormalization", ["both", "scale", "shift", "mean", "variance"], "normal"),
    node("Mul", ["normal", "factor"], "scaled"),
    node("Add", ["scaled", "summand"], "shifted"),
    node("Relu", ["shifted"], "positive"),
    node("Conv", ["positive", "wide"], "c"),
    node("GlobalAveragePool", ["c"], "mean of c"),
    node("Conv", ["mean of c", "squeeze"], "gate before"),
    node("Sigmoid", ["gate before"], "gate"),
    node("Mul", ["c", "gate"], "gated"),
    node("HardSwish", ["gated"], "swished"),
    node("Conv", ["swished", "last"], "y", pads=[1, 1, 1, 1]),
]


def convolved(x, weights):
    side = weights.shape[2]
    padded = numpy.pad(x, [(0, 0), (0, 0), (side // 2, side // 2), (side // 2, side // 2)])
    windows = numpy.lib.stride_tricks.sliding_window_view(padded, (side, side), (2, 3))
    return numpy.einsum("nchwrs,ocrs->nohw", windows, weights)


def computed(x, constants):
    k = {name: array.astype("f8") for name, array in constants.items()}
    column = (slice(None), None, None)
    both = numpy.concatenate([x.astype("f8"), convolved(x.astype("f8"), k["narrow"])], axis=1)
    normal = (both - k["mean"][column]) / numpy.sqrt(k["variance"][column] + 1e-5) * k["scale"][column] + k["shift"][column]
    c = convolved(numpy.maximum(normal * k["factor"] + k["summand"], 0), k["wide"])
    gate = 1 / (1 + numpy.exp(-convolved(c.mean(axis=(2, 3), keepdims=True), k["squeeze"])))
    gated = c * gate
    return convolved(gated * numpy.clip(gated / 6 + 0.5, 0, 1), k["last"])


class PrologueNetworkTest(unittest.TestCase):
    def setUp(self):
        self.job = self.enterContext(KilnJob())
        self.constants = drawn()
        self.model = self.job.folder / "prologue.onnx"
        self.model.write_bytes(model(NODES, self.constants, {"x": SHAPE}, {"y": (1, 8, *SHAPE[2:])}))

    def plan(self, *options):
        return self.job.run("explain", "--network", self.model, "--pass", "plan", "--wide", *options)

    def test_fused_into_convolutions(self):
        rows = json.loads(self.job.run("explain", "--network", self.model, "--pass", "alterations", "--format", "json"))
        chosen = [row for row in rows if row["alteration"] == "fuse_prologues" and row["chosen"]]
        self.assertEqual(len(chosen), 2, rows)
        for steps in ("scale+bias+relu > ", "scale+hard_swish > "):
            self.assertIn(steps, self.plan())
            self.assertNotIn(steps, self.plan("--without", "fuse_prologues"))

    def test_package_computes_it(self):
        x = numpy.random.default_rng(2).uniform(-1, 1, SHAPE).astype("f4")
        wanted = computed(x, self.constants)
        for name, options in (("fused", []), ("baseline", ["--target", "baseline"]), ("apart", ["--without", "fuse_prologues"])):
            with self.subTest(name):
                folder = self.job.folder / name
                self.job.run("build", "--network", self.model, "--name", name, *options, "-o", folder)
                package = kiln_package.Package(folder / "lib" / f"lib{name}.so")
                network = kiln_package.Network(package, folder / "lib" / f"{name}.weights")
                with kiln_package.Pool(package, 2) as pool:
                    for [got] in (network.run(x), network.run(x, pool=pool)):
                        numpy.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-4 * numpy.abs(wanted).max())


# A depthwise convolution of a large image and one of 1x1 with few outputs behind it.
LARGE = (1, 3, 130, 131)


class SeparableNetworkTest(unittest.TestCase):
    def test_is_one_kernel(self):
        job = self.enterContext(KilnJob())
        random = numpy.random.default_rng(3)
        shapes = {"first": (16, 3, 1, 1), "depthwise": (16, 1, 3, 3), "pointwise": (2, 16, 1, 1)}
        constants = {name: random.uniform(-1, 1, shape).astype("f4") for name, shape in shapes.items()}
        nodes = [
            node("Conv", ["x", "first"], "image"),
            node("Conv", ["image", "depthwise"], "between", group=16, pads=[1, 1, 1, 1]),
            node("HardSwish", ["between"], "swished"),
            node("Conv", ["swished", "pointwise"], "y"),
        ]
        network = job.folder / "separable.onnx"
        network.write_bytes(model(nodes, constants, {"x": LARGE}, {"y": (1, 2, *LARGE[2:])}))
        x = random.uniform(-1, 1, LARGE).astype("f4")
        first, depthwise, pointwise = (constants[name].astype("f8") for name in shapes)
        padded = numpy.pad(convolved(x.astype("f8"), first), [(0, 0), (0, 0), (1, 1), (1, 1)])
        windows = numpy.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
        between = numpy.einsum("nchwrs,crs->nchw", windows, depthwise[:, 0])
        wanted = convolved(between * numpy.clip(between / 6 + 0.5, 0, 1), pointwise)
        for name, options, calls in (("one", [], 2), ("two", ["--without", "separable"], 3)):
            with self.subTest(name):
                plan = job.run("explain", "--network", network, "--pass", "plan", "--format", "json", *options)
                self.assertEqual("3x3+hard_swish > " in plan, name == "one", plan)
                self.assertEqual(sum("conv2d/" in (row["key"] or "") for row in json.loads(plan)), calls, plan)
                folder = job.folder / name
                job.run("build", "--network", network, "--name", name, *options, "-o", folder)
                package = kiln_package.Package(folder / "lib" / f"lib{name}.so")
                with kiln_package.Pool(package, 2) as pool:
                    built = kiln_package.Network(package, folder / "lib" / f"{name}.weights")
                    for [got] in (built.run(x), built.run(x, pool=pool)):
                        numpy.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-4 * numpy.abs(wanted).max())


if __name__ == "__main__":
    unittest.main()
