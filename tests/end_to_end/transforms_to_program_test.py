"""The Winograd transforms as operations of their own: tune, query, build, and a program that makes a convolution of them."""

import json
import os
import re
import subprocess
import unittest

from kiln_job import ROOT, KilnJob

PROGRAM = ROOT / "examples" / "winograd_transforms.c"
TRIALS = 3


def workload_list():
    """The one that the program's head comment shows."""
    comment = PROGRAM.read_text().split("*/")[0]
    text = re.sub(r"^ \*", "", comment[comment.index('{"format"') :], flags=re.MULTILINE)
    return json.loads(text)


class TransformsToProgramTest(unittest.TestCase):
    def test_from_list_to_program(self):
        with KilnJob() as job:
            layers = workload_list()
            job.workloads.write_text(json.dumps(layers))
            job.run(*job.tune_arguments(TRIALS))
            self.assertEqual(job.trials_per_workload(), [TRIALS] * 3)
            best = json.loads(job.run("query", "best", "--db", job.database, "--format", "json"))
            self.assertEqual(
                sorted(row["candidate"].split("@")[0] for row in best),
                sorted(layer["op"] for layer in layers["workloads"]),
            )

            package, program = job.folder / "package", job.folder / "program"
            job.run(
                "build", "--workloads", job.workloads, "--db", job.database, "--name", "transforms", "-o", package
            )
            cmake = os.environ.get("CMAKE_COMMAND", "cmake")
            configure = [cmake, "-S", ROOT / "examples", "-B", program, "-G", "Ninja"]
            configure += [f"-DCMAKE_PREFIX_PATH={package}", "-DKILN_PACKAGE=transforms"]
            if "CMAKE_MAKE_PROGRAM" in os.environ:
                configure.append(f"-DCMAKE_MAKE_PROGRAM={os.environ['CMAKE_MAKE_PROGRAM']}")
            build = [cmake, "--build", program, "--target", "winograd_transforms"]
            output = [self.succeed(step) for step in (configure, build, [program / "winograd_transforms"])]
            self.assertIn("ok", output[-1])

    def succeed(self, command):
        result = subprocess.run(command, capture_output=True, text=True, timeout=300)
        self.assertEqual(result.returncode, 0, f"{command}\n{result.stdout}{result.stderr}")
        return result.stdout


if __name__ == "__main__":
    unittest.main()
