"""The bars of bench/bars without measuring: every row of the limits has a source, names are unique, the table fits.
Usage: bars_test.py [unittest's arguments]"""

import csv
import importlib
import pathlib
import subprocess
import sys
import unittest

BENCH = pathlib.Path(__file__).resolve().parent.parent.parent / "bench"
sys.dont_write_bytecode = True
sys.path.insert(0, str(BENCH))

from bar_sources import networks, reports, table  # noqa: E402
from bar_sources.direct import random_layers  # noqa: E402


def bars(*arguments):
    return subprocess.run([sys.executable, str(BENCH / "bars"), *arguments], capture_output=True, text=True, timeout=60)


class Limits(unittest.TestCase):
    def setUp(self):
        with open(BENCH / "bar_sources" / "limits.csv", newline="", encoding="utf-8") as file:
            self.rows = list(csv.DictReader(file))

    def test_rows(self):
        for name in ("bar", "formerly"):
            names = [row[name] for row in self.rows]
            self.assertEqual(len(names), len(set(names)))
        for row in self.rows:
            self.assertGreater(float(row["at_least"]), 0, row)
            self.assertTrue(row["unit"] and row["command"] and "/" in row["bar"], row)
            module, function = row["source"].split(".")
            self.assertTrue(callable(getattr(importlib.import_module(f"bar_sources.{module}"), function)), row)

    def test_names_of_now_and_before(self):
        every = bars("--list").stdout.splitlines()
        self.assertEqual(len(every), len(self.rows))
        for name in ("bar", "formerly"):
            self.assertIn(self.rows[0]["bar"], bars("--list", "--only", self.rows[0][name]).stdout)
        self.assertEqual(bars("--list", "--issue", "1.5").stdout, bars("--list", "--only", "movement/*").stdout)
        self.assertEqual(bars("--list", "--only", "house/*").stdout.count("\n"), 4)

    def test_tuned_networks_can_be_had(self):
        with open(BENCH / "models" / "models.csv", newline="", encoding="utf-8") as file:
            fetched = {row["name"] for row in csv.DictReader(file)}
        for name in networks.TUNED:
            self.assertTrue(name in fetched or name in networks.CONVERTED or (networks.SMALL_MODELS / f"{name}.onnx").exists(), name)

    def test_a_glob_without_a_match(self):
        done = bars("--only", "nothing*")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("--only nothing*: matches no bar; there are direct/*, gradient/*", done.stderr)

    def test_a_command_that_is_not_there(self):
        done = bars("--only", "package/find*", "--kiln", "/no/such/kiln")
        self.assertEqual((done.returncode, done.stdout), (3, ""))


class Table(unittest.TestCase):
    def row(self, **changes):
        fields = {"bar": "direct/c2_3x3", "value": "1.00", "spread": "0.99..1.01", "limit": "0.95 x fastest peer",
                  "holds": True, "command": "tune; bench", "note": "fastest peer onednn"}
        return table.Row(**{**fields, **changes})

    def test_rows_fit_100_columns(self):
        rows = [self.row(), self.row(bar="direct/" + "x" * 60, holds=False, command="c" * 200, spread="0.99..1.01" * 2)]
        lines = table.table(rows, notes=False).splitlines()
        self.assertEqual(len(lines), 3)
        for line in lines:
            self.assertLessEqual(len(line), 100, line)
        self.assertEqual(lines[0].split(), list(table.COLUMNS))
        self.assertIn("NO", lines[2])
        self.assertIn("fastest peer onednn", table.table(rows, notes=True))

    def test_shortened_in_the_middle(self):
        for text, width, expected in (("abcdef", 6, "abcdef"), ("abcdef", 5, "ab…ef"), ("abcdef", 2, "a…")):
            self.assertEqual(table.shortened(text, width), expected)


class Reports(unittest.TestCase):
    def layer(self, name, us, default_us, peers):
        return {"name": name, "median_us": us, "default_us": default_us, "gflops": 50.0, "reason": "crash",
                "round_medians_us": [us, us] if us else None, "peers": peers}

    def peer(self, us, ratio):
        return {"median_us": us, "ratio": ratio, "ratio_lo": ratio, "ratio_hi": ratio}

    def test_the_fastest_peer_counts_and_a_missing_time_is_zero(self):
        report = {"layers": [self.layer("a", 10.0, 20.0, {"x": self.peer(11.0, 1.1), "y": self.peer(9.0, 0.9)}),
                             self.layer("b", None, None, {})], "peak_gflops": 100}
        values = reports.peer_ratios(report)
        self.assertEqual((values["a"].value, values["a"].note), (0.9, "fastest peer y"))
        self.assertEqual(values["b"].value, 0)
        self.assertEqual(reports.default_of_tuned(report).value, 0)
        self.assertEqual(reports.share_of_peak(report, "round_medians_us").value, 0)
        report["layers"].pop()
        self.assertAlmostEqual(reports.default_of_tuned(report).value, 50)
        self.assertAlmostEqual(reports.share_of_peak(report, "round_medians_us").value, 50)

    def test_random_layers_are_those_of_their_seed(self):
        self.assertEqual(random_layers(1, 5), random_layers(1, 5))
        self.assertNotEqual(random_layers(1, 5), random_layers(2, 5))


class Scripts(unittest.TestCase):
    def test_help_needs_no_packages(self):
        done = subprocess.run([sys.executable, "-S", str(BENCH / "drawn" / "compare.py"), "--help"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("FIRST_SEED", done.stdout)


if __name__ == "__main__":
    unittest.main()
