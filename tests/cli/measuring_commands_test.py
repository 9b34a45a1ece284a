"""Runs the real `kiln targets`, `check` and `bench`: what they print, in which form, and how they end.
Usage: measuring_commands_test.py PATH_OF_KILN [unittest's arguments]"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree

KILN = None
CONFORMANCE = pathlib.Path(__file__).resolve().parent.parent / "conformance"
XLA = str(CONFORMANCE / "xla_conv.json")
GRAPHS = str(CONFORMANCE / "onnx_graph.json")
NETWORK = str(CONFORMANCE / "onnx_graph" / "n01_residual_broadcast.onnx")
RESNET50 = str(CONFORMANCE.parent.parent / "workloads" / "resnet50.json")


def kiln(*arguments):
    return subprocess.run([KILN, *arguments], capture_output=True, text=True, timeout=300)


# How it is printed for people is in targets_report_test.cpp: each run measures anew.
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
        self.assertEqual([t["name"] for t in self.report["targets"] if t["simulated"]], ["rv32im"])

    def test_peaks(self):
        for target in self.report["targets"]:
            if target["peak"]:
                self.assertGreater(target["peak"]["gflops"], 0)
                self.assertTrue(1 < target["peak"]["flop_per_cycle"] < 128, target)

    def test_bandwidths(self):
        levels = [bandwidth["level"] for bandwidth in self.report["bandwidths"]]
        self.assertEqual(levels, [l for l in ("L1", "L2", "L3", "DRAM") if l in levels])
        self.assertIn("DRAM", levels)


class Tune(unittest.TestCase):
    LAYER = {"name": "small", "op": "conv2d", "input": [1, 14, 14, 16], "kernel": [3, 3, 16, 32], "padding": [[1, 1]] * 2}

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.layers = self.folder / "layers.json"
        self.write_layer(self.LAYER)
        self.db = str(self.folder / "test.db")

    def write_layer(self, layer):
        self.layers.write_text(json.dumps({"format": "workloads/1", "name": "test", "workloads": [layer]}))

    def tune(self, *arguments, command=None):
        return subprocess.run([command or KILN, "tune", "--workloads", str(self.layers), "--db", self.db, "--algorithm",
                               "direct", *arguments], capture_output=True, text=True, timeout=300)  # fmt: skip

    def query(self, what):
        return json.loads(kiln("query", what, "--db", self.db, "--format", "json").stdout)

    def test_a_race_decides(self):
        # A layer whose data lies behind the L2 cache is raced in any case. Smaller ones are not where one candidate's
        # time is far below all others', which a busy machine makes happen.
        self.write_layer({"name": "large", "op": "conv2d", "input": [1, 160, 160, 32], "kernel": [1, 1, 32, 32]})
        done = self.tune("--trials", "8")
        self.assertEqual(done.returncode, 0, done.stderr)
        entries = self.query("races")
        # A race that found the machine too busy is held again; the last one, which comes first, counts.
        last = [entry for entry in entries if entry["race"] == entries[0]["race"]]
        self.assertGreaterEqual(len(last), 2)
        self.assertEqual([entry["place"] for entry in last], list(range(1, len(last) + 1)))
        self.assertIn(f"{len(last)} raced", done.stderr)
        best = self.query("best")
        self.assertEqual([(row["evidence"], row["trial"]) for row in best], [("race", last[0]["trial"])])
        # The same trials again: no candidate is new. (A winner whose time does not hold is measured once more.)
        self.assertEqual(self.tune("--trials", "8").returncode, 0)
        self.assertEqual(len({row["candidate"] for row in self.query("trials")}), 8)

    def test_a_layer_without_a_result(self):
        self.write_layer(dict(self.LAYER, kernel=[17, 17, 16, 32]))
        done = self.tune("--trials", "2")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("small: the output is empty: there is nothing to compute", done.stderr)
        self.assertNotIn("Next:", done.stderr)

    def test_time_is_kept(self):
        start = time.monotonic()
        done = self.tune("--time", "4s")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreaterEqual(len(self.query("trials")), 1)
        self.assertLess(time.monotonic() - start, 60)  # a busy machine's worst; the bar is in bench/bars

    def test_a_network(self):
        command = ["tune", "--network", NETWORK, "--db", self.db, "--trials", "1"]
        done = kiln(*command)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("n01_residual_broadcast: ", done.stdout.splitlines()[-1])
        self.assertIn(f"kiln build --network {NETWORK} --db", done.stderr)
        # The kernels that are used without times, and those of other layouts that might be better.
        plan = kiln("explain", "--network", NETWORK, "--pass", "plan", "--format", "json").stdout
        planned = {row["key"] for row in json.loads(plan) if row["key"]}
        known = {row["workload"] for row in self.query("trials")}
        self.assertLess(planned, known)
        # Layouts are chosen by these times.
        self.assertIn(" 0 of ", kiln("explain", "--network", NETWORK, "--pass", "plan").stdout)
        self.assertNotIn(" 0 of ", kiln("explain", "--network", NETWORK, "--pass", "plan", "--db", self.db).stdout)
        timed = json.loads(kiln("explain", "--network", NETWORK, "--pass", "plan", "--db", self.db, "--format", "json").stdout)
        done = kiln("check", "--suite", str(CONFORMANCE / "onnx_graph.json"), "--filter", "*/n01*", "--db", self.db, "--format", "json")
        [case] = json.loads(done.stdout)["cases"]
        self.assertEqual((case["status"], case["candidate"].split()[0]), ("passed", str(len(timed))), case)
        for workload in known - planned:
            self.assertTrue(workload.startswith("nest/") or "layout:NCHW" in workload, workload)
        layers = json.loads(kiln("import", NETWORK).stdout)["workloads"]
        self.assertEqual(len(planned), len(layers))
        # Several layers may have the name of one node; a row of sums follows them then.
        name = layers[0]["name"]
        done = kiln(*command, "--filter", "*/" + name, "--format", "json")
        rows = [row for row in json.loads(done.stdout) if row["name"] != "total"]
        for layer in layers:
            if layer["name"] == name:
                self.assertIn(layer["count"], [row["count"] for row in rows])
        self.assertLessEqual(known, {row["workload"] for row in self.query("trials")})

    def test_kernels_race_in_their_network(self):
        command = ["tune", "--network", NETWORK, "--db", self.db, "--trials", "3"]
        done = kiln(*command)
        self.assertEqual(done.returncode, 0, done.stderr)
        races = [row for row in self.query("races") if row["network"]]
        # On a busy machine, a kernel's time may be far below all others' of its layer; then none is left to race it.
        if "in the network" not in done.stdout:
            self.assertEqual(races, [])
            self.skipTest("no kernel is close to the fastest of its layer")
        self.assertRegex(done.stdout.splitlines()[-1], r"^n01_residual_broadcast: \d[.\d]* us in the network")
        if "nothing changes" in done.stdout:
            self.assertEqual(races, [])
            return
        self.assertEqual({row["network"] for row in races}, {"n01_residual_broadcast"})
        winners = {row["workload"]: row["candidate"] for row in races if row["place"] == 1}
        best = {row["workload"]: row["candidate"] for row in self.query("best")}
        self.assertLessEqual(winners.items(), best.items())
        # The same kernels are not raced there again, and not at all where some of them are left out.
        self.assertNotIn("in the network", kiln(*command, "--trials", "1").stdout)
        other = ["tune", "--network", NETWORK, "--db", self.folder / "other.db", "--trials", "2"]
        for without in (["--without", "strassen"], ["--filter", "*/n*"], ["--cache", "warm"]):
            done = kiln(*other, *without)
            self.assertIn("n01_residual_broadcast: ", done.stdout)
            self.assertNotIn("in the network", done.stdout)

    def test_most_trials_fail(self):
        bin_folder = self.folder / "bin"
        bin_folder.mkdir()
        for name in ("kiln", "kiln-runner"):
            shutil.copy2(pathlib.Path(KILN).parent / name, bin_folder / name)
        generator = bin_folder / "kiln-generator"
        real, worked = pathlib.Path(KILN).parent / "kiln-generator", self.folder / "worked"
        generator.write_text(f"""#!/bin/sh
