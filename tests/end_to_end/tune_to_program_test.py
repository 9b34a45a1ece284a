"""From a workload list to a program: tune, query, build a package, link examples/ with it, check the numbers."""

import json
import os
import subprocess
import unittest

from kiln_job import LAYERS, ROOT, KilnJob

TRIALS = 5


class TuneToProgramTest(unittest.TestCase):
    def test_from_list_to_program(self):
        with KilnJob() as job:
            job.run(*job.tune_arguments(TRIALS))
            self.assertEqual(job.trials_per_workload(), [TRIALS] * len(LAYERS))

            best = json.loads(job.run("query", "best", "--db", job.database, "--format", "json"))
            self.assertEqual(len(best), len(LAYERS))

            manifest = self.build_and_run(job, "--db", job.database)
            packaged = {(kernel["candidate"], kernel["trial"]["id"]) for kernel in manifest["kernels"]}
            self.assertEqual(packaged, set(job.query("SELECT candidate, trial FROM best")))

    def test_without_a_database(self):
        with KilnJob() as job:
            prologue = {"name": "prologue", "op": "conv2d", "input": [1, 14, 13, 24], "kernel": [1, 1, 24, 40],
                        "prologue": ["scale", "bias", "relu"], "epilogue": ["bias", "silu", "scale"]}  # fmt: skip
            separable = {"name": "separable", "op": "conv2d", "input": [1, 14, 13, 24], "kernel": [1, 1, 24, 40], "strides": [2, 1],
                         "padding": [[0, 1], [2, 2]], "prologue": ["bias", "relu"], "epilogue": ["bias"], "depthwise": [3, 5]}  # fmt: skip
            layers = [*LAYERS, prologue, separable]
            job.workloads.write_text(json.dumps({"format": "workloads/1", "name": "tiny", "workloads": layers}))
            manifest = self.build_and_run(job, layers=len(layers))
            self.assertEqual([kernel["trial"] for kernel in manifest["kernels"]], [None] * len(layers))

    def build_and_run(self, job, *arguments, layers=len(LAYERS)):
        """Builds a package and the example with it, which checks every kernel; answers the package's manifest."""
        package, program = job.folder / "package", job.folder / "program"
        job.run("build", "--workloads", job.workloads, *arguments, "--name", "tiny", "-o", package)
        self.assertEqual(job.left_in_temporary_folder(), [])

        cmake = os.environ.get("CMAKE_COMMAND", "cmake")
        configure = [cmake, "-S", ROOT / "examples", "-B", program, "-G", "Ninja"]
        configure += [f"-DCMAKE_PREFIX_PATH={package}", "-DKILN_PACKAGE=tiny"]
        if "CMAKE_MAKE_PROGRAM" in os.environ:
            configure.append(f"-DCMAKE_MAKE_PROGRAM={os.environ['CMAKE_MAKE_PROGRAM']}")
        output = [self.succeed(step) for step in (configure, [cmake, "--build", program], [program / "run_layers"])]
        self.assertIn(f"{layers} layers, 0 wrong", output[-1])
        return json.loads((package / "share" / "tiny" / "manifest.json").read_text())

    def succeed(self, command):
        result = subprocess.run(command, capture_output=True, text=True, timeout=300)
        self.assertEqual(result.returncode, 0, f"{command}\n{result.stdout}{result.stderr}")
        return result.stdout


if __name__ == "__main__":
    unittest.main()
