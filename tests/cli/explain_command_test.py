"""Runs the real `kiln explain` on a package that the real `kiln build` wrote. Usage: explain_command_test.py PATH_OF_KILN
[unittest's arguments]"""

import csv
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

KILN = None
NODES = pathlib.Path(__file__).resolve().parent.parent / "conformance" / "onnx_node"

LAYERS = [
    {"name": "one", "op": "conv2d", "input": [1, 8, 8, 4], "kernel": [3, 3, 4, 16]},
    {"name": "two", "op": "conv2d", "input": [1, 8, 8, 4], "kernel": [1, 1, 4, 16]},
]


def kiln(*arguments, folder=None):
    return subprocess.run([KILN, *map(str, arguments)], cwd=folder, capture_output=True, text=True, timeout=120)


class ExplainPackage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        layers = cls.folder / "layers.json"
        layers.write_text(json.dumps({"format": "workloads/1", "name": "net", "workloads": LAYERS}))
        tune = kiln("tune", "--workloads", layers, "--filter", "*/one", "--db", cls.folder / "t.db", "--trials", "2")
        assert tune.returncode == 0, tune.stderr
        build = kiln("build", "--workloads", layers, "--db", cls.folder / "t.db", "--name", "tiny", "-o",
                     cls.folder / "dist")
        assert build.returncode == 0, build.stderr

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def explain(self, *arguments, status=0):
        done = kiln("explain", *arguments, folder=self.folder)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def test_a_row_for_each_kernel(self):
        for source in ("dist", "dist/lib/libtiny.a", "dist/lib/libtiny.so", "dist/share/tiny/manifest.json"):
            rows = json.loads(self.explain(source, "--format", "json").stdout)
            self.assertEqual({row["layer"]: row["chosen"] for row in rows}, {"net/one": "tuned", "net/two": "default"})
        tuned = next(row for row in rows if row["layer"] == "net/one")
        self.assertGreater(tuned["median_us"], 0)
        self.assertEqual(len(tuned["trial"]), 12)
        best = json.loads(kiln("query", "best", "--db", self.folder / "t.db", "--format", "json").stdout)
        self.assertEqual(tuned["evidence"], best[0]["evidence"])

    def test_rows_can_be_chosen(self):
        rows = json.loads(self.explain("dist", "--filter", "*/two", "--columns", "layer", "--format", "json").stdout)
        self.assertEqual(rows, [{"layer": "net/two"}])
        lines = self.explain("dist", "--sort", "-layer", "--top", "1").stdout.splitlines()
        self.assertTrue(lines[-1].startswith("net/two"), lines)
        for line in lines:
            self.assertLessEqual(len(line), 100)

    def test_what_the_filter_leaves_is_counted(self):
        for options, words in (([], "package tiny, 2 kernels, built by"), (["--filter", "*/two"], "package tiny, 1 of 2 kernels, built by")):
            self.assertIn(words, self.explain("dist", *options).stderr)

    def test_numbers_have_all_digits(self):
        row = next(row for row in json.loads(self.explain("dist", "--format", "json").stdout) if row["layer"] == "net/one")
        self.assertEqual(set(row), {"layer", "target", "chosen", "algorithm", "median_us", "uncertainty_percent", "evidence", "trial",
                                    "why_place"})  # fmt: skip
        facts = {fact["fact"]: fact["value"] for fact in json.loads(self.explain("dist", "*/one", "--format", "json").stdout)}
        median, low, high = (float(facts["measurement." + name]) for name in ("median", "median_lo", "median_hi"))
        self.assertEqual(row["median_us"], median / 1000)
        self.assertEqual(row["uncertainty_percent"], 50 * (high - low) / median)
        self.assertEqual(row["why_place"], facts["why_place"])
        for title in ("us", "+-%", "why at its place"):
            self.assertIn(title, self.explain("dist", "--wide").stdout)

    def test_a_network_without_kernels(self):
        build = kiln("build", "--network", NODES / "test_reshape_extended_dims.onnx", "--name", "view", "-o", self.folder / "view")
        self.assertEqual(build.returncode, 0, build.stderr)
        done = self.explain("view")
        for words in ("package view, 0 kernels, built by ", "1 to 1 tensors, plan ", "weights of ", "built without a database"):
            self.assertIn(words, done.stderr)
        self.assertEqual(json.loads(self.explain("view", "--format", "json").stdout), [])
        for arguments, message in (
            (["*"], "view: no kernel matches `*`; there is no kernel at all"),
            (["--filter", "x"], "--filter x: there is no layer of the package at all"),
            (["*", "--filter", "x"], "--filter x: there is no layer of the package at all"),
        ):
            done = self.explain("view", *arguments, status=2)
            self.assertIn(message, done.stderr)
            self.assertEqual(done.stdout, "")

    def test_the_facts_of_one_kernel(self):
        rows = json.loads(self.explain("dist", "*/one", "--format", "json").stdout)
        facts = {row["fact"]: row["value"] for row in rows}
        self.assertEqual({row["layer"] for row in rows}, {"net/one"})
        info = json.loads(kiln("db", "info", "--db", self.folder / "t.db", "--format", "json").stdout)
        digest = next(row["value"] for row in info if row["fact"] == "digest")
        self.assertEqual(facts["database_digest"], digest)
        self.assertEqual(facts["database"], "t.db")
        for fact in ("trial.id", "trial.toolchain", "package.toolchain", "measurement.machine", "object_hash"):
            self.assertTrue(facts[fact], fact)

    def test_formats(self):
        table = self.explain("dist", "*").stdout
        self.assertIn("net/one on ", table)
        self.assertIn("database_digest", table)
        rows = list(csv.DictReader(io.StringIO(self.explain("dist", "--format", "csv").stdout)))
        self.assertEqual(len(rows), len(LAYERS))
        self.assertIn("package tiny, 2 kernels", self.explain("dist").stderr)

    def test_bad_input(self):
        rows = [
            ([], "--workloads", 2),
            (["dist", "--workloads", "layers.json"], "explain needs one of a package", 2),
            (["dist", "nothing"], "no kernel matches `nothing`", 2),
            (["dist", "--filter", "vgg*"], "--filter vgg*: matches no layer of the package; there are net/", 2),
            (["dist", "--columns", "time"], "--columns: unknown column `time`; there are layer, target", 2),
            (["missing"], "missing: does not exist", 2),
            ([KILN], "neither the manifest", 2),
            (["layers.json"], "layers.json: format:", 2),
            (["t.db"], "t.db: neither", 2),
            (["dist/lib"], "not a package", 2),
            (["dist", "one", "two"], "two", 2),
        ]
        for arguments, message, status in rows:
            with self.subTest(arguments=arguments):
                done = self.explain(*arguments, status=status)
                self.assertIn(message, done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
                self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    KILN = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
