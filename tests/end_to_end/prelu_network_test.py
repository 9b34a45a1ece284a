"""PReLU in a network: with a slope for each channel it is a step of the convolution in front of it, with one slope a leaky ReLU, and
what a package of the network computes is right."""

import json
import sys
import unittest

import numpy
from kiln_job import ROOT, KilnJob
from onnx_writer import model, node

sys.path.insert(0, str(ROOT / "examples"))

import kiln_package  # noqa: E402

SHAPE = (1, 5, 9, 11)
PIXELS = "prelu of each pixel"


def drawn():
    """The constants of the network: two convolutions, a batch normalization, and slopes of every form."""
    random = numpy.random.default_rng(1)
    shapes = {"w": (12, 5, 3, 3), "b": (12,), "v": (12, 12, 1, 1), "scale": (12,), "shift": (12,), "mean": (12,)}
    shapes |= {"slopes": (12, 1, 1), "more": (1, 12, 1, 1), PIXELS: (12, 9, 11)}
    constants = {name: random.uniform(-1, 1, shape).astype("f4") for name, shape in shapes.items()}
    constants["variance"] = random.uniform(0.5, 2, 12).astype("f4")
    constants["equal"] = numpy.full((12, 1, 1), 0.25, "f4")
    return constants


NODES = [
    node("Conv", ["x", "w", "b"], "c", pads=[1, 1, 1, 1]),
    node("BatchNormalization", ["c", "scale", "shift", "mean", "variance"], "n"),
    node("PRelu", ["n", "slopes"], "p"),
    node("Conv", ["p", "v"], "d"),
    node("PRelu", ["d", "more"], "q"),
    node("Add", ["p", "q"], "sum"),
    node("PRelu", ["sum", "equal"], "y"),
    node("PRelu", ["y", PIXELS], "z"),
]


def prelu(x, slope):
    return numpy.where(x < 0, x * slope, x)


def computed(x, constants):
    k = {name: array.astype("f8") for name, array in constants.items()}
    padded = numpy.pad(x.astype("f8"), [(0, 0), (0, 0), (1, 1), (1, 1)])
    windows = numpy.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
    column = (slice(None), None, None)
    c = numpy.einsum("nchwrs,ocrs->nohw", windows, k["w"]) + k["b"][column]
    n = (c - k["mean"][column]) / numpy.sqrt(k["variance"][column] + 1e-5) * k["scale"][column] + k["shift"][column]
    p = prelu(n, k["slopes"])
    q = prelu(numpy.einsum("nchw,oc->nohw", p, k["v"][:, :, 0, 0]), k["more"])
    y = prelu(p + q, 0.25)
    return y, prelu(y, k[PIXELS])


class PreluNetworkTest(unittest.TestCase):
    def setUp(self):
        self.job = self.enterContext(KilnJob())
        self.constants = drawn()
        result = (1, 12, 9, 11)
        self.model = self.job.folder / "prelu.onnx"
        self.model.write_bytes(model(NODES, self.constants, {"x": SHAPE}, {"y": result, "z": result}))

    def test_fused_into_convolutions(self):
        text = self.job.run("explain", "--network", self.model, "--pass", "fuse_elementwise")
        for epilogue in ("epilogue=bias,prelu ", "epilogue=prelu,add,leaky_relu:0.25 "):
            self.assertIn(epilogue, text)
        self.assertEqual(text.count("elementwise"), 1, text)
        layers = self.job.folder / "layers.json"
        self.job.run("import", self.model, "-o", layers)
        epilogues = [layer.get("epilogue") for layer in json.loads(layers.read_text())["workloads"]]
        self.assertIn(["bias", "prelu"], epilogues)

    def test_package_computes_it(self):
        x = numpy.random.default_rng(2).uniform(-1, 1, SHAPE).astype("f4")
        for name, target in (("one", "host"), ("two", "host,baseline")):
            with self.subTest(target):
                folder = self.job.folder / name
                self.job.run("build", "--network", self.model, "--name", name, "--target", target, "-o", folder)
                package = kiln_package.Package(folder / "lib" / f"lib{name}.so")
                network = kiln_package.Network(package, folder / "lib" / f"{name}.weights")
                with kiln_package.Pool(package, 2) as pool:
                    for results in (network.run(x), network.run(x, pool=pool)):
                        for got, wanted in zip(results, computed(x, self.constants)):
                            numpy.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)


if __name__ == "__main__":
    unittest.main()
