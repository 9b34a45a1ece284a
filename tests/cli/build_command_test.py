"""Runs the real `kiln build` on what it must refuse before it builds anything: the exit status, one message on stderr,
nothing on stdout, and nothing made or changed. Usage: build_command_test.py PATH_OF_KILN [unittest's arguments]"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

KILN = None

LAYER = {"name": "a", "op": "conv2d", "input": [1, 8, 8, 4], "kernel": [3, 3, 4, 16]}
NO_CPU = "x86-64-linux-avx512_knl"  # of a processor that nobody has

# Arguments after `build --workloads good.json`, what the message must say, exit status.
REFUSED = [
    ([], "--output", 2),
    (["-o", "dist", "--frobnicate"], "--frobnicate", 2),
    (["-o", "dist", "--name", "ResNet-50"], "`ResNet-50` cannot name a package", 2),
    (["-o", "dist", "--name", ""], "cannot name a package", 2),
    (["-o", "dist", "--target", "pentium"], "target `pentium`", 2),
    (["-o", "dist", "--target", "host,pentium"], "target `pentium`", 2),
    (["-o", "dist", "--target", "host,"], "target ``", 2),
    (["-o", "dist", "--threads", "0"], "threads", 2),
    (["-o", "dist", "--filter", "*/nothing"], "--filter */nothing: matches no layer; there are net/a", 2),
    (["-o", "dist", "--db", "missing.db"], "missing.db", 2),
    (["-o", "dist", "--db", "good.json"], "good.json", 2),
    (["-o", ""], "", 2),
    (["-o", "/"], "root", 2),
    (["-o", "good.json"], "not a folder", 2),
    (["-o", "mine"], "not a package of kiln's", 2),
    (["-o", "mixed"], "`src`", 2),
    (["-o", "mixed", "--name", "other"], "besides the package kiln_kernels", 2),
    (["-o", "dist", "--name", "kiln"], "kiln.h", 2),
    (["-o", "dist", "--name", "stdio"], "a header of the system", 2),
    (["-o", "dist", "--name", "c"], "a library of the system", 2),
    (["-o", "dist", "--name", "int"], "C or C++", 2),
    (["-o", "dist", "--name", "a" * 100000], "100000 characters", 2),
    (["-o", "dist", "--network", "m.onnx"], "exclude each other", 2),
    (["-o", "dist", "--shape", "x=1x3"], "--shape needs --network", 2),
    (["-o", "dist", "--weights", "embed"], "--weights needs --network", 2),
    (["-o", "dist", "--weights", "array"], "--weights", 2),
    (["-o", "good.json/below"], "good.json", 3),
    (["-o", "/proc/kiln-dist"], "/proc", 3),
    (["-o", "dist", "--target", NO_CPU], "lacks avx512_knl", 2),
    (["-o", "dist", "--target", "baseline," + NO_CPU], "lacks avx512_knl", 2),
]


class BuildCommandTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        (self.folder / "good.json").write_text(
            json.dumps({"format": "workloads/1", "name": "net", "workloads": [LAYER]})
        )
        (self.folder / "mine").mkdir()
        (self.folder / "mine" / "thesis.txt").write_text("years of work")
        share = self.folder / "mixed" / "share" / "kiln_kernels"
        share.mkdir(parents=True)
        (share / "manifest.json").write_text(json.dumps({"format": "package/1", "name": "kiln_kernels"}))
        (self.folder / "mixed" / "src").mkdir()
        (self.folder / "mixed" / "src" / "main.c").write_text("int main(void) { return 0; }")

    def files(self):
        return {path: path.read_bytes() if path.is_file() else None for path in self.folder.rglob("*")}

    def test_refused(self):
        before = self.files()
        for arguments, message, status in REFUSED:
            with self.subTest(arguments=arguments):
                result = subprocess.run(
                    [KILN, "build", "--workloads", "good.json", *arguments],
                    cwd=self.folder,
                    capture_output=True,
                    text=True,
                    timeout=60,
                )
                self.assertEqual(result.returncode, status, result.stderr)
                self.assertTrue(result.stderr.startswith("kiln: "), result.stderr)
                self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
                self.assertIn(message, result.stderr)
                self.assertEqual(result.stdout, "")
                self.assertEqual(self.files(), before)

    def build(self, *arguments, **environment):
        return subprocess.run(
            [KILN, "build", "--workloads", "good.json", *arguments],
            cwd=self.folder,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=300,
        )

    def test_a_missing_compiler_is_told_before_the_work(self):
        before = self.files()
        done = self.build("-o", "dist", CXX="/nowhere/c++")
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertEqual(
            done.stderr, "kiln: no C++ compiler: $CXX is `/nowhere/c++`, which is not an executable\n"
        )
        self.assertEqual(self.files(), before)

    def test_what_a_compiler_says_stays_in_lines(self):
        compiler = self.folder / "failing-c++"
        compiler.write_text("#!/bin/sh\necho 'first complaint' >&2\necho 'second complaint' >&2\nexit 1\n")
        compiler.chmod(0o755)
        before = self.files()
        done = self.build("-o", "new/dist", CXX=str(compiler))
        self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)
        self.assertIn(f"kiln: the C++ compiler {compiler} ($CXX) failed: exit status 1\n", done.stderr)
        self.assertTrue(done.stderr.startswith("1 layer; building and checking its kernel for host\n"), done.stderr)
        self.assertTrue(done.stderr.endswith("\n  first complaint\n  second complaint\n"), done.stderr)
        self.assertEqual(self.files(), before)


if __name__ == "__main__":
    KILN = sys.argv.pop(1)
    unittest.main()
