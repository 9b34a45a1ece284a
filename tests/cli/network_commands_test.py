"""Runs the real `kiln run`, `check`, `bench` and `explain` on whole networks. Usage: network_commands_test.py PATH_OF_KILN [unittest's
arguments]"""

import ast
import json
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

KILN = None
SUITES = pathlib.Path(__file__).resolve().parent.parent / "conformance"
MODEL = SUITES / "onnx_graph" / "n00_first_conv_relu.onnx"  # x: 1x3x45x45 -> t2_relu: 1x16x23x23
INPUT = SUITES / "onnx_graph" / "n00_first_conv_relu.x.npy"
BRANCHES = SUITES.parent / "fuzz/corpus/onnx_lower/made_if_of_an_input"  # y = c ? relu(x) : -x; 4 elements
EXPECTED = SUITES / "onnx_graph" / "n00_first_conv_relu.out0.npy"


def kiln(*arguments, folder=None):
    return subprocess.run([KILN, *map(str, arguments)], cwd=folder, capture_output=True, text=True, timeout=300)


def read_npy(path):
    """Header and f32 elements, read by the format's rules alone."""
    data = path.read_bytes()
    assert data[:8] == b"\x93NUMPY\x01\x00", data[:8]
    end = 10 + struct.unpack("<H", data[8:10])[0]
    assert end % 64 == 0 and data[end - 1 : end] == b"\n"
    header = ast.literal_eval(data[10:end].decode("latin1"))
    return header, struct.unpack(f"<{(len(data) - end) // 4}f", data[end:])


