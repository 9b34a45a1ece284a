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

            manifest, program = self.build(job, "without")
            self.assertIs(manifest["fallback"], False)
            result = subprocess.run([program], capture_output=True, text=True, timeout=60)
            self.assertEqual(result.returncode, 1)
            self.assertIn("built without --fallback", result.stderr)

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
