"""Runs the real `kiln targets`, `check` and `bench`: what they print, in which form, and how they end.
Usage: measuring_commands_test.py PATH_OF_KILN [unittest's arguments]"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

KILN = None
CONFORMANCE = pathlib.Path(__file__).resolve().parent.parent / "conformance"
XLA = str(CONFORMANCE / "xla_conv.json")


def kiln(*arguments):
    return subprocess.run([KILN, *arguments], capture_output=True, text=True, timeout=300)


class Targets(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        done = kiln("targets", "--format", "json")
        assert done.returncode == 0, done.stderr
        cls.report = json.loads(done.stdout)

    def test_host_and_aliases(self):
        names = [target["name"] for target in self.report["targets"]]
        self.assertEqual(names[0], "host")
        self.assertIn("baseline", names)
        for target in self.report["targets"]:
            self.assertEqual(target["runs"], not target["missing"])
            self.assertEqual(target["runs"], target["peak"] is not None)
            self.assertRegex(target["halide"], r"^\w+-(32|64)-\w+")

    def test_peaks(self):
        for target in self.report["targets"]:
            if target["peak"]:
                self.assertGreater(target["peak"]["gflops"], 0)
                self.assertTrue(1 < target["peak"]["flop_per_cycle"] < 128, target)

    def test_bandwidths(self):
        levels = [bandwidth["level"] for bandwidth in self.report["bandwidths"]]
        self.assertEqual(levels, [l for l in ("L1", "L2", "L3", "DRAM") if l in levels])
        self.assertIn("DRAM", levels)

    def test_table(self):
        done = kiln("targets")
        self.assertEqual(done.returncode, 0)
        for word in ("host", "flop/cycle/core", "L1", "DRAM"):
            self.assertIn(word, done.stdout)


class Check(unittest.TestCase):
    def check(self, *arguments, status=0):
        done = kiln("check", "--format", "json", *arguments)
        self.assertEqual(done.returncode, status, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual(report["format"], "check/1")
        statuses = [case["status"] for case in report["cases"]]
        for name in ("passed", "failed", "unsupported", "recorded", "not_applicable"):
            self.assertEqual(report[name], statuses.count(name))
        for case in report["cases"]:
            self.assertLessEqual({"id", "status", "algorithm", "candidate", "max_error", "reason"}, set(case))
            if case["status"] not in ("passed",):
                self.assertTrue(case["reason"], case)
        return report

    def test_passes_with_the_default_candidate(self):
        report = self.check("--suite", XLA, "--filter", "xla_conv/x000_alexnet1.*")
        self.assertEqual([case["id"] for case in report["cases"]],
                         ["x000_alexnet1.fwd", "x000_alexnet1.bpi", "x000_alexnet1.bpk"])
        forward = report["cases"][0]
        self.assertEqual((forward["status"], forward["algorithm"], forward["untuned"]), ("passed", "direct", True))
        self.assertLess(forward["max_error"], 6e-4)

    def test_passes_with_random_candidates(self):
        report = self.check("--suite", XLA, "--filter", "*/x012_pointwise.fwd", "--candidates", "2", "--seed", "3")
        self.assertEqual(report["passed"], 1)

    def test_special_values_and_records(self):
        report = self.check("--suite", XLA, "--filter", "*_sv_*.fwd")
        self.assertEqual((report["failed"], report["recorded"]), (0, 1))

    def test_what_cannot_be_expressed(self):
        report = self.check("--suite", str(CONFORMANCE / "onnx_graph.json"))
        self.assertEqual(report["unsupported"], len(report["cases"]))

    def test_algorithms_that_are_excluded(self):
        report = self.check("--suite", XLA, "--filter", "*/x000_alexnet1.fwd", "--algorithm", "no_such_*")
        self.assertEqual(report["not_applicable"], 1)

    def test_a_wrong_expectation_fails(self):
        with tempfile.TemporaryDirectory() as folder:
            manifest = json.loads(pathlib.Path(XLA).read_text())
            case = manifest["cases"][0]
            for tensor in case["tensors"].values():
                source = CONFORMANCE / tensor["file"]
                tensor["file"] = source.name
                pathlib.Path(folder, source.name).write_bytes(source.read_bytes())
            expected = pathlib.Path(folder, case["tensors"]["y"]["file"])
            content = bytearray(expected.read_bytes())
            content[-4:] = b"\x00\x00\x80\x42"  # 64.0
            expected.write_bytes(content)
            manifest["cases"] = [case]
            path = pathlib.Path(folder, "wrong.json")
            path.write_text(json.dumps(manifest))
            report = self.check("--suite", str(path), status=1)
            self.assertIn("1 of 5408 elements", report["cases"][0]["reason"])

    def test_table(self):
        done = kiln("check", "--suite", XLA, "--filter", "*/x000_alexnet1.*")
        self.assertEqual(done.returncode, 0)
        self.assertIn("3 cases: 1 passed, 0 failed, 2 unsupported", done.stdout)
        self.assertIn("untuned", done.stdout)
        self.assertIn("x000_alexnet1.bpk", done.stderr)


class Bench(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.list = str(pathlib.Path(folder.name, "net.json"))
        layer = {"name": "a", "op": "conv2d", "input": [1, 14, 14, 32], "kernel": [3, 3, 32, 32]}
        grad = dict(layer, name="gradient", op="conv2d_backprop_kernel")
        entries = [layer, dict(layer, name="again"), grad]
        pathlib.Path(self.list).write_text(json.dumps({"format": "workloads/1", "name": "net", "workloads": entries}))

    def test_untuned(self):
        done = kiln("bench", "--workloads", self.list, "--filter", "net/a*", "--rounds", "2", "--format", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual(report["format"], "bench/1")
        self.assertGreater(report["peak_gflops"], 0)
        self.assertEqual([layer["name"] for layer in report["layers"]], ["a", "again"])
        first, second = report["layers"]
        self.assertEqual(first["median_us"], second["median_us"])  # one key is measured once
        self.assertEqual(first["key"], "conv2d/input:1x14x14x32/kernel:3x3x32x32")
        self.assertEqual((first["algorithm"], first["untuned"], first["peers"]), ("direct", True, {}))
        self.assertEqual(first["median_us"], first["default_us"])
        self.assertEqual(len(first["round_medians_us"]), 2)
        self.assertLessEqual(first["min_us"], first["median_us"])
        self.assertGreater(first["gflops"], 0)

    def test_a_layer_without_a_kernel(self):
        done = kiln("bench", "--workloads", self.list, "--filter", "*/gradient")
        self.assertEqual(done.returncode, 1)
        self.assertIn("direct: ", done.stdout)


class BadInput(unittest.TestCase):
    ROWS = [
        (["check"], "--suite"),
        (["check", "--suite", "missing.json"], "missing.json"),
        (["check", "--suite", __file__], "not JSON"),
        (["check", "--suite", XLA, "--filter", "none*"], "no case matches"),
        (["check", "--suite", XLA, "--seed", "3"], "--candidates"),
        (["check", "--suite", XLA, "--candidates", "0"], "--candidates"),
        (["check", "--suite", XLA, "--format", "csv"], "csv"),
        (["check", "--suite", XLA, "--db", "missing.db"], "missing.db"),
        (["check", "--suite", XLA, "--target", "pentium"], "pentium"),
        (["bench"], "--workloads"),
        (["bench", "--workloads", "missing.json"], "missing.json"),
        (["bench", "--workloads", "x.json", "--against", "onednn"], "later version"),
        (["bench", "--workloads", "x.json", "--against", "onednn,magic"], "unknown peer `magic`"),
        (["bench", "--workloads", "x.json", "--rounds", "0"], "--rounds"),
        (["targets", "--threads", "0"], "--threads"),
        (["targets", "--threads", "1000"], "cores"),
        (["targets", "--format", "csv"], "csv"),
    ]

    def test_rows(self):
        for arguments, message in self.ROWS:
            with self.subTest(arguments=arguments):
                done = kiln(*arguments)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertEqual(done.stdout, "")
                self.assertIn(message, done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)


if __name__ == "__main__":
    KILN = sys.argv.pop(1)
    unittest.main()
