"""Soft cores: kernels as C, through the cross compiler and the simulator. Skipped where there is no compiler for RISC-V."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

from kiln_job import BINARIES, ROOT, KilnJob, seed

CONFORMANCE = ROOT / "tests" / "conformance"
SUITE = str(CONFORMANCE / "int8_conv.json")
HAS_COMPILER = shutil.which("riscv64-unknown-elf-gcc") is not None
needs_compiler = unittest.skipUnless(HAS_COMPILER, "no riscv64-unknown-elf-gcc: install gcc-riscv64-unknown-elf")


class SoftCore(unittest.TestCase):
    def setUp(self):
        self.job = self.enterContext(KilnJob())

    def run_kiln(self, *arguments, path=None):
        environment = self.job.environment | ({"PATH": path} if path else {})
        command = [str(BINARIES / "kiln"), *arguments]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=900)

    def check(self, *arguments, suite=SUITE, path=None):
        target = [] if "--target" in arguments else ["--target", "rv32im"]
        return self.run_kiln("check", "--suite", str(suite), *target, *arguments, path=path)

    def part_of_suite(self):
        """A suite of every fifth case, which ones the seed says; with KILN_TEST_ALL=1 of all (tests/test_seed.h)."""
        suite = json.loads(pathlib.Path(SUITE).read_text())
        every = int(os.environ.get("KILN_TEST_ALL", "0"))
        suite["cases"] = [case for i, case in enumerate(suite["cases"]) if every or (i + seed()) % 5 == 0]
        for case in suite["cases"]:
            for tensor in case["tensors"].values():
                copy = self.job.folder / tensor["file"]
                copy.parent.mkdir(exist_ok=True)
                shutil.copy2(CONFORMANCE / tensor["file"], copy)
        path = self.job.folder / "int8_conv.json"
        path.write_text(json.dumps(suite))
        return path, len(suite["cases"])

    @needs_compiler
    def test_litert_bit_for_bit(self):
        suite, cases = self.part_of_suite()
        self.assertGreaterEqual(cases, 41 // 5)
        answer = self.check("--format", "json", suite=suite)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertEqual(json.loads(answer.stdout)["passed"], cases)

    @needs_compiler
    def test_random_candidates(self):
        answer = self.check("--filter", "*_dil*", "--candidates", "2", "--seed", os.environ.get("KILN_TEST_SEED", "1"))
        self.assertEqual(answer.returncode, 0, answer.stdout)

    # One of these candidates needs more stack than packages allow. It computes the same.
    @needs_compiler
    def test_a_large_stack_is_right(self):
        answer = self.check("--filter", "*q013_dw_k5", "--candidates", "2", "--seed", "5")
        self.assertEqual(answer.returncode, 0, answer.stdout)

    @needs_compiler
    def test_an_unknown_core_computes_the_same(self):
        core = self.job.folder / "core.json"
        core.write_text('{"format": "core/1", "name": "tiny", "data_cache": {"bytes": 64, "line_bytes": 16}}')
        answer = self.check("--core", str(core), "--filter", "*_1x1*")
        self.assertEqual(answer.returncode, 0, answer.stderr)

    @needs_compiler
    def test_tuning_counts_cycles_and_goes_on(self):
        layers, database = self.job.folder / "layers.json", self.job.folder / "k.db"
        depthwise = {"input": [1, 6, 6, 8], "kernel": [3, 3, 1, 8], "padding": [[1, 1], [1, 1]], "feature_group_count": 8}
        dense = {"input": [1, 6, 6, 8], "kernel": [1, 1, 8, 12]}
        same = {"op": "conv2d", "dtype": "i8", "epilogue": ["bias", "requantize_litert"]}
        workloads = [{"name": n, **same, **w} for n, w in (("depthwise", depthwise), ("dense", dense))]
        layers.write_text(json.dumps({"format": "workloads/1", "name": "small", "workloads": workloads}))
        tune = ["tune", "--workloads", str(layers), "--target", "rv32im", "--db", str(database), "--format", "json"]
        rows = []
        for trials in ("3", "3", "5"):
            answer = self.run_kiln(*tune, "--trials", trials)
            self.assertEqual(answer.returncode, 0, answer.stderr)
            rows.append(json.loads(answer.stdout)[:2])
        self.assertEqual([[r["trials"] for r in row] for row in rows], [[3, 3], [3, 3], [5, 5]])
        self.assertEqual(rows[0], rows[1])
        for first, last in zip(rows[0], rows[2], strict=True):
            self.assertLessEqual(last["cycles"], first["cycles"])
        best = json.loads(self.run_kiln("query", "best", "--db", str(database), "--format", "json").stdout)
        self.assertEqual([b["cycles"] for b in best], [r["cycles"] for r in sorted(rows[2], key=lambda r: r["name"])])
        for b in best:
            self.assertEqual(b["metric"], "cycles")
            self.assertIsNone(b["median_us"])
            self.assertGreater(b["instructions"], 100)
            self.assertGreater(b["text_bytes"], 100)
            self.assertLessEqual(b["stack_bytes"], 512)
        # Another core is another machine.
        core = self.job.folder / "core.json"
        core.write_text('{"format": "core/1", "load_cycles": 1}')
        answer = self.run_kiln(*tune, "--trials", "1", "--core", str(core))
        self.assertEqual([r["trials"] for r in json.loads(answer.stdout)[:2]], [1, 1])

    @needs_compiler
    def test_bench_counts_what_tune_counted(self):
        layers, database = self.job.folder / "layers.json", self.job.folder / "k.db"
        dense = {"op": "conv2d", "dtype": "i8", "epilogue": ["bias", "requantize_litert"], "input": [1, 6, 6, 8]}
        workloads = [{"name": "dense", **dense, "kernel": [1, 1, 8, 12], "count": 2}, {"name": "wide", **dense, "kernel": [3, 3, 8, 4]}]
        layers.write_text(json.dumps({"format": "workloads/1", "name": "small", "workloads": workloads}))
        common = ["--workloads", str(layers), "--target", "rv32im", "--db", str(database), "--format", "json"]
        tuned = self.run_kiln("tune", *common, "--trials", "6", "--filter", "*dense")
        self.assertEqual(tuned.returncode, 0, tuned.stderr)
        (row,) = json.loads(tuned.stdout)
        answer = self.run_kiln("bench", *common)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        first, second = json.loads(answer.stdout)["layers"]
        (best,) = json.loads(self.run_kiln("query", "best", "--db", str(database), "--format", "json").stdout)
        self.assertEqual((first["cycles"], first["default_cycles"]), (row["cycles"], row["default_cycles"]))
        for count in ("instructions", "fetch_misses", "load_misses", "text_bytes", "rodata_bytes", "stack_bytes", "workspace_bytes"):
            self.assertEqual(first[count], best[count], count)
        self.assertEqual((first["untuned"], second["untuned"]), (False, True))
        self.assertEqual(second["cycles"], second["default_cycles"])
        again = self.run_kiln("bench", *common)
        self.assertEqual(again.stdout, answer.stdout)
        table = self.run_kiln("bench", *common[:-2])
        self.assertIn("total", table.stdout)

    @needs_compiler
    def test_repro_counts_the_same_again(self):
        layers, database = self.job.folder / "layers.json", self.job.folder / "k.db"
        dense = {"op": "conv2d", "dtype": "i8", "epilogue": ["bias", "requantize_litert"], "input": [1, 6, 6, 8], "kernel": [1, 1, 8, 12]}
        layers.write_text(json.dumps({"format": "workloads/1", "name": "small", "workloads": [{"name": "dense", **dense}]}))
        core = self.job.folder / "core.json"
        core.write_text('{"format": "core/1", "load_cycles": 1}')
        trials = []
        for described in ([], ["--core", str(core)]):
            tune = ["tune", "--workloads", str(layers), "--target", "rv32im", "--db", str(database), "--trials", "1", *described]
            self.assertEqual(self.run_kiln(*tune).returncode, 0)
            rows = json.loads(self.run_kiln("query", "best", "--db", str(database), "--format", "json").stdout)
            (trial,) = [row for row in rows if row["trial"] not in [t["trial"] for t in trials]]
            trials.append(trial)
            answer = self.run_kiln("repro", trial["trial"], "--db", str(database), "--format", "json", *described)
            self.assertEqual(answer.returncode, 0, answer.stderr)
            facts = {row["fact"]: row for row in json.loads(answer.stdout)}
            for what in ("machine", "toolchain", "status", "object", "median"):
                self.assertEqual(facts[what]["agrees"], "yes", facts[what])
            self.assertEqual(facts["median"]["now"], f"{trial['cycles']} cycles")
        for trial, described in ((trials[0], ["--core", str(core)]), (trials[1], [])):
            answer = self.run_kiln("repro", trial["trial"], "--db", str(database), *described)
            self.assertEqual(answer.returncode, 2, answer.stderr)
            self.assertIn("name its file with --core FILE", answer.stderr)

    def test_bench_refuses_what_means_nothing_there(self):
        layers = str(self.job.folder / "layers.json")
        rows = [
            (["--against", "onednn"], "bench/rtl/beside.py has plain loops"),
            (["--svg", "x.svg"], "`kiln query pareto --svg` draws cycles"),
            (["--rounds", "3"], "--rounds: a soft core's counts are the same each time"),
            (["--steps"], "--steps: needs --network"),
        ]
        for arguments, message in rows:
            answer = self.run_kiln("bench", "--workloads", layers, "--target", "rv32im", *arguments)
            self.assertEqual(answer.returncode, 2, answer.stderr)
            self.assertIn(message, answer.stderr)
        answer = self.run_kiln("bench", "--network", "m.onnx", "--target", "rv32im")
        self.assertIn("--network: `bench` counts layers of a soft core", answer.stderr)
        answer = self.run_kiln("bench", "--workloads", layers, "--core", "c.json")
        self.assertIn("--core is for soft cores", answer.stderr)

    @needs_compiler
    def test_floats_are_computed_with_integers(self):
        """Requantization by a scale in f32, and what quantized networks compute with floats: bit for bit, by the runner's checks."""
        onnx = {"op": "conv2d", "dtype": "i8", "epilogue": ["bias", "requantize_onnx"]}
        nest = {"op": "nest", "loops": [60], "operands": [[60], [1], [1]], "reads": "x0[i0];x1[0];x2[0]"}
        stored, quantized = ["i8", "f32", "f32"], {"dtype": "i8"}
        softmax = {"op": "nest", "loops": [6], "over": [9], "operands": [[6, 9]], "reads": "x0[i0,r0]", "reduction": "sum"}
        workloads = [
            {"name": "dense", **onnx, "input": [1, 6, 6, 8], "kernel": [1, 1, 8, 12]},
            {"name": "depthwise", **onnx, "input": [1, 6, 6, 8], "kernel": [3, 3, 1, 8], "padding": [[1, 1], [1, 1]],
             "feature_group_count": 8},
            {"name": "long sums", **onnx, "dtype": "u8", "output_dtype": "u8", "input": [1, 3, 3, 160], "kernel": [1, 1, 160, 9]},
            {"name": "zero points", **onnx, "dtype": "u8", "output_dtype": "u8", "kernel_dtype": "u8", "kernel_zero_point": True,
             "input": [1, 4, 4, 6], "kernel": [3, 3, 6, 5]},
            {"name": "sum", **quantized, "op": "nest", "loops": [60], "operands": [[60], [60], [1], [1]],
             "operand_dtypes": ["i8", "i8", "f32", "f32"], "reads": "x0[i0];x1[i0];x2[0];x3[0]",
             "term": "i8(round(min(max(add(mul(f32(x0),x2),mul(f32(x1),x3)),-128),127)))"},
            {"name": "sigmoid", **nest, **quantized, "operand_dtypes": stored,
             "term": "i8(min(max(round(div(sigmoid(mul(f32(x0),x1)),x2)),-128),127))"},
            {"name": "table", **nest, **quantized, "loops": [700], "operands": [[700], [1], [1]], "operand_dtypes": stored,
             "term": "i8(min(max(round(div(sigmoid(mul(f32(x0),x1)),x2)),-128),127))"},
            {"name": "of stored", **nest, "dtype": "i8", "output_dtype": "f32", "operand_dtypes": stored,
             "term": "mul(sub(f32(x0),x2),x1)"},
            {"name": "powers", **softmax, "term": "exp(x0)", "finish": "log(x1)"},
            {"name": "largest", **softmax, "dtype": "i8", "reduction": "maximum", "term": "x0"},
        ]  # fmt: skip
        layers = self.job.folder / "layers.json"
        layers.write_text(json.dumps({"format": "workloads/1", "name": "floats", "workloads": workloads}))
        tune = ["tune", "--workloads", str(layers), "--target", "rv32im", "--db", str(self.job.folder / "k.db")]
        answer = self.run_kiln(*tune, "--format", "json", "--trials", "3", "--seed", os.environ.get("KILN_TEST_SEED", "1"))
        self.assertEqual(answer.returncode, 0, answer.stderr)
        rows = json.loads(answer.stdout)[: len(workloads)]
        self.assertEqual([row["failures"] for row in rows], [0] * len(workloads), answer.stderr)
        # The same requantization in code that layers share.
        layers.write_text(json.dumps({"format": "workloads/1", "name": "shared", "workloads": workloads[:3]}))
        answer = self.run_kiln(*tune, "--algorithm", "shared_*", "--format", "json", "--trials", "2")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertEqual([row["failures"] for row in json.loads(answer.stdout)[:3]], [0] * 3, answer.stderr)
        # A function is computed once for each stored number, and looked up for the elements.
        cycles = {row["name"]: row["cycles"] for row in rows}
        self.assertLess(cycles["floats/table"], 700 / 60 * cycles["floats/sigmoid"] / 2)

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

    def test_other_commands_refuse_soft_cores(self):
        answer = self.run_kiln("run", "--network", "m.onnx", "--input", "x=x.npy", "-o", "out", "--target", "rv32im")
        self.assertEqual(answer.returncode, 2, answer.stderr)
        self.assertIn("is a soft core: `bench`, `build`, `check`, `repro` and `tune` simulate it", answer.stderr)

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

    def test_explains_the_rule_that_decides_and_what_is_searched(self):
        layer = {"op": "conv2d", "dtype": "i8", "output_dtype": "i8", "kernel": [1, 1, 8, 16], "epilogue": ["requantize_litert"]}
        layers = self.job.folder / "thin.json"
        many = {**layer, "name": "many", "input": [1, 4, 4, 8], "kernel": [1, 1, 8, 32]}
        few = {**layer, "name": "few", "input": [1, 4, 4, 8]}
        layers.write_text(json.dumps({"format": "workloads/1", "name": "t", "workloads": [many, few]}))
        answer = self.run_kiln("explain", "--workloads", str(layers), "--target", "rv32im", "--format", "json")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        rows = {(row["workload"], row["algorithm"]): row for row in json.loads(answer.stdout)}
        self.assertIn("many outputs of each channel", rows["t/many", "scalar_dense"]["why"])
        self.assertIn("two pixels share a word", rows["t/few", "scalar_dense"]["why"])
        self.assertEqual(rows["t/few", "scalar_dense"]["untuned"], "default")
        self.assertEqual(rows["t/few", "quantized"]["untuned"], "on request")


if __name__ == "__main__":
    if not HAS_COMPILER:
        print("no riscv64-unknown-elf-gcc: most of this is skipped; install gcc-riscv64-unknown-elf", file=sys.stderr)
    unittest.main()
