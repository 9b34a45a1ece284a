"""A package with --fallback computes what it was not built for; one without says so."""

import json
import os
import subprocess
import unittest

from kiln_job import LAYERS, ROOT, KilnJob

# BATCH HEIGHT WIDTH CHANNELS OUTPUT_CHANNELS STRIDE of examples/any_sizes.c: what kiln_find_or_fallback answers, by
# words of the program's output.
SIZES = [
    ([], "fallback@1", 0),
    ([2, 40, 31, 64, 130, 1], "fallback@1", 0),
    ([1, 1, 1, 2, 2, 7], "fallback@1", 0),
    ([1, 9, 9, 7, 6, 1], "feature_group_count does not divide channels", 1),
    ([1, 9, 9, 6, 6, 0], "strides has an entry", 1),
    ([0, 9, 9, 6, 6, 1], "batch is not 1", 1),
    ([2**31 - 1, 2**31 - 1, 9, 6, 6, 1], "too large", 1),
]


# The layer of examples/any_sizes.c without arguments: a kernel of the package's own, which packs its weights.
ANY_SIZES = {
    "name": "any_sizes",
    "op": "conv2d",
    "input": [1, 13, 17, 10],
    "kernel": [3, 3, 5, 6],
    "strides": [2, 2],
    "padding": [[1, 1], [1, 1]],
    "feature_group_count": 2,
    "input_layout": "NCHW",
    "output_layout": "NCHW",
    "epilogue": ["bias", "relu"],
}


# The mean of four pixels through kiln.hpp; the package must outlive nothing but its layers, which may be moved.
CPP_PROGRAM = """
#include <cstdio>
#include <vector>
#include PACKAGE_HEADER
#include PACKAGE_CPP_HEADER
int main() {
    kiln_descriptor d;
    kiln_descriptor_init(&d, KILN_CONV, 2);
    d.batch = d.channels = d.output_channels = 1;
    for (int i = 0; i < 2; i++) d.spatial[i] = d.kernel[i] = 2;
    try {
        kiln::Layer refused(PACKAGE(), d);
        return 2;
    } catch (const kiln::Error &error) {
        if (error.code() != KILN_NOT_FOUND) return 3;
    }
    try {
        const float x[] = {1, 2, 3, 6}, k[] = {0.25f, 0.25f, 0.25f, 0.25f};
        float y = 0;
        std::vector<kiln::Layer> layers;
        layers.emplace_back(PACKAGE(), d, nullptr, kiln::Fallback::allowed);
        layers.emplace_back(PACKAGE(), d, nullptr, kiln::Fallback::allowed);
        kiln::Operands operands;
        operands.input = kiln::tensor(x, {1, 2, 2, 1}), operands.output = kiln::tensor(&y, {1, 1, 1, 1});
        for (kiln::Layer &layer : layers) layer.pack(kiln::tensor(k, {2, 2, 1, 1})), layer.run(operands);
        std::printf("%s %g\\n", layers[0].info().candidate, y);
    } catch (const kiln::Error &error) {
        std::puts(error.what());
    }
}
"""


class FallbackTest(unittest.TestCase):
    def test_sizes_that_nobody_tuned(self):
        with KilnJob() as job:
            manifest, program = self.build(job, "with_fallback", "--fallback")
            self.assertIs(manifest["fallback"], True)
            self.assertEqual(len(manifest["kernels"]), len(LAYERS), "the fallback is no kernel of the table")
            for sizes, words, status in SIZES:
                with self.subTest(sizes=sizes):
                    result = subprocess.run([program, *map(str, sizes)], capture_output=True, text=True, timeout=60)
                    self.assertEqual(result.returncode, status, result.stdout + result.stderr)
                    self.assertIn(words, result.stdout + result.stderr)

            self.assertEqual(self.run_cpp(job, "with_fallback"), "fallback@1 3\n")

            manifest, program = self.build(job, "without")
            self.assertIn("built without --fallback", self.run_cpp(job, "without"))
            self.assertIs(manifest["fallback"], False)
            result = subprocess.run([program], capture_output=True, text=True, timeout=60)
            self.assertEqual(result.returncode, 1)
            self.assertIn("built without --fallback", result.stderr)

    def test_the_packages_own_kernel_comes_first(self):
        with KilnJob() as job:
            job.workloads.write_text(json.dumps({"format": "workloads/1", "name": "own", "workloads": [ANY_SIZES]}))
            manifest, program = self.build(job, "own", "--fallback")
            self.assertGreater(manifest["kernels"][0]["packed_bytes"], 0, "what this test is about")
            result = subprocess.run([program], capture_output=True, text=True, timeout=60)
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
            self.assertIn(manifest["kernels"][0]["candidate"], result.stdout)

    def run_cpp(self, job, name):
        source, program, package = job.folder / "layers.cpp", job.folder / f"{name}_cpp", job.folder / name
        source.write_text(CPP_PROGRAM)
        definitions = [f"-DPACKAGE_HEADER=<{name}.h>", f"-DPACKAGE_CPP_HEADER=<{name}/kiln.hpp>"]
        command = ["c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", *definitions, f"-DPACKAGE={name}_package", source,
                   "-I", package / "include", package / "lib" / f"lib{name}.a", "-lm", "-pthread", "-o", program]  # fmt: skip
        subprocess.run(list(map(str, command)), check=True, timeout=120)
        return subprocess.run([program], check=True, capture_output=True, text=True, timeout=60).stdout

    def build(self, job, name, *arguments):
        """A package of that name, and examples/any_sizes.c linked with it; answers the manifest and the program."""
        package, folder = job.folder / name, job.folder / f"{name}_program"
        job.run("build", "--workloads", job.workloads, *arguments, "--name", name, "-o", package)
        cmake = os.environ.get("CMAKE_COMMAND", "cmake")
        configure = [cmake, "-S", ROOT / "examples", "-B", folder, "-G", "Ninja"]
        configure += [f"-DCMAKE_PREFIX_PATH={package}", f"-DKILN_PACKAGE={name}"]
        if "CMAKE_MAKE_PROGRAM" in os.environ:
            configure.append(f"-DCMAKE_MAKE_PROGRAM={os.environ['CMAKE_MAKE_PROGRAM']}")
        for step in (configure, [cmake, "--build", folder, "--target", "any_sizes"]):
            result = subprocess.run(step, capture_output=True, text=True, timeout=300)
            self.assertEqual(result.returncode, 0, f"{step}\n{result.stdout}{result.stderr}")
        manifest = json.loads((package / "share" / name / "manifest.json").read_text())
        return manifest, folder / "any_sizes"


if __name__ == "__main__":
    unittest.main()