class WithFolder(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def run_kiln(self, *arguments, status=0):
        done = kiln(*arguments, folder=self.folder)
        self.assertEqual(done.returncode, status, done.stderr)
        return done


class Run(WithFolder):
    def test_outputs_are_numpy_files(self):
        done = self.run_kiln("run", "--network", MODEL, "--input", f"x={INPUT}", "-o", "new/out")
        self.assertEqual(done.stdout, "new/out/t2_relu.npy  f32 [1, 16, 23, 23]\n")
        self.assertIn("untuned", done.stderr)
        header, got = read_npy(self.folder / "new/out/t2_relu.npy")
        self.assertEqual(header, {"descr": "<f4", "fortran_order": False, "shape": (1, 16, 23, 23)})
        _, expected = read_npy(EXPECTED)
        self.assertEqual(len(got), len(expected))
        self.assertLess(max(abs(a - b) for a, b in zip(got, expected)), 1e-4)

    def test_several_images_at_once(self):
        data = INPUT.read_bytes()
        header = data[10:128].replace(b"(1, 3, 45, 45), ", b"(2, 3, 45, 45), ")
        pixels = data[128:]
        other = struct.pack(f"<{len(pixels) // 4}f", *[v / 2 for v in struct.unpack(f"<{len(pixels) // 4}f", pixels)])
        (self.folder / "two.npy").write_bytes(data[:10] + header + pixels + other)
        (self.folder / "other.npy").write_bytes(data[:128] + other)
        done = self.run_kiln("run", "--network", MODEL, "--batch", 2, "--input", "two.npy", "-o", "out")
        self.assertEqual(done.stdout, "out/t2_relu.npy  f32 [2, 16, 23, 23]\n")
        self.run_kiln("run", "--network", MODEL, "--input", "other.npy", "-o", "apart")
        _, got = read_npy(self.folder / "out/t2_relu.npy")
        _, second = read_npy(self.folder / "apart/t2_relu.npy")
        _, first = read_npy(EXPECTED)
        self.assertEqual(len(got), len(first) + len(second))
        self.assertLess(max(abs(a - b) for a, b in zip(got, first + second)), 1e-4)

    def test_constant_inputs_choose_branches(self):
        header = "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }".ljust(117) + "\n"
        data = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack("<4f", -1, 2, -3, 4)
        (self.folder / "x.npy").write_bytes(data)
        for value, expected in ((1, (0, 2, 0, 4)), (0, (1, -2, 3, -4))):
            self.run_kiln("run", "--network", BRANCHES, "--constant", f"c={value}", "--input", "x.npy", "-o", "out")
            self.assertEqual(read_npy(self.folder / "out/y.npy")[1], expected)
        for arguments, message in (
            (["run", "--network", BRANCHES, "--input", "x.npy", "-o", "out"], "state what it follows from: --constant 'c'=..."),
            (["explain", "--network", BRANCHES, "--constant", "c=2"], "--constant 'c': the input is bool, which does not hold"),
            (["explain", "--network", BRANCHES, "--constant", "c"], "--constant c: has no name and value; write NAME=16000"),
            (["bench", "--workloads", "none.json", "--constant", "c=1"], "--constant needs --network"),
            (["explain", "--workloads", "none.json", "--constant", "c=1"], "--constant needs --network"),
        ):
            with self.subTest(arguments=arguments):
                self.assertIn(message, self.run_kiln(*arguments, status=2).stderr)

    def test_batches_that_do_not_fit(self):
        for arguments, message in (
            (["run", "--network", MODEL, "--batch", 0, "--input", INPUT, "-o", "out"], "--batch: Value 0 not in range"),
            (["bench", "--network", MODEL, "--batch", 2, "--against", "onnxruntime"], "--against: other libraries run the model"),
            (["bench", "--workloads", "none.json", "--batch", 2], "--batch needs --network"),
        ):
            with self.subTest(arguments=arguments):
                self.assertIn(message, self.run_kiln(*arguments, status=2).stderr)

    def test_what_does_not_fit_is_said_at_once(self):
        for inputs, messages in (
            ([], ["input `x` has no file; add --input x=FILE.npy with float32 (1, 3, 45, 45)"]),
            ([f"y={INPUT}"], ["`y` is no input of the network; its inputs are `x`", "input `x` has no file"]),
            ([INPUT, f"x={INPUT}"], ["`x` has two files"]),
            ([EXPECTED], ["has shape (1, 16, 23, 23), but input `x` is float32 (1, 3, 45, 45)"]),
            (["lost.npy"], ["lost.npy"]),
            ([MODEL], ["not a .npy file"]),
        ):
            options = [word for file in inputs for word in ("--input", file)]
            done = self.run_kiln("run", "--network", MODEL, *options, "-o", "out", status=2)
            for message in messages:
                self.assertIn(message, done.stderr)
            self.assertFalse((self.folder / "out").exists())

    def test_a_folder_that_is_none(self):
        (self.folder / "file").write_text("")
        done = self.run_kiln("run", "--network", MODEL, "--input", INPUT, "-o", "file", status=2)
        self.assertIn("file: is no folder", done.stderr)
        self.assertNotIn("untuned", done.stderr)  # said before the network is built

    def test_a_folder_that_cannot_be_written(self):
        (self.folder / "file").write_text("")
        for output, reason in (("/proc/kiln-out", "No such file"), ("/proc", "No such file"), ("file/below", "Not a directory")):
            with self.subTest(output):
                done = self.run_kiln("run", "--network", MODEL, "--input", INPUT, "-o", output, status=3)
                self.assertIn(output, done.stderr)
                self.assertRegex(done.stderr, reason + "|Permission denied|not permitted")
                self.assertNotIn("untuned", done.stderr)


class Check(WithFolder):
    def check(self, *arguments, status=0):
        return json.loads(self.run_kiln("check", *arguments, "--format", "json", status=status).stdout)

    def test_small_networks_pass(self):
        report = self.check("--suite", SUITES / "onnx_graph.json", "--filter", "*/n00*")
        self.assertEqual([case["status"] for case in report["cases"]], ["passed"], report)
        for case in report["cases"]:
            self.assertRegex(case["algorithm"], "direct|winograd")
            self.assertRegex(case["candidate"], r"^\d+ steps?, \d+ kernels?$")
            self.assertIsNotNone(case["max_error"])
            self.assertTrue(case["untuned"])

    def test_cases_without_inputs_and_with_empty_outputs(self):
        manifest = json.loads((SUITES / "onnx_node.json").read_text())
        for tag in ("no_inputs", "empty_output", "int64_output"):
            case = next(case["id"] for case in manifest["cases"] if tag in case["tags"])
            report = self.check("--suite", SUITES / "onnx_node.json", "--filter", "*/" + case)
            self.assertEqual(report["passed"], 1, report)

    def test_steps_that_write_over_an_operand(self):
        for case in ("test_softmax_axis_0", "test_layer_normalization_4d_axis_negative_2"):  # of no whole vectors
            report = self.check("--suite", SUITES / "onnx_node.json", "--filter", "*/" + case)
            self.assertEqual(report["passed"], 1, report)

    def copied(self, change):
        """The suite with one case, after `change`."""
        manifest = json.loads((SUITES / "onnx_graph.json").read_text())
        manifest["cases"] = manifest["cases"][:1]
        for name in ("n00_first_conv_relu.onnx", "n00_first_conv_relu.x.npy", "n00_first_conv_relu.out0.npy"):
            (self.folder / "onnx_graph").mkdir(exist_ok=True)
            (self.folder / "onnx_graph" / name).write_bytes((SUITES / "onnx_graph" / name).read_bytes())
        change(manifest["cases"][0])
        path = self.folder / "onnx_graph.json"
        path.write_text(json.dumps(manifest))
        return path

    def test_a_wrong_expectation_fails(self):
        def change(case):
            path = self.folder / case["tensors"]["t2_relu"]["file"]
            path.write_bytes(path.read_bytes()[:-4] + struct.pack("<f", 1e6))

        report = self.check("--suite", self.copied(change), status=1)
        self.assertEqual(report["failed"], 1)
        self.assertIn("output `t2_relu`: 1 of ", report["cases"][0]["reason"])

    def test_a_missing_model_is_an_error(self):
        suite = self.copied(lambda case: case.update(model="onnx_graph/lost.onnx"))
        self.assertIn("lost.onnx does not exist", self.run_kiln("check", "--suite", suite, status=2).stderr)

    def test_what_would_not_be_compared_is_refused(self):
        for change, message in (
            (lambda case: case["tensors"]["t2_relu"].update(role="expectd"), "tensors: t2_relu: role: `expectd` is unknown"),
            (lambda case: case["tensors"]["t2_relu"].update(role="intermediate"), "tensors: none has the role `expected`"),
            (lambda case: case["tolerance"].update(kind="exat"), "tolerance: kind: `exat` is unknown"),
        ):
            with self.subTest(message):
                done = self.run_kiln("check", "--suite", self.copied(change), status=2)
                self.assertIn("onnx_graph.json: case `n00_first_conv_relu`: " + message, done.stderr)

    def test_an_unknown_operator_is_unsupported(self):
        def change(case):
            path = self.folder / case["model"]
            path.write_bytes(path.read_bytes().replace(b"Relu", b"Rulu"))

        report = self.check("--suite", self.copied(change))
        self.assertEqual(report["unsupported"], 1)
        self.assertIn("Rulu", report["cases"][0]["reason"])

    def test_what_the_compiler_said_is_the_reason(self):
        installed = pathlib.Path(KILN).parent
        copied = self.folder / "kiln" / "bin"
        copied.mkdir(parents=True)
        for name in ("kiln", "kiln-runner"):
            shutil.copy2(installed / name, copied)
        for name in ("lib", "include"):
            (copied.parent / name).symlink_to(installed.parent / name)
        generator = copied / "kiln-generator"
        answer = "test $1 = --version && exec '%s' --version; echo 'no schedule today' >&2; exit 1"
        generator.write_text("#!/bin/sh\n" + answer % (installed / "kiln-generator"))
        generator.chmod(0o755)
        arguments = ["check", "--suite", SUITES / "onnx_graph.json", "--filter", "*/n00*", "--format", "json"]
        done = subprocess.run([copied / "kiln", *arguments], cwd=self.folder, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 1, done.stderr)
        [case] = json.loads(done.stdout)["cases"]
        self.assertEqual(case["status"], "failed")
        for words in ("no kernel computes", "the default of ", "compile_error: no schedule today"):
            self.assertIn(words, case["reason"])

    def test_the_plan_is_that_of_a_build(self):
        network, steps = SUITES / "onnx_graph" / "n01_residual_broadcast.onnx", set()
        for options in ((), ("--without", "fuse_*")):
            plan = json.loads(self.run_kiln("explain", "--network", network, "--pass", "plan", "--format", "json", *options).stdout)
            [case] = self.check("--suite", SUITES / "onnx_graph.json", "--filter", "*/n01*", *options)["cases"]
            self.assertEqual((case["status"], case["candidate"].split()[0]), ("passed", str(len(plan))), case)
            steps.add(len(plan))
        self.assertEqual(len(steps), 2)

    def test_networks_on_soft_cores_are_not_called(self):
        report = self.check("--suite", SUITES / "onnx_int8.json", "--filter", "*/qdq_conv_01", "--target", "rv32im")
        self.assertEqual(report["unsupported"], 1, report)
        self.assertIn("kiln build --network", report["cases"][0]["reason"])

    def test_algorithms_that_are_excluded(self):
        report = self.check("--suite", SUITES / "onnx_graph.json", "--filter", "*/n00*", "--algorithm", "winograd*")
        self.assertEqual(report["not_applicable"], 1, report)


class Bench(WithFolder):
    def test_the_whole_then_its_kernels(self):
        done = self.run_kiln("bench", "--network", MODEL, "--rounds", "2", "--format", "json")
        report = json.loads(done.stdout)
        [network] = report["networks"]
        self.assertEqual((network["name"], network["threads"], network["peers"]), ("n00_first_conv_relu", 1, {}))
        self.assertTrue(0 < network["min_ms"] <= network["median_ms"])
        self.assertEqual(network["default_ms"], network["median_ms"])
        self.assertTrue(network["untuned"])
        self.assertGreaterEqual(len(report["layers"]), 1)

    def test_history(self):
        empty = self.folder / "empty.jsonl"
        empty.write_text('{"format":"database/1"}\n')
        self.run_kiln("db", "import", "--db", "k.db", empty)
        measured = [json.loads(self.run_kiln("bench", "--network", MODEL, "--db", "k.db", "--rounds", "2", "--steps", "--format",
                                             "json").stdout)["networks"][0] for _ in range(2)]
        rows = json.loads(self.run_kiln("query", "networks", "--db", "k.db", "--filter", "n00*", "--format", "json").stdout)
        ours = [row for row in rows if row["who"] == "kiln"]
        for row, network in zip(ours, reversed(measured), strict=True):
            self.assertAlmostEqual(row["median_ms"], network["median_ms"])
        self.assertEqual({(row["network"], row["rounds"], row["untuned"], row["ratio"]) for row in ours},
                         {("n00_first_conv_relu", 2, 1, 1)})
        self.assertTrue(self.run_kiln("query", "networks", "--db", "k.db", "--format", "csv").stdout.startswith("network,created_at"))
        self.assertIn("network of the database", self.run_kiln("query", "networks", "--db", "k.db", "--filter", "x", status=2).stderr)

    def test_table(self):
        done = self.run_kiln("bench", "--network", MODEL, "--rounds", "1")
        self.assertIn("n00_first_conv_relu", done.stdout)
        self.assertLessEqual(max(map(len, done.stdout.splitlines()[3:])), 100)

    def test_steps(self):
        done = self.run_kiln("bench", "--network", MODEL, "--rounds", "1", "--steps", "--format", "json")
        report = json.loads(done.stdout)
        self.assertEqual(report["layers"], [])
        steps = report["networks"][0]["steps"]
        planned = json.loads(self.run_kiln("explain", "--network", MODEL, "--pass", "plan", "--format", "json").stdout)
        self.assertEqual([step["key"] for step in steps], [step["key"] for step in planned])
        self.assertTrue(all(step["us"] > 0 for step in steps), steps)
        self.assertAlmostEqual(sum(step["share"] for step in steps), 1)
        table = self.run_kiln("bench", "--network", MODEL, "--rounds", "1", "--steps", "--sort", "-us", "--top", "1").stdout
        self.assertIn("GFLOP/s", table)
        for options in (("--steps",), ("--steps", "--network", MODEL, "--columns", "peers")):
            self.run_kiln("bench", *options, *([] if "--network" in options else ["--workloads", SUITES.parent.parent / "workloads" / "resnet50.json"]), status=2)


class ExplainPlan(WithFolder):
    def explain(self, *options, status=0):
        return self.run_kiln("explain", "--network", MODEL, "--pass", "plan", *options, status=status)

    def test_what_each_step_runs(self):
        text = self.explain().stdout
        for word in ("calls of", "transforms left", "times the lower bound", "untuned"):
            self.assertIn(word, text)
        self.assertLessEqual(max(map(len, text.splitlines())), 100)
        rows = json.loads(self.explain("--format", "json").stdout)
        self.assertIn("conv2d", [row["kind"] for row in rows])
        self.assertIn("bias+relu", [row["fused"] for row in rows])
        self.assertIn("NHWC", [row["layout"] for row in rows])

    def test_alterations(self):
        network = SUITES / "onnx_graph" / "n01_residual_broadcast.onnx"
        def rows(*options):
            done = self.run_kiln("explain", "--network", network, "--pass", "alterations", "--format", "json", *options)
            return json.loads(done.stdout)
        all_of_them = rows()
        self.assertIn("fuse_epilogues", [row["alteration"] for row in all_of_them])
        for row in all_of_them:
            self.assertEqual(row["costs"], "estimated")
            self.assertAlmostEqual(row["gain_us"], row["before_us"] - row["after_us"], places=6)
        self.assertNotIn("fuse_epilogues", [row["alteration"] for row in rows("--without", "fuse_*")])
        fused = [row["fused"] for row in json.loads(self.explain("--without", "*", "--format", "json").stdout)]
        self.assertNotIn("bias+relu", fused)
        for options, message in (
            (("--pass", "plan", "--without", "magic"), "there are fold_pads"),
            (("--without", "side_by_side"), "--without needs --network with --pass plan, --pass alterations or --html"),
            (("--pass", "alterations", "--columns", "magic"), "--columns"),
        ):
            self.assertIn(message, self.run_kiln("explain", "--network", network, *options, status=2).stderr)

    def test_libraries_of_alterations(self):
        example = pathlib.Path(KILN).parent.parent / "tests" / "libraries" / "libkiln_example_alteration.so"
        self.assertTrue(example.exists(), "ninja kiln_example_alteration")
        network = SUITES / "onnx_graph" / "n04_vgg.onnx"
        plan = ("explain", "--network", network, "--pass", "plan", "--alterations", example)
        self.assertIn("conv2d", self.run_kiln(*plan).stdout)
        self.run_kiln(*plan, "--without", "relu_behind_pool")
        self.assertIn("relu_behind_pool", self.run_kiln(*plan, "--without", "magic", status=2).stderr)
        self.assertIn("is taken", self.run_kiln(*plan, "--alterations", example, status=2).stderr)
        nowhere = self.run_kiln("run", "--network", network, "--alterations", "nowhere.so", "-o", "out", status=2).stderr
        self.assertIn("--alterations nowhere.so: is no file", nowhere)
        lists = SUITES.parent.parent / "workloads" / "resnet50.json"
        for command in (("tune", "--db", "x.db"), ("build", "-o", "dist"), ("bench",)):
            done = self.run_kiln(*command, "--workloads", lists, "--alterations", example, status=2)
            self.assertIn("--alterations needs --network", done.stderr)

    def test_page(self):
        page = self.folder / "page.html"
        command = ("explain", "--network", MODEL, "--html", page)
        if shutil.which("dot") is None:
            self.assertIn("install the package graphviz", self.run_kiln(*command, status=3).stderr)
            return
        self.run_kiln(*command)
        text = page.read_text()
        self.assertTrue(text.startswith("<!DOCTYPE html>"))
        for part in ("<svg", "</svg>", "NHWC", "times the lower bound", "bias+relu", "conv2d/input:"):
            self.assertIn(part, text)
        self.run_kiln("explain", "--network", MODEL, "--html", page / "below-a-file", status=3)
        self.run_kiln("explain", "--network", MODEL, "--html", page, "--format", "dot", status=2)
        self.run_kiln("explain", "--workloads", SUITES.parent.parent / "workloads" / "resnet50.json", "--html", page, status=2)

    def test_options_without_an_effect(self):
        plan, alterations, page = ("--pass", "plan"), ("--pass", "alterations"), ("--html", "page.html")
        network = ("--network", MODEL)
        for option in (("--db", "none.db"), ("--without", "fuse_*"), ("--alterations", "none.so")):
            for subject in (network, (*network, "--pass", "import"), ("dist",), ("--workloads", "none.json")):
                with self.subTest(option=option, subject=subject):
                    done = self.run_kiln("explain", *subject, *option, status=2)
                    self.assertIn(f"{option[0]} needs --network with --pass plan, --pass alterations or --html", done.stderr)
        for option in (("--columns", "step"), ("--sort", "step"), ("--top", "1"), ("--wide",), ("--guard-formulas",)):
            for subject in (network, (*network, "--pass", "import"), (*network, *page)):
                with self.subTest(option=option, subject=subject):
                    done = self.run_kiln("explain", *subject, *option, status=2)
                    self.assertIn(f"{option[0]} needs a package, --workloads, or --network with --pass plan or", done.stderr)
        for option in (("--target", "host"), ("--threads", "1")):
            for subject in (network, ("dist",)):
                with self.subTest(option=option, subject=subject):
                    done = self.run_kiln("explain", *subject, *option, status=2)
                    self.assertIn(f"{option[0]} needs --workloads, or --network with --pass plan, --pass alterations", done.stderr)
        for subject in (network, (*network, *plan), (*network, *alterations), (*network, *page)):
            with self.subTest(subject=subject):
                done = self.run_kiln("explain", *subject, "--filter", "*", status=2)
                self.assertIn("--filter needs a package or --workloads", done.stderr)
        self.assertIn("--batch needs --network", self.run_kiln("explain", "dist", "--batch", 1, status=2).stderr)
        for options in (plan, alterations):
            self.run_kiln("explain", *network, *options, "--target", "baseline", "--threads", "1", "--top", "1", "--wide")

    def test_options_that_do_not_fit(self):
        self.assertIn("json or csv", self.explain("--format", "dot", status=2).stderr)
        self.assertIn("--columns", self.explain("--columns", "magic", status=2).stderr)


if __name__ == "__main__":
    KILN = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
