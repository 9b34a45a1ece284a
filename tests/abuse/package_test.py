"""Packages and strangers: what a forged record may ship, what `build -o` may delete, and where it may run."""

import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import unittest

from forged_rows import forge
from kiln_job import BINARIES, ROOT, KilnJob

KILN = str(BINARIES / "kiln")

LAYER = {"name": "layer", "op": "conv2d", "input": [1, 16, 16, 32], "kernel": [3, 3, 32, 32], "padding": [[1, 1], [1, 1]]}
# A Winograd kernel of so many channels needs scratch memory on every CPU. That of few may lie on the stack.
LARGE_LAYER = {**LAYER, "input": [1, 16, 16, 256], "kernel": [3, 3, 256, 256]}

# Columns of the one trial, and options of the build -> what `build` says of the layer.
# Without another id; tests/package/package_kernels_test.cpp has records whose ids fit what they say.
FORGERIES = [
    "workspace_bytes = 0, workspace_bytes_per_thread = 0",
    "workspace_bytes = 9223372036854775807, workspace_bytes_per_thread = 9223372036854775807",
    "workspace_bytes = NULL, packed_bytes = 0",
    "max_error = 1e-12, rms_error = 1e-13, wide_error = 1e-12",
]


def build(job, *arguments, **options):
    """`kiln build` of the job's layers; answers the process that has ended."""
    command = [KILN, "build", "--workloads", job.workloads, *arguments]
    return subprocess.run([*map(str, command)], **{"cwd": job.folder, "env": job.environment, "timeout": 300,
                                                    "capture_output": True, "text": True, **options}, check=False)


def tree(folder):
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


