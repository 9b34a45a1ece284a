"""The bars of bench/bars without measuring: every row of the limits has a source, names are unique, the table fits, and failures
cost no other rows.
Usage: bars_test.py [unittest's arguments]"""

import csv
import importlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

BENCH = pathlib.Path(__file__).resolve().parent.parent.parent / "bench"
sys.dont_write_bytecode = True
sys.path.insert(0, str(BENCH))

from bar_sources import networks, table  # noqa: E402
from bar_sources.record import FIELDS  # noqa: E402


def bars(*arguments):
    return subprocess.run([sys.executable, str(BENCH / "bars"), *arguments], capture_output=True, text=True, timeout=60)


class Limits(unittest.TestCase):
    def setUp(self):
        with open(BENCH / "bar_sources" / "limits.csv", newline="", encoding="utf-8") as file:
            self.rows = list(csv.DictReader(file))

    def test_rows(self):
        names = [row["bar"] for row in self.rows]
        self.assertEqual(len(names), len(set(names)))
        for row in self.rows:
            self.assertGreater(float(row["at_least"]), 0, row)
            self.assertTrue(row["unit"] and row["command"] and "/" in row["bar"], row)
            module, function = row["source"].split(".")
            self.assertTrue(callable(getattr(importlib.import_module(f"bar_sources.{module}"), function)), row)

    def test_names(self):
        every = bars("--list").stdout.splitlines()
        self.assertEqual(len(every), len(self.rows))
        self.assertIn(self.rows[0]["bar"], bars("--list", "--only", self.rows[0]["bar"]).stdout)
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

    def test_speeds_kept_need_a_build_of_before(self):
        done = bars("--only", "house/speed-kept-*")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("needs --before DIR", done.stderr)


class Failures(unittest.TestCase):
    """package/* has three sources; of these `calling` alone does without kiln."""

    WITH_VALUE = ["package/find-among-1000", "package/call-overhead"]
    LOOKUP = """echo '{"find_ns": 100, "find_and_run_ns": 100, "direct_ns": 50}'"""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.program("package-lookup", self.LOOKUP)
        self.program("kiln", "exit 3")
        self.arguments = ["--kiln", str(self.folder / "kiln"), "--only", "package/*"]

    def program(self, name, script):
        (self.folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (self.folder / name).chmod(0o755)

    def test_a_failed_command_costs_the_rows_of_its_source_alone(self):
        done = bars(*self.arguments, "--format", "json")
        self.assertEqual(done.returncode, 3, done.stderr)
        rows = json.loads(done.stdout)
        self.assertEqual(len(rows), 8)
        self.assertEqual([row["bar"] for row in rows if row["value"]], self.WITH_VALUE)
        for row in rows:
            self.assertEqual(row["holds"], row["bar"] in self.WITH_VALUE)
            if not row["value"]:
                self.assertIn("no value: exit status 3: ", row["note"])

    def test_the_reason_stands_below_the_row(self):
        lines = bars(*self.arguments).stdout.splitlines()
        row = next(i for i, line in enumerate(lines) if line.startswith("package/resnet50-package-size"))
        self.assertRegex(lines[row], " - .* NO ")
        self.assertIn("no value: exit status 3: ", lines[row + 1])

    def test_commands_that_are_not_there_or_answer_nonsense(self):
        for only, script, reason in (("package/resnet50*", None, "No such file"), ("package/find*", "echo {", "JSONDecodeError"),
                                     ("package/find*", "echo {}", "KeyError: 'find_ns'")):
            with self.subTest(reason):
                self.program("package-lookup", script)
                kiln = self.folder / ("kiln" if script else "none")
                done = bars("--only", only, "--kiln", str(kiln))
                self.assertEqual(done.returncode, 3, done.stderr)
                self.assertIn(reason, done.stdout)

    def test_an_interrupt_keeps_what_was_measured(self):
        began = self.folder / "began"
        self.program("kiln", f'[ "$1" = tune ] && exit 3; touch {began}; exec sleep 50')
        for form in ("table", "json"):
            with self.subTest(form):
                process = subprocess.Popen([sys.executable, str(BENCH / "bars"), *self.arguments, "--format", form],
                                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
                                           preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))  # fmt: skip
                while form == "table" and "package/call-overhead" not in (line := process.stdout.readline()):
                    self.assertTrue(line)  # it comes while the next source is measured
                while not began.exists() and process.poll() is None:
                    time.sleep(0.02)
                began.unlink()
                os.killpg(process.pid, signal.SIGINT)  # as a terminal does
                out, err = process.communicate(timeout=30)
                self.assertEqual(process.returncode, 130, err)
                self.assertIn("2 bars were not measured", err)
                if form == "json":
                    self.assertEqual([row["bar"] for row in json.loads(out) if row["value"]], self.WITH_VALUE)

    def test_a_record_has_each_bar_once(self):
        record = self.folder / "record.csv"
        for find_ns, value in ((100, "2.00"), (400, "0.50")):
            self.program("package-lookup", self.LOOKUP.replace("100", str(find_ns), 1))
            bars(*self.arguments, "--record", str(record))
            with open(record, newline="", encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
            self.assertEqual([row["bar"] for row in rows], self.WITH_VALUE)
            self.assertEqual((rows[0]["value"], rows[0]["holds"]), (value, "yes" if find_ns < 200 else "no"))
            self.assertTrue(all(rows[0][field] for field in FIELDS if field != "spread"), rows[0])

    def test_a_record_that_cannot_be_kept_is_told_of_at_the_start(self):
        (self.folder / "other.csv").write_text("a,b\n1,2\n")
        for name, reason in (("other.csv", "its columns are not bar,value,"), ("none/record.csv", "No such file")):
            done = bars(*self.arguments, "--record", str(self.folder / name))
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(reason, done.stderr)


class Table(unittest.TestCase):
    def row(self, **changes):
        fields = {"bar": "direct/c2_3x3", "value": "1.00", "spread": "0.99..1.01", "limit": "0.95 x fastest peer",
                  "holds": True, "command": "tune; bench", "note": "fastest peer onednn"}
        return table.Row(**{**fields, **changes})

    def table(self, rows, notes):
        lines = table.Table([row.bar for row in rows], [row.limit for row in rows], notes)
        return lines.heading() + "".join(map(lines.row, rows))

    def test_rows_fit_100_columns(self):
        rows = [self.row(), self.row(bar="direct/" + "x" * 60, holds=False, command="c" * 200, spread="0.99..1.01" * 2)]
        lines = self.table(rows, notes=False).splitlines()
        self.assertEqual(len(lines), 3)
        for line in lines:
            self.assertLessEqual(len(line), 100, line)
        self.assertEqual(lines[0].split(), list(table.COLUMNS))
        self.assertIn("NO", lines[2])
        self.assertIn("fastest peer onednn", self.table(rows, notes=True))
        self.assertIn("fastest peer onednn", self.table([self.row(value=None)], notes=False))

    def test_shortened_in_the_middle(self):
        for text, width, expected in (("abcdef", 6, "abcdef"), ("abcdef", 5, "ab…ef"), ("abcdef", 2, "a…")):
            self.assertEqual(table.shortened(text, width), expected)


class Scripts(unittest.TestCase):
    def test_help_needs_no_packages(self):
        done = subprocess.run([sys.executable, "-S", str(BENCH / "drawn" / "compare.py"), "--help"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("FIRST_SEED", done.stdout)


if __name__ == "__main__":
    unittest.main()
