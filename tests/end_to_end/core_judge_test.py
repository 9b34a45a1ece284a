"""`kiln tune --judge rtl` and `kiln check --judge rtl`: kernels on another core than the simulated one. That is a script, VexRiscv's
Verilog where somebody made it, and qemu-riscv32 where it is installed.
"""

import json
import os
import pathlib
import shutil
import subprocess
import unittest

from kiln_job import BINARIES, ROOT, KilnJob

JUDGE = str(pathlib.Path(__file__).resolve().parent / "core_judge.py")
VERILOG = ROOT / ".rtl" / "vexriscv"
QEMU = ROOT / "bench" / "rtl" / "qemu"
SUITE = ROOT / "tests" / "conformance" / "int8_conv.json"
HAS_COMPILER = shutil.which("riscv64-unknown-elf-gcc") is not None
needs_compiler = unittest.skipUnless(HAS_COMPILER, "no riscv64-unknown-elf-gcc: install gcc-riscv64-unknown-elf")

SAME = {"op": "conv2d", "dtype": "i8", "epilogue": ["bias", "requantize_litert"]}
LAYERS = [
    {"name": "depthwise", **SAME, "input": [1, 6, 6, 8], "kernel": [3, 3, 1, 8], "padding": [[1, 1], [1, 1]],
     "feature_group_count": 8},
    {"name": "dense", **SAME, "input": [1, 6, 6, 8], "kernel": [1, 1, 8, 12]},
]  # fmt: skip