if [ "$1" = --version ] || mkdir "{worked}" 2>/dev/null; then exec "{real}" "$@"; fi
echo "out of luck" >&2
exit 1
""")
        generator.chmod(0o755)
        done = self.tune("--trials", "5", command=str(bin_folder / "kiln"))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("most trials failed", done.stderr)
        self.assertTrue(self.query("failures"))
        self.assertEqual(len(self.query("best")), 1)


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

    def test_quantized_cases_agree_bit_for_bit(self):
        report = self.check("--suite", str(CONFORMANCE / "int8_conv.json"), "--filter", "*/q00*")
        self.assertEqual((report["passed"], len(report["cases"])), (10, 10))
        self.assertEqual({case["max_error"] for case in report["cases"]}, {0})

    # Some of their kernels are compiled twice, as the compiler uses an instruction of AMD's (q038_conv_7x7_s2).
    def test_quantized_cases_with_vnni_and_without_bf16(self):
        arguments = ("--suite", str(CONFORMANCE / "int8_conv.json"), "--target", "avx512vnni", "--filter", "*/q03*")
        done = kiln("check", *arguments)
        if done.returncode == 2:
            self.assertIn("avx512", done.stderr)
            self.skipTest("this CPU has no AVX-512 with VNNI")
        report = self.check(*arguments)
        self.assertEqual((report["passed"], {case["max_error"] for case in report["cases"]}), (10, {0}))

    def test_what_cannot_be_expressed(self):
        with tempfile.TemporaryDirectory() as folder:
            manifest = json.loads((CONFORMANCE / "int8_conv.json").read_text())
            case = manifest["cases"][0]
            case["op"] = "attention_int8"
            for tensor in case["tensors"].values():
                target = pathlib.Path(folder) / tensor["file"]
                target.parent.mkdir(exist_ok=True)
                shutil.copy2(CONFORMANCE / tensor["file"], target)
            manifest["cases"] = [case]
            changed = pathlib.Path(folder) / "suite.json"
            changed.write_text(json.dumps(manifest))
            report = self.check("--suite", str(changed))
        self.assertEqual(report["unsupported"], 1)

    def test_algorithms_that_are_excluded(self):
        report = self.check("--suite", XLA, "--filter", "*/x000_alexnet1.fwd", "--algorithm", "depthwise_*")
        self.assertEqual(report["not_applicable"], 1)
        self.assertIn("no algorithm applies with --algorithm `depthwise_*` (", report["cases"][0]["reason"])

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
        self.assertIn("3 cases: 3 passed, 0 failed, 0 unsupported", done.stdout)
        self.assertIn("untuned", done.stdout)
        self.assertIn("x000_alexnet1.bpk", done.stderr)


class Bench(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.list = str(pathlib.Path(folder.name, "net.json"))
        layer = {"name": "a", "op": "conv2d", "input": [1, 14, 14, 32], "kernel": [3, 3, 32, 32]}
        empty = dict(layer, name="empty", kernel=[15, 15, 32, 32])
        huge = dict(layer, name="huge", input=[1, 65536, 65536, 32])
        entries = [layer, dict(layer, name="again"), empty, huge]
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
        self.assertEqual((first["algorithm"], first["untuned"], first["peers"]), ("winograd_4", True, {}))
        self.assertEqual(first["median_us"], first["default_us"])
        self.assertEqual(len(first["round_medians_us"]), 2)
        self.assertLessEqual(first["min_us"], first["median_us"])
        self.assertGreater(first["gflops"], 0)

    def test_a_chart_that_cannot_be_written_is_told_at_once(self):
        folder = pathlib.Path(self.list).parent
        for chart, reason in (("/nonexistent/a.svg", "No such file or directory"), (str(folder), "Is a directory")):
            with self.subTest(chart):
                done = kiln("bench", "--workloads", self.list, "--svg", chart)
                self.assertEqual((done.returncode, done.stdout), (3, ""))
                self.assertEqual(done.stderr, f"kiln: {chart}: cannot be written: {reason}\n")

    def test_the_table_comes_before_a_chart_that_fails(self):
        done = kiln("bench", "--workloads", self.list, "--filter", "*/a", "--rounds", "1", "--svg", "/dev/full")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("GFLOP/s", done.stdout)
        self.assertIn("net/a", done.stdout)
        self.assertIn("/dev/full: cannot be written: No space left on device", done.stderr)

    def test_a_chart_that_is_there_stays_until_the_end(self):
        chart = pathlib.Path(self.list).parent / "chart.svg"
        chart.write_text("mine")
        done = kiln("bench", "--workloads", self.list, "--svg", str(chart), "--filter", "*/nothing")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(chart.read_text(), "mine")

    def peers_folder(self, program=None):
        """A repository with one peer; without a program its Python is missing."""
        folder = pathlib.Path(self.list).parent
        (folder / "bench/peers").mkdir(parents=True)
        (folder / "bench/peers/onednn_peer.py").write_text(program or "")
        if program:
            (folder / ".peers/bin").mkdir(parents=True)
            (folder / ".peers/bin/python").symlink_to(sys.executable)
        return str(folder)

    def against(self, *arguments, program=None):
        return kiln("bench", "--workloads", self.list, "--filter", "*/a", "--against", "onednn", "--peers",
                    self.peers_folder(program), *arguments)

    def test_peers_that_are_not_installed(self):
        done = self.against()
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertIn("run bench/peers/setup", done.stderr)

    def test_a_folder_without_peers(self):
        done = kiln("bench", "--workloads", self.list, "--against", "onednn", "--peers", "/nowhere")
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertIn("/nowhere/bench/peers/onednn_peer.py is missing", done.stderr)

    def test_a_peer_that_does_not_start(self):
        done = self.against(program="import sys; sys.exit('no device')")
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertIn("peer onednn: ended with exit status 1; it said: no device", done.stderr)

    PEER = """