class ForgedRecords(unittest.TestCase):
    def test_sizes_and_errors_of_a_package_are_those_found_here(self):
        with KilnJob() as job:
            job.workloads.write_text(json.dumps({"format": "workloads/1", "name": "net", "workloads": [LARGE_LAYER]}))
            job.run(*job.tune_arguments(1), "--algorithm", "winograd_2", "--max-error", "1e-4")
            [(workspace, error)] = job.query("SELECT workspace_bytes, max_error FROM trials WHERE status = 'ok'")
            self.assertGreater(workspace, 0)
            honest = job.database.read_bytes()
            for columns in FORGERIES:
                with self.subTest(columns):
                    job.database.write_bytes(honest)
                    forge(job.database, columns)
                    done = build(job, "--db", job.database, "-o", "dist", "--max-error", "1e-4")
                    self.assertEqual(done.returncode, 2, done.stderr)
                    self.assertIn("was changed after it was made", done.stderr)
                    self.assertFalse((job.folder / "dist").exists())
            # What was not changed ships with what was found here.
            job.database.write_bytes(honest)
            done = build(job, "--db", job.database, "-o", "dist", "--max-error", "1e-4")
            self.assertEqual(done.returncode, 0, done.stderr)
            manifest = json.loads((job.folder / "dist/share/kiln_kernels/manifest.json").read_text())
            [kernel] = manifest["kernels"]
            self.assertTrue(kernel["judged"]["machine"])
            self.assertEqual(kernel["workspace_bytes"], -(-workspace // 64) * 64)
            self.assertEqual(kernel["max_error"], error)


class LargestErrors(unittest.TestCase):
    def test_untuned_kernels_are_held_to_the_largest_error(self):
        with KilnJob() as job:
            job.workloads.write_text(json.dumps({"format": "workloads/1", "name": "net", "workloads": [LAYER]}))
            # Sums of 288 products in f32 have larger errors than the first one.
            for limit, status in (("1e-12", 1), ("1e-5", 0), ("1e-3", 0)):
                with self.subTest(limit):
                    done = build(job, "-o", "new/place/dist", "--algorithm", "direct", "--max-error", limit)
                    self.assertEqual(done.returncode, status, done.stderr)
                    self.assertEqual((job.folder / "new").exists(), status == 0, "no folder is left above what is not there")
                    if status:
                        for word in ("net/layer", "no kernel", "an error of", "(budget "):
                            self.assertIn(word, done.stderr)
                        continue
                    manifest = json.loads((job.folder / "new/place/dist/share/kiln_kernels/manifest.json").read_text())
                    [kernel] = manifest["kernels"]
                    self.assertLessEqual(kernel["max_error"], float(limit))
                    self.assertEqual(kernel["judged"]["error_budget"], float(limit))


class OutputFolders(unittest.TestCase):
    def test_a_build_deletes_what_it_made_and_nothing_else(self):
        with KilnJob() as job:
            dist = job.folder / "dist"
            self.assertEqual(build(job, "-o", "dist").returncode, 0)
            self.assertEqual(build(job, "-o", "dist").returncode, 0)
            self.assertEqual(sorted(path.name for path in job.folder.iterdir()), ["dist", "tiny.json", "tmp"])
            before = tree(dist)

            def expect_refused(word, *arguments):
                there = tree(job.folder)
                done = build(job, *arguments)
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertIn(word, done.stderr)
                self.assertEqual(tree(job.folder), there)

            expect_refused("holds the package kiln_kernels", "-o", "dist", "--name", "other")
            (dist / "src").mkdir()
            (dist / "src" / "main.c").write_text("int main(void) { return 0; }")
            expect_refused("`src`", "-o", "dist")
            shutil.rmtree(dist / "src")
            (dist / "lib" / "libmine.a").write_text("mine")
            expect_refused("`lib/libmine.a`", "-o", "dist")
            (dist / "lib" / "libmine.a").unlink()
            self.assertEqual(tree(dist), before)

            work = job.folder / ".dist.kiln-2147483646"
            work.mkdir()
            (work / "thesis.txt").write_text("years of work")
            self.assertEqual(build(job, "-o", "dist").returncode, 0)
            self.assertEqual((work / "thesis.txt").read_text(), "years of work")

    @unittest.skipIf(os.geteuid() != 0, "only root makes links of others")
    def test_a_link_of_another_user_chooses_no_output(self):
        with KilnJob() as job:
            public = job.folder / "public"
            public.mkdir()
            public.chmod(0o1777)
            (job.folder / "victim").mkdir()
            (public / "dist").symlink_to(job.folder / "victim")
            os.lchown(public / "dist", 12345, 12345)
            done = build(job, "-o", public / "dist")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("a link of another user", done.stderr)
            self.assertEqual(list((job.folder / "victim").iterdir()), [])

    def test_a_working_folder_that_is_gone(self):
        with KilnJob() as job:
            for output, status in (("dist", 3), (job.folder / "dist", 0)):
                gone = job.folder / "gone"
                gone.mkdir()
                done = build(job, "-o", output, cwd=gone, preexec_fn=gone.rmdir)
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertEqual((job.folder / "dist").exists(), status == 0)

    def test_a_limit_on_files_leaves_the_old_package(self):
        with KilnJob() as job:
            self.assertEqual(build(job, "-o", "dist").returncode, 0)
            before = tree(job.folder)
            for kib in (1, 10, 30):
                limit = lambda kib=kib: resource.setrlimit(resource.RLIMIT_FSIZE, (kib << 10, kib << 10))
                done = build(job, "-o", "dist", "--fallback", preexec_fn=limit)
                self.assertIn(done.returncode, (1, 3), done.stderr)
                self.assertTrue(done.stderr.strip())
                self.assertEqual(tree(job.folder), before)


class Forks(unittest.TestCase):
    PROGRAM = """
import os, signal, sys
import numpy
sys.path.insert(0, sys.argv[1])
import kiln_package
package = kiln_package.Package(sys.argv[2])
kernel = package.kernels()[0]
shapes = {"input": (1, 16, 16, 32), "weights": (3, 3, 32, 32), "output": (1, 16, 16, 32)}
x, weights, expected, y = (numpy.ones(shapes[name], numpy.float32) for name in ("input", "weights", "output", "output"))
with kiln_package.Pool(package, 3) as pool:
    layer = kiln_package.Layer(kernel, pool)
    layer.pack(weights)
    layer.run(x, expected)
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        layer.run(x, y)
        with kiln_package.Pool(package, 2) as own:
            mine = kiln_package.Layer(kernel, own)
            mine.pack(weights)
            mine.run(x, y)
        pool.__exit__()
        os._exit(0 if (y == expected).all() else 1)
    assert os.waitpid(child, 0)[1] == 0
    layer.run(x, y)
    assert (y == expected).all()
"""

    def test_a_child_of_fork_runs_and_destroys_a_pool(self):
        try:
            import numpy  # noqa: F401
        except ImportError:
            self.skipTest("needs numpy")
        with KilnJob() as job:
            job.workloads.write_text(json.dumps({"format": "workloads/1", "name": "net", "workloads": [LAYER]}))
            self.assertEqual(build(job, "-o", "dist").returncode, 0)
            library = job.folder / "dist/lib/libkiln_kernels.so"
            done = subprocess.run([sys.executable, "-c", self.PROGRAM, ROOT / "examples", library],
                                  capture_output=True, text=True, timeout=120, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)


class Arrays(unittest.TestCase):
    """What examples/kiln_package.py hands to kernels, which take bytes for what their descriptor says."""

    def test_arrays_that_no_kernel_takes_are_refused(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("needs numpy")
        sys.path.insert(0, str(ROOT / "examples"))
        import kiln_package

        self.assertEqual(kiln_package.Tensor.of(numpy.zeros(3, numpy.float32)).dtype, kiln_package.F32)
        other_order = numpy.dtype(numpy.float32).newbyteorder()
        for array in (numpy.zeros(3, other_order), numpy.zeros(3, numpy.float64), numpy.zeros((3, 4), numpy.int8).T):
            with self.assertRaises(ValueError):
                kiln_package.Tensor.of(array)


if __name__ == "__main__":
    unittest.main()
