"""Quantized networks as packages: what a package computes is what the suites expect, bit for bit, with quanta and with floats as
inputs and outputs, on every target, and whatever the number of threads."""

import json
import os
import sys
import unittest

import numpy
from kiln_job import ROOT, KilnJob, seed

SUITES = ROOT / "tests" / "conformance"
sys.path.insert(0, str(ROOT / "examples"))

import kiln_package  # noqa: E402

CASES = (("onnx_int8", "qdq_block_00"), ("onnx_int8", "qlinearconv_31"), ("networks", "keyword_spotting_in0"))
# Each case has another target, which one the seed says; with KILN_TEST_ALL=1 all of them (tests/test_seed.h).
TARGETS = ("host", "host,baseline", "avx2")
AVX2 = "x86-64-linux-avx-avx2-f16c-fma-sse41"  # what Halide calls it, and the host where that has nothing wider


def targets_of(number):
    return TARGETS if int(os.environ.get("KILN_TEST_ALL", "0")) else (TARGETS[(number + seed()) % len(TARGETS)],)


class QuantizedNetworkTest(unittest.TestCase):
    def setUp(self):
        self.job = self.enterContext(KilnJob())

    def case(self, suite, name):
        cases = json.loads((SUITES / f"{suite}.json").read_text())["cases"]
        case = next(case for case in cases if case["id"] == name)
        arrays = {role: [] for role in ("input", "expected")}
        for tensor in case["tensors"].values():
            if tensor["role"] in arrays:
                arrays[tensor["role"]].append((SUITES / tensor["file"], numpy.load(SUITES / tensor["file"])))
        shapes = case["attrs"].get("input_shapes", {})
        arguments = [f"--shape={name}={'x'.join(map(str, shape))}" for name, shape in shapes.items()]
        return SUITES / case["model"], arguments, arrays

    def test_package(self):
        for number, (suite, name) in enumerate(CASES):
            built = set()
            for target in targets_of(number):
                if target == "avx2" and AVX2 in built:
                    continue
                with self.subTest(name, target=target):
                    model, shapes, arrays = self.case(suite, name)
                    folder = self.job.folder / f"{name}-{target}"
                    self.job.run("build", "--network", model, *shapes, "--name", "q", "--target", target, "-o", folder)
                    manifest = json.loads((folder / "share" / "q" / "manifest.json").read_text())
                    built |= {kernel["target"] for kernel in manifest["kernels"]}
                    package = kiln_package.Package(folder / "lib" / "libq.so")
                    network = kiln_package.Network(package, folder / "lib" / "q.weights")
                    inputs = [array for _, array in arrays["input"]]
                    with kiln_package.Pool(package, 2) as pool:
                        for results in (network.run(*inputs), network.run(*inputs, pool=pool)):
                            for got, (_, wanted) in zip(results, arrays["expected"], strict=True):
                                self.assertEqual(got.dtype, wanted.dtype)
                                numpy.testing.assert_array_equal(got, wanted)

    def test_run(self):
        model, shapes, arrays = self.case("networks", "keyword_spotting_in0")
        out = self.job.folder / "out"
        self.job.run("run", "--network", model, *shapes, "--input", arrays["input"][0][0], "-o", out)
        (result,) = out.iterdir()
        numpy.testing.assert_array_equal(numpy.load(result), arrays["expected"][0][1])

    def test_explain(self):
        """The softmax at the end is the one that needs floats."""
        model, shapes, _ = self.case("networks", "keyword_spotting_in0")
        plan = self.job.run("explain", "--network", model, *shapes, "--pass", "plan", "--format", "json")
        floats = [row["key"] for row in json.loads(plan) if row["why"]]
        self.assertTrue(any("exp(" in key for key in floats), plan)
        self.assertFalse(any(key.startswith("conv") for key in floats), plan)

    def test_tuned(self):
        """Times of a network that was tuned are found again."""
        model, shapes, _ = self.case("onnx_int8", "qdq_block_00")
        db = self.job.folder / "q.db"
        self.job.run("tune", "--network", model, *shapes, "--db", db, "--time", "60s", "--trials", "2")
        plan = self.job.run("explain", "--network", model, *shapes, "--pass", "plan", "--db", db)
        self.assertIn(" tuned ", plan)


if __name__ == "__main__":
    unittest.main()
