"""Soft cores: kernels as C, through the cross compiler and the simulator. Skipped where there is no compiler for RISC-V."""

import json
import os
import shutil
import subprocess
import sys
import unittest

from kiln_job import BINARIES, ROOT, KilnJob

SUITE = str(ROOT / "tests" / "conformance" / "int8_conv.json")
HAS_COMPILER = shutil.which("riscv64-unknown-elf-gcc") is not None
needs_compiler = unittest.skipUnless(HAS_COMPILER, "no riscv64-unknown-elf-gcc: install gcc-riscv64-unknown-elf")


class SoftCore(unittest.TestCase):
    def setUp(self):
        self.job = self.enterContext(KilnJob())

    def run_kiln(self, *arguments, path=None):
        environment = self.job.environment | ({"PATH": path} if path else {})
        command = [str(BINARIES / "kiln"), *arguments]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=900)

    def check(self, *arguments, path=None):
        target = [] if "--target" in arguments else ["--target", "rv32im"]
        return self.run_kiln("check", "--suite", SUITE, *target, *arguments, path=path)

    @needs_compiler
    def test_litert_bit_for_bit(self):
        answer = self.check("--format", "json")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertEqual(json.loads(answer.stdout)["passed"], 41)

    @needs_compiler
    def test_random_candidates(self):
        answer = self.check("--filter", "*_dil*", "--candidates", "3", "--seed", os.environ.get("KILN_TEST_SEED", "1"))
        self.assertEqual(answer.returncode, 0, answer.stdout)

    @needs_compiler
    def test_an_unknown_core_computes_the_same(self):
        core = self.job.folder / "core.json"
        core.write_text('{"format": "core/1", "name": "tiny", "data_cache": {"bytes": 64, "line_bytes": 16}}')
        answer = self.check("--core", str(core), "--filter", "*_1x1*")
        self.assertEqual(answer.returncode, 0, answer.stderr)

    def test_bad_input_is_named(self):
        core = self.job.folder / "core.json"
        core.write_text('{"format": "core/1", "data_cache": {"bytes": 3000}}')
        rows = [
            (["--core", str(core)], 2, "data_cache: bytes: needs a power of two; got 3000"),
            (["--core", "/nowhere.json"], 2, "/nowhere.json: cannot be opened"),
            (["--threads", "2"], 2, "a soft core runs one thread; got 2"),
            (["--target", "host", "--core", str(core)], 2, "--core is for soft cores"),
        ]
        for arguments, status, message in rows:
            answer = self.check(*arguments)
            self.assertEqual(answer.returncode, status, answer.stderr)
            self.assertIn(message, answer.stderr)

    def test_a_missing_compiler_names_its_package(self):
        tools = self.job.folder / "bin"
        tools.mkdir()
        answer = self.check(path=str(tools))
        self.assertEqual(answer.returncode, 3, answer.stderr)
        self.assertIn("install the package gcc-riscv64-unknown-elf", answer.stderr)

    def test_what_a_soft_core_cannot_compute_says_why(self):
        layers = self.job.folder / "f32.json"
        layer = {"name": "a", "count": 1, "op": "conv2d", "input": [1, 4, 4, 4], "kernel": [1, 1, 4, 4]}
        layers.write_text(json.dumps({"format": "workloads/1", "name": "f", "workloads": [layer]}))
        answer = self.run_kiln("explain", "--workloads", str(layers), "--target", "rv32im", "--format", "csv")
        self.assertIn("a soft core has integers only", answer.stdout + answer.stderr)


if __name__ == "__main__":
    if not HAS_COMPILER:
        print("no riscv64-unknown-elf-gcc: most of this is skipped; install gcc-riscv64-unknown-elf", file=sys.stderr)
    unittest.main()
