"""examples/tflm: layers of a package run its kernels in TensorFlow Lite Micro, others TFLM's. With stub headers, on this machine.

Skipped where there is no compiler for RISC-V, since such a package is built in simulation.
"""

import json
import pathlib
import shutil
import subprocess
import unittest

from kiln_job import BINARIES, ROOT, KilnJob

GCC = "riscv64-unknown-elf-gcc"
STUB = ROOT / "tests" / "end_to_end" / "tflm_stub"
SHIM = ROOT / "examples" / "tflm"
LITERT = {"op": "conv2d", "dtype": "i8", "epilogue": ["bias", "requantize_litert"]}
# Those of tflm_stub/main.cc that the package has.
LAYERS = [
    {"name": "depthwise", **LITERT, "input": [1, 12, 12, 8], "kernel": [3, 3, 1, 8], "padding": [[1, 1], [1, 1]],
     "feature_group_count": 8},
    {"name": "depthwise_strides", **LITERT, "input": [1, 12, 12, 8], "kernel": [3, 3, 1, 16], "strides": [2, 2],
     "padding": [[0, 1], [0, 1]], "feature_group_count": 8},
    {"name": "pointwise", **LITERT, "input": [1, 6, 6, 64], "kernel": [1, 1, 64, 32]},
    {"name": "conv", **LITERT, "input": [1, 7, 7, 3], "kernel": [3, 3, 3, 5], "padding": [[2, 2], [2, 2]],
     "rhs_dilation": [2, 2]},
]  # fmt: skip
EXPECTED = """depthwise kiln same
depthwise_strides kiln same
pointwise kiln same
conv kiln same
other_padding reference same
other_channels reference same
"""


@unittest.skipUnless(shutil.which(GCC), f"no {GCC}: install gcc-riscv64-unknown-elf")
class TflmShim(unittest.TestCase):
    def setUp(self):
        self.job = self.enterContext(KilnJob())

    def run_command(self, *command):
        answer = subprocess.run([str(word) for word in command], env=self.job.environment, capture_output=True,
                                text=True, timeout=600)  # fmt: skip
        self.assertEqual(answer.returncode, 0, answer.stderr[-2000:])
        return answer.stdout

    def test_layers_of_the_package_run_its_kernels(self):
        folder = pathlib.Path(self.job.folder)
        dist, program, workloads = folder / "dist", folder / "program", folder / "layers.json"
        workloads.write_text(json.dumps({"format": "workloads/1", "name": "layers", "workloads": LAYERS}))
        self.run_command(BINARIES / "kiln", "build", "--workloads", workloads, "--target", "rv32im", "--name", "demo",
                         "-o", dist)  # fmt: skip
        objects = []
        for source in sorted((dist / "src").glob("*.c")):
            objects.append(folder / (source.stem + ".o"))
            self.run_command("cc", "-std=c99", "-O1", "-I", dist / "include", "-c", source, "-o", objects[-1])
        checks = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsanitize=undefined", "-fno-sanitize-recover=undefined"]
        self.run_command("c++", "-std=c++17", "-O1", *checks, "-DKILN_PACKAGE=demo", "-I", dist / "include", "-I", SHIM, "-I",
                         STUB / "include", SHIM / "kiln_convolutions.cc", STUB / "main.cc", *objects, "-o", program)  # fmt: skip
        self.assertEqual(self.run_command(program), EXPECTED)


if __name__ == "__main__":
    unittest.main()
