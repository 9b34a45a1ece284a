"""From a model to programs: build a package of the network, run the examples with it from C, C++ and Python, and compare the
numbers with those that the model's makers state."""

import os
import subprocess
import sys
import unittest

import numpy
from kiln_job import ROOT, KilnJob

MODELS = ROOT / "tests" / "conformance" / "onnx_graph"
MODEL = MODELS / "n00_first_conv_relu.onnx"
sys.path.insert(0, str(ROOT / "examples"))

import kiln_package  # noqa: E402


class NetworkToProgramTest(unittest.TestCase):
    def setUp(self):
        self.job = self.enterContext(KilnJob())
        self.x = numpy.load(MODELS / "n00_first_conv_relu.x.npy")
        self.wanted = numpy.load(MODELS / "n00_first_conv_relu.out0.npy")

    def build(self, name, *arguments):
        self.job.run("build", "--network", MODEL, "--name", name, "-o", self.job.folder / name, *arguments)
        self.assertEqual(self.job.left_in_temporary_folder(), [])
        return self.job.folder / name / "lib"

    def load(self, library, weights):
        return kiln_package.Network(kiln_package.Package(library), weights)

    def test_python(self):
        for name, arguments in (("beside", []), ("inside", ["--weights", "embed", "--target", "host,baseline"])):
            with self.subTest(name):
                folder = self.build(name, *arguments)
                network = self.load(folder / f"lib{name}.so", folder / f"{name}.weights" if name == "beside" else None)
                (got,) = network.run(self.x)
                numpy.testing.assert_allclose(got, self.wanted, rtol=1e-4, atol=1e-5)
                with kiln_package.Pool(network.package, 2) as pool:
                    (again,) = network.run(self.x, pool=pool)
                self.assertEqual(got.tobytes(), again.tobytes())

    def test_prepared_inputs(self):
        folder = self.build("split", "--prepare-input", "--target", "host,baseline")
        package = kiln_package.Package(folder / "libsplit.so")
        preparation = kiln_package.Network(package, function="prepare")
        network = kiln_package.Network(package, folder / "split.weights")
        self.assertEqual([p.extents for p in preparation.outputs], [p.extents for p in network.inputs])
        _, channels, height, width = self.x.shape
        self.assertEqual(network.inputs[0].extents[-1], channels, "channels-last, as the first kernel reads it")
        (got,) = network.run(*preparation.run(self.x))
        numpy.testing.assert_allclose(got, self.wanted, rtol=1e-4, atol=1e-5)
        _, told = self.job.start("explain", folder.parent).communicate(timeout=60)
        self.assertIn("split_prepare() computes the network's inputs", told)

    def test_weights_that_are_not_these(self):
        folder = self.build("one")
        library, weights = folder / "libone.so", (folder / "one.weights").read_bytes()
        other = self.build("other", "--target", "baseline") / "other.weights"
        cut = [0, 7, 12, 63, 64, 79, len(weights) - 1]
        cases = [(weights[:size], ("cut", "empty")) for size in cut]
        cases += [(weights + b"\0", ("more bytes",)), (other.read_bytes(), ("another build",))]
        cases += [(b"PK" + weights[2:], ("no weights",)), (weights[:8] + b"\2" + weights[9:], ("version",))]
        for data, words in cases:
            with self.subTest(size=len(data), words=words):
                bad = self.job.folder / "bad.weights"
                bad.write_bytes(data)
                with self.assertRaises(kiln_package.KilnError) as raised:
                    self.load(library, bad)
                self.assertTrue(any(word in str(raised.exception) for word in words), raised.exception)

    def test_examples(self):
        folder = self.build("tiny")
        program, cmake = self.job.folder / "program", os.environ.get("CMAKE_COMMAND", "cmake")
        configure = [cmake, "-S", ROOT / "examples", "-B", program, "-G", "Ninja", "-DKILN_NETWORK=ON"]
        configure += [f"-DCMAKE_PREFIX_PATH={folder.parent}", "-DKILN_PACKAGE=tiny"]
        if "CMAKE_MAKE_PROGRAM" in os.environ:
            configure.append(f"-DCMAKE_MAKE_PROGRAM={os.environ['CMAKE_MAKE_PROGRAM']}")
        for step in (configure, [cmake, "--build", program]):
            self.succeed(step)
        weights = folder / "tiny.weights"
        self.assertIn("1 outputs, ok", self.succeed([program / "run_network", weights]))

        height, width = self.x.shape[2:]
        pixels = numpy.arange(height * width * 3, dtype=numpy.uint32).astype(numpy.uint8).reshape(height, width, 3)
        picture = self.job.folder / "picture.ppm"
        picture.write_bytes(b"P6\n# a comment\n%d %d\n255\n" % (width, height) + pixels.tobytes())
        lines = self.succeed([program / "classify", weights, picture, "0.5", "0.25,0.5,1"]).splitlines()
        x = (pixels.astype(numpy.float32) / 255 - 0.5) / numpy.float32([0.25, 0.5, 1])
        (scores,) = self.load(folder / "libtiny.so", weights).run(numpy.ascontiguousarray(x.transpose(2, 0, 1)[None]))
        best = numpy.sort(scores.ravel())[::-1][:5]
        numpy.testing.assert_allclose([float(line.split()[0]) for line in lines], best, atol=1e-3)

    def succeed(self, command):
        result = subprocess.run(command, capture_output=True, text=True, timeout=300)
        self.assertEqual(result.returncode, 0, f"{command}\n{result.stdout}{result.stderr}")
        return result.stdout


if __name__ == "__main__":
    unittest.main()