import json, sys
print(json.dumps({"peer": "onednn", "version": "9"}), flush=True)
for line in sys.stdin:
    prepare = json.loads(line)["do"] == "prepare"
    print(json.dumps(%s if prepare else {"samples_ns": [5e6, 4e6, 6e6], "call_overhead_ns": 1e6}), flush=True)
"""

    def test_against_a_peer(self):
        chart = str(pathlib.Path(self.list).parent / "chart.svg")
        done = self.against("--format", "json", "--svg", chart, program=self.PEER % {"about": "fast"})
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        layer = json.loads(done.stdout)["layers"][0]
        peer = layer["peers"]["onednn"]
        self.assertEqual((peer["median_us"], peer["min_us"], peer["version"]), (4000, 3000, "9"))
        self.assertEqual((peer["call_overhead_us"], peer["implementation"]), (1000, "fast"))
        self.assertAlmostEqual(peer["ratio"], 4000 / layer["median_us"])
        self.assertLessEqual(peer["ratio_lo"], peer["ratio_hi"])
        self.assertEqual(len(layer["round_medians_us"]), 5)
        self.assertEqual(xml.etree.ElementTree.parse(chart).getroot().tag, "{http://www.w3.org/2000/svg}svg")

    def test_a_peer_that_computes_wrong_numbers(self):
        done = self.against("--wide", program=self.PEER % {"wrong": "output[0,0,0,0]"})
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("computes wrong numbers, not timed: output[0,0,0,0]", done.stdout)

    def test_notes_are_whole_where_they_may_be_wide(self):
        done = self.against("--wide", program=self.PEER % {"unsupported": "too new"})
        self.assertIn("unsupported: too new", done.stdout)

    def test_a_peer_that_has_no_way(self):
        done = self.against(program=self.PEER % {"unsupported": "too new"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"onednn: u.*: too new")  # shortened in the middle, by how wide the numbers are
        self.assertIn("onednn / kiln", done.stdout)
        for line in done.stdout.splitlines():
            self.assertLessEqual(len(line), 100, line)
        self.assertIn("Not counted: packing", done.stdout)

    def test_a_layer_without_a_kernel(self):
        done = kiln("bench", "--workloads", self.list, "--filter", "*/huge", "--wide")
        self.assertEqual(done.returncode, 1)
        self.assertIn("2^31 elements", done.stdout)

    def test_a_layer_without_a_result(self):
        done = kiln("bench", "--workloads", self.list, "--filter", "*/empty", "--wide")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("the output is empty", done.stdout)


class BadInput(unittest.TestCase):
    ROWS = [
        (["check"], "--suite"),
        (["check", "--suite", "missing.json"], "missing.json"),
        (["check", "--suite", __file__], "not JSON"),
        (["check", "--suite", XLA, "--filter", "none*"], "matches no case; there are xla_conv/"),
        (["check", "--suite", XLA, "--columns", "id,time"], "unknown column `time`; there are id, status"),
        (["check", "--suite", XLA, "--seed", "3"], "--candidates"),
        (["check", "--suite", XLA, "--candidates", "0"], "--candidates"),
        (["check", "--suite", XLA, "--format", "csv"], "csv"),
        (["check", "--suite", XLA, "--db", "missing.db"], "missing.db"),
        (["check", "--suite", XLA, "--target", "pentium"], "pentium"),
        (["check", "--suite", XLA, "--algorithm", "driect"], "--algorithm driect: matches no algorithm; there are "),
        (["check", "--suite", XLA, "--without", "fuse_*"], "--without fuse_*: matches no algorithm; there are "),
        (["check", "--suite", XLA, "--algorithm", "direct", "--without", "dir*"], "leave no algorithm; there are "),
        (["check", "--suite", GRAPHS, "--without", "fuze_*"], "--without fuze_*: matches no algorithm or alteration; there are "),
        (["bench", "--workloads", "x.json", "--algorithm", "driect"], "--algorithm driect: matches no algorithm; there are "),
        (["bench", "--workloads", "x.json", "--without", "side_by_side"], "--without side_by_side: matches no algorithm; "),
        (["bench", "--network", "x.onnx", "--without", "wingorad*"], "--without wingorad*: matches no algorithm or alteration; "),
        (["bench"], "--workloads"),
        (["bench", "--workloads", "missing.json"], "missing.json"),
        (["bench", "--workloads", "x.json", "--against", "onednn,magic"], "unknown peer `magic`"),
        (["bench", "--workloads", "x.json", "--against", "onednn,"], "unknown peer ``"),
        (["bench", "--workloads", "x.json", "--against", "openvino,openvino"], "openvino is given twice"),
        (["bench", "--workloads", "x.json", "--against", "onednn", "--rounds", "4"], "at least 5"),
        (["bench", "--workloads", "x.json", "--rounds", "0"], "--rounds"),
        (["bench", "--workloads", RESNET50, "--filter", "vgg*"], "--filter vgg*: matches no layer; there are resnet50/conv1, "),
        (["bench", "--workloads", "x.json", "--columns", "time"], "--columns: unknown column `time`; there are name, median_us"),
        (["bench", "--workloads", "x.json", "--top", "0"], "--top"),
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