class CoreJudge(unittest.TestCase):
    by_model = None  # what `kiln tune` answered, and the database that it made: the same in all tests

    def setUp(self):
        self.job = self.enterContext(KilnJob())
        self.layers, self.database = self.job.folder / "layers.json", self.job.folder / "k.db"
        self.layers.write_text(json.dumps({"format": "workloads/1", "name": "small", "workloads": LAYERS}))

    def tuned_by_model(self):
        """The layers are tuned, in simulation alone; what that answered."""
        if self.by_model is None:
            answer = self.tune()
            self.assertEqual(answer.returncode, 0, answer.stderr)
            CoreJudge.by_model = answer, self.database.read_bytes()
        answer, database = self.by_model
        self.database.write_bytes(database)
        return answer

    def run_kiln(self, *arguments, **environment):
        command = [str(BINARIES / "kiln"), *map(str, arguments)]
        environment = {"KILN_BINARY_DIR": str(BINARIES)} | self.job.environment | environment
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=900)

    def tune(self, *arguments, target="rv32im", trials=5, **environment):
        options = ["--workloads", self.layers, "--target", target, "--db", self.database, "--trials", trials, "--format", "json"]
        return self.run_kiln("tune", *options, *arguments, **environment)

    def check(self, *arguments, cases="*_ties*", **environment):
        options = ["--suite", SUITE, "--filter", cases, "--target", "rv32im", "--judge", "rtl", "--format", "json"]
        return self.run_kiln("check", *options, *arguments, **environment)

    def rows(self, what):
        return json.loads(self.run_kiln("query", what, "--db", self.database, "--format", "json").stdout)

    @needs_compiler
    def test_the_winner_there_is_shown_and_ships(self):
        by_model = self.tuned_by_model()
        self.assertEqual([b["evidence"] for b in self.rows("best")], ["median"] * 2)
        self.assertEqual([b["rtl_cycles"] for b in self.rows("best")], [None] * 2)
        answer = self.tune("--judge", "rtl", KILN_RTL=JUDGE)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        tuned = {row["name"]: row for row in json.loads(answer.stdout)[:2]}
        model = {row["name"]: row["cycles"] for row in json.loads(by_model.stdout)[:2]}
        best, races = self.rows("best"), self.rows("races")
        for row in best:
            self.assertEqual(row["evidence"], "race")
            self.assertGreater(row["cycles"], model[row["name"]])  # the script turns them round
            self.assertEqual(row["rtl_cycles"], tuned[row["name"]]["rtl_cycles"])
            self.assertAlmostEqual(row["rtl_cycles"], 1_000_000_000 / row["cycles"], delta=row["rtl_cycles"] * 0.05)
            self.assertEqual(len([r for r in races if r["name"] == row["name"]]), 3)
        # The same again: nothing new ran there, and nothing was recorded.
        again = self.tune("--judge", "rtl", "--rtl", JUDGE)
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual((self.rows("best"), self.rows("races")), (best, races))
        # Who does not ask is told that the model would choose another.
        self.assertIn("--judge rtl` compares them", self.tune(trials=6).stderr)
        package = self.job.folder / "package"
        build = ["--workloads", self.layers, "--target", "rv32im", "--db", self.database, "--name", "small", "-o", package]
        built = self.run_kiln("build", *build)
        self.assertEqual(built.returncode, 0, built.stderr)
        manifest = json.loads((package / "share" / "small" / "manifest.json").read_text())
        self.assertEqual({k["trial"]["id"] for k in manifest["kernels"]}, {row["trial"] for row in best})

    @needs_compiler
    def test_cold_caches(self):
        answer = self.tune("--judge", "rtl", "--rtl", JUDGE, "--cache", "cold")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertEqual([b["evidence"] for b in self.rows("best")], ["race"] * 2)

    @needs_compiler
    def test_a_core_that_computes_something_else_ends_the_job(self):
        rows = [
            ("hash", "a kernel has other results there than in simulation"),
            ("instructions", "instructions of a call that takes"),
            ("text", "its answer is not one of a program that runs kernels"),
            ("status", "this core is out of order"),
        ]
        self.tuned_by_model()
        for wrong, message in rows:
            answer = self.tune("--judge", "rtl", "--rtl", JUDGE, KILN_TEST_JUDGE=wrong)
            self.assertEqual(answer.returncode, 3, answer.stderr)
            self.assertIn(message, answer.stderr)
            self.assertIn("core_judge.py", answer.stderr)
        self.assertEqual([b["evidence"] for b in self.rows("best")], ["median"] * 2)

    @needs_compiler
    def test_checked_kernels_run_there(self):
        answer = self.check("--rtl", JUDGE)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertEqual(json.loads(answer.stdout)["passed"], 3)
        for wrong, message in (("hash", "other results there than in simulation"), ("instructions", "instructions of a call that takes")):
            answer = self.check("--rtl", JUDGE, KILN_TEST_JUDGE=wrong)
            self.assertEqual(answer.returncode, 1, answer.stderr)
            for case in json.loads(answer.stdout)["cases"]:
                self.assertEqual(case["status"], "failed")
                self.assertIn("core_judge.py: ", case["reason"])
                self.assertIn(message, case["reason"])
        answer = self.check("--rtl", JUDGE, KILN_TEST_JUDGE="status")
        self.assertEqual(answer.returncode, 3, answer.stderr)
        self.assertIn("this core is out of order", answer.stderr)

    @needs_compiler
    @unittest.skipUnless(shutil.which("qemu-riscv32") and shutil.which("cc"), "no qemu-riscv32: install qemu-user")
    def test_qemu_computes_the_same_in_as_many_instructions(self):
        answer = self.check("--rtl", QEMU, "--candidates", 2, "--seed", os.environ.get("KILN_TEST_SEED", "1"))
        self.assertEqual(answer.returncode, 0, answer.stdout)
        answer = subprocess.run([QEMU, self.job.folder / "nothing"], capture_output=True, text=True)
        self.assertEqual(answer.returncode, 2, answer.stderr)
        self.assertIn("nothing: No such file or directory", answer.stderr)

    def test_bad_input_is_named(self):
        rows = [
            (["--judge", "rtl"], 3, "--judge rtl: needs the core's program: --rtl FILE, or its path in $KILN_RTL; `bench/rtl/setup`"),
            (["--judge", "rtl", "--rtl", "/nowhere"], 3, "--judge rtl: /nowhere is no program that can be started"),
            (["--judge", "rtl", "--rtl", str(self.job.folder)], 3, "is no program that can be started; `bench/rtl/setup`"),
            (["--rtl", JUDGE], 2, "--rtl: is for --judge rtl"),
            (["--judge", "qemu"], 2, "--judge"),
        ]
        for arguments, status, message in rows:
            answer = self.tune(*arguments)
            self.assertEqual(answer.returncode, status, answer.stderr)
            self.assertIn(message, answer.stderr)
            self.assertFalse(self.database.exists())
        answer = self.check()
        self.assertEqual(answer.returncode, 3, answer.stderr)
        self.assertIn("--judge rtl: needs the core's program", answer.stderr)
        answer = self.tune("--judge", "rtl", target="host")
        self.assertEqual(answer.returncode, 2, answer.stderr)
        self.assertIn("--judge rtl: is for soft cores, such as --target rv32im", answer.stderr)
        answer = self.tune("--judge", "rtl", KILN_RTL="/nowhere")
        self.assertIn("/nowhere ($KILN_RTL) is no program", answer.stderr)

    @needs_compiler
    @unittest.skipUnless(os.access(VERILOG, os.X_OK), "no .rtl/vexriscv: bench/rtl/setup makes it")
    def test_the_model_is_close_to_the_verilog(self):
        self.tuned_by_model()
        answer = self.tune("--judge", "rtl", "--rtl", VERILOG)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        for row in self.rows("best"):
            self.assertAlmostEqual(row["rtl_cycles"] / row["cycles"], 1, delta=0.1)


if __name__ == "__main__":
    unittest.main()
