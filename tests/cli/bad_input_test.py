"""Runs the real `kiln` on bad input: the exit status, exactly one message on stderr, nothing on stdout, and no file
made or changed. Usage: bad_input_test.py PATH_OF_KILN [unittest's arguments]"""

import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import unittest

KILN = None
APPLICATION_ID = 0x6B696C6E


def workload_list(**changes):
    """A list of one good layer, changed; None removes a field."""
    entry = {"name": "a", "op": "conv2d", "input": [1, 8, 8, 4], "kernel": [3, 3, 4, 16]}
    entry.update(changes)
    entry = {name: value for name, value in entry.items() if value is not None}
    return json.dumps({"format": "workloads/1", "name": "net", "workloads": [entry]})


# What a file holds, and what the message must say besides the file's name.
BAD_LISTS = {
    "empty": ("", "empty"),
    "blank": ("\n\n", "empty"),
    "not_json": ("layers:\n  - conv1\n", "line 1"),
    "cut_off": (workload_list()[:40], "line 1"),
    "binary": ("\x00\x01\x02", "not JSON"),
    "a_list": ("[]", "not a workload list"),
    "version": ('{"format": "workloads/9", "name": "n", "workloads": []}', "workloads/1"),
    "no_entries": ('{"format": "workloads/1", "name": "n", "workloads": []}', "at least one"),
    "repeated_key": (workload_list()[:-3] + ', "input": [1, 8, 8, 4]}]}', "twice"),
    "op": (workload_list(op="conv4d"), "op: needs one of conv1d"),
    "no_op": (workload_list(op=None), "op: is missing"),
    "winograd": (workload_list(op="winograd_input_transform"), "kernel: has no meaning for winograd_input_transform"),
    "field": (workload_list(stride=[1, 1]), "stride: unknown field"),
    "dtype": (workload_list(dtype="f8"), "dtype: needs one of f32"),
    "layout": (workload_list(input_layout="CHWN"), "input_layout: needs one of NHWC"),
    "kernel_layout": (workload_list(kernel_layout="OIHW"), "kernel_layout: needs one of HWIO"),
    "epilogue": (workload_list(epilogue=["soft"]), "epilogue: needs"),
    "zero": (workload_list(input=[1, 0, 8, 4]), "input: needs an integer from 1"),
    "negative": (workload_list(kernel=[3, -3, 4, 16]), "kernel: needs an integer from 1"),
    "fraction": (workload_list(input=[1, 8.5, 8, 4]), "input: needs an integer"),
    "too_large": (workload_list(input=[1, 2**40, 8, 4]), "input: needs an integer"),
    "beyond_64_bits": (workload_list(input=[1, 2**80, 8, 4]), "input: needs an integer"),
    "product_too_large": (workload_list(input=[2**31 - 1, 2**31 - 1, 2**31 - 1, 4]), "too large"),
    "rank": (workload_list(input=[1, 8, 4]), "input has 3 entries"),
    "groups": (workload_list(feature_group_count=3), "groups"),
    "output_groups": (workload_list(input=[1, 8, 8, 12], feature_group_count=3), "output channels"),
    "batch_groups": (workload_list(batch_group_count=2), "batch"),
    "stride": (workload_list(strides=[0, 1]), "strides: needs an integer from 1"),
    "padding": (workload_list(padding=[1, 1]), "padding: needs a list of pairs"),
}

TUNE = ["tune", "--workloads", "good.json", "--db", "new.db"]

# Arguments, what the message must say, exit status where it is not 2.
BAD_ARGUMENTS = [
    ([], "--help"),
    (["frobnicate"], "`frobnicate` is not a command"),
    (["--frobnicate"], "--frobnicate"),
    (["tune"], "--help"),
    (["tune", "--workloads", "good.json"], "--db"),
    (["tune", "--db", "new.db"], "needs --workloads FILE... or --network M.onnx"),
    (TUNE + ["--network", "m.onnx"], "--workloads and --network exclude each other"),
    (TUNE + ["--shape", "x=1x3"], "--shape needs --network"),
    (TUNE + ["--outputs", "y"], "--outputs needs --network"),
    (["bench"], "needs --workloads FILE... or --network M.onnx"),
    (["run", "--network", "missing.onnx", "-o", "out"], "missing.onnx"),
    (["run", "--network", "missing.onnx"], "--output"),
    (["run", "-o", "out"], "--network"),
    (["explain", "--workloads", "good.json", "--db", "good.db"], "--db needs --network with --pass plan"),
    (["tune", "--network", "missing.onnx", "--db", "new.db"], "missing.onnx"),
    (["tune", "--network", "good.json", "--db", "new.db"], "good.json: "),
    (TUNE + ["--frobnicate"], "--frobnicate"),
    (TUNE + ["--trials", "0"], "--trials"),
    (TUNE + ["--trials", "-3"], "--trials"),
    (TUNE + ["--trials", "many"], "--trials"),
    (TUNE + ["--trials", "99999999999999999999"], "--trials"),
    (TUNE + ["--time", "10"], "10m"),
    (TUNE + ["--time", "soon"], "10m"),
    (TUNE + ["--time", ""], "--time"),
    (TUNE + ["--seed", "-1"], "--seed"),
    (TUNE + ["--strategy", "magic"], "random"),
    (TUNE + ["--algorithm", "magic"], "direct"),
    (TUNE + ["--algorithm", "driect"], "--algorithm driect: matches no algorithm; there are "),
    (TUNE + ["--without", "*"], "direct"),
    (TUNE + ["--without", "wingorad"], "--without wingorad: matches no algorithm; there are "),
    (TUNE + ["--without", "side_by_side"], "--without side_by_side: matches no algorithm; there are "),
    (["tune", "--network", "missing.onnx", "--db", "new.db", "--without", "fuze_*"], "matches no algorithm or alteration; there are "),
    (["tune", "--network", "missing.onnx", "--db", "new.db", "--without", "fuse_*"], "missing.onnx"),
    (["build", "--workloads", "good.json", "-o", "dist", "--algorithm", "driect"], "--algorithm driect: matches no algorithm; "),
    (["build", "--workloads", "good.json", "-o", "dist", "--without", "wingorad"], "--without wingorad: matches no algorithm; "),
    (["build", "--network", "missing.onnx", "-o", "dist", "--without", "wingorad"], "matches no algorithm or alteration; there are "),
    (["run", "--network", "missing.onnx", "-o", "out", "--algorithm", "driect"], "--algorithm driect: matches no algorithm; "),
    (["run", "--network", "missing.onnx", "-o", "out", "--without", "wingorad"], "matches no algorithm or alteration; there are "),
    (TUNE + ["--max-error", "0"], "--max-error"),
    (TUNE + ["--max-error", "nan"], "--max-error"),
    (TUNE + ["--max-error", "small"], "--max-error"),
    (TUNE + ["--cache", "hot"], "--cache"),
    (TUNE + ["--threads", "0"], "--threads 0: needs 1 to 1024"),
    (TUNE + ["--threads", "-1"], "--threads -1: needs 1 to 1024"),
    (TUNE + ["--threads", "two"], "--threads"),
    (TUNE + ["--threads", "1000"], "cores"),
    (TUNE + ["--target", "pentium"], "alias"),
    (TUNE + ["--target", "x86-64-linux-avx3"], "avx3"),
    (TUNE + ["--target", "arm-64-linux"], "arm"),
    (TUNE + ["--filter", "vgg*"], "--filter vgg*: matches no layer; there are net/a"),
    (TUNE + ["--columns", "time"], "--columns: unknown column `time`; there are name, best_us"),
    (TUNE + ["--sort", "time"], "--sort: unknown column `time`"),
    (TUNE + ["--top", "0"], "--top"),
    (TUNE + ["--top", "many"], "--top"),
    (["tune", "--workloads", "missing.json", "--db", "new.db"], "missing.json: cannot be opened"),
    (["tune", "--workloads", ".", "--db", "new.db"], "folder"),
    (["tune", "--workloads", "good.json", "--db", "text.db"], "text.db"),
    (["tune", "--workloads", "good.json", "--db", "other.db"], "other.db"),
    (["tune", "--workloads", "good.json", "--db", "newer.db"], "newer.db"),
    (["tune", "--workloads", "good.json", "--db", "no/such/folder/new.db"], "folder no/such/folder"),
    (["tune", "--workloads", "good.json", "--db", "/proc/new.db"], "/proc/new.db", 3),
    (["query"], "--help"),
    (["query", "best"], "--db"),
    (["query", "worst", "--db", "text.db"], "worst"),
    (["query", "best", "--db", "missing.db"], "missing.db"),
    (["query", "best", "--db", "text.db"], "text.db"),
    (["query", "best", "--db", "other.db"], "other.db"),
    (["query", "best", "--db", "newer.db"], "newer.db"),
    (["query", "best", "--db", "text.db", "--format", "xml"], "xml"),
    (["query", "best", "more", "--db", "text.db"], "more"),
    (["query", "sql", "--db", "text.db"], "SELECT"),
    (["query", "best", "--db", "text.db", "--top", "-1"], "--top"),
    (["db"], "--help"),
    (["db", "frobnicate", "--db", "text.db"], "frobnicate"),
    (["db", "info"], "--db"),
    (["db", "info", "more", "--db", "text.db"], "more"),
    (["db", "info", "--db", "missing.db"], "missing.db"),
    (["db", "verify", "--db", "text.db"], "text.db"),
    (["db", "merge", "--db", "new.db"], "db merge: needs databases"),
    (["db", "merge", "--db", "new.db", "missing.db"], "missing.db: no such file"),
    (["db", "merge", "--db", "new.db", "text.db"], "text.db: not an SQLite database"),
    (["db", "merge", "--db", "new.db", "newer.db"], "newer.db"),
    (["db", "merge", "new.db"], "--db"),
    (["db", "export", "--db", "text.db"], "text.db"),
    (["db", "export", "--db", "missing.db"], "missing.db: no such file"),
    (["db", "export", "--db", "text.db", "--top", "1"], "db export: its answer is no table; leave out --format"),
    (["db", "export", "--db", "text.db", "--format", "csv"], "db export: its answer is no table; leave out --format"),
    (["db", "verify", "--db", "text.db", "--sort", "name"], "db verify: its answer is no table; leave out --format"),
    (["db", "export", "more", "--db", "text.db"], "`more` is not expected"),
    (["db", "import", "--db", "new.db"], "db import: needs files"),
    (["db", "import", "--db", "new.db", "missing.jsonl"], "missing.jsonl: cannot be opened"),
    (["db", "import", "--db", "new.db", "text.db"], "text.db: does not begin with"),
    (["db", "import", "--db", "new.db", "."], "is a folder"),
    (["repro"], "--help"),
    (["repro", "1234"], "--db"),
    (["repro", "1234", "--db", "missing.db"], "missing.db: no such file"),
    (["repro", "1234", "--db", "text.db"], "text.db"),
    (["explain", "--workloads", "missing.json"], "missing.json"),
    (["explain", "--workloads", "good.json", "--target", "pdp11"], "pdp11"),
    (["explain", "--workloads", "good.json", "--filter", "vgg*"], "--filter vgg*: matches no layer; there are net/a"),
    (["explain", "--workloads", "good.json", "--columns", "time"], "unknown column `time`; there are workload"),
    (["diff"], "`diff` is not a command"),
    (["build", "--bogus"], "The following argument was not expected: --bogus; see `kiln build --help`"),
    (["tune", "--workload", "good.json"], "not expected: --workload; see `kiln tune --help`"),
    (["bench", "--workloads", "good.json", "--threads", "99999999999"],
     "--threads: `99999999999` is not a number, or beyond the numbers that it takes"),
    (["bench", "--workloads", "good.json", "--threads", "two"], "--threads: `two` is not a number"),
    (["--bogus"], "`--bogus` is not an option here; a command comes first; see `kiln --help`"),
    (["--threads", "2", "tune"], "`--threads` is not an option here; a command comes first"),
]


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def make_database(path, application_id, version):
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA application_id = {application_id}")
    connection.execute(f"PRAGMA user_version = {version}")
    connection.execute("CREATE TABLE something (x)")
    connection.commit()
    connection.close()


class BadInput(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        write(self.path("good.json"), workload_list())
        write(self.path("text.db"), "this is a text, not a database\n" * 100)
        make_database(self.path("other.db"), 42, 1)
        make_database(self.path("newer.db"), APPLICATION_ID, 1000)

    def path(self, name):
        return os.path.join(self.folder, name)

    def contents(self):
        found = {}
        for name in sorted(os.listdir(self.folder)):
            with open(self.path(name), "rb") as file:
                found[name] = file.read()
        return found

    def run_kiln(self, arguments):
        return subprocess.run([KILN, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=60, check=False)

    def check_refusal(self, arguments, says, status):
        before = self.contents()
        result = self.run_kiln(arguments)
        label = " ".join(arguments) + "\n" + result.stderr
        self.assertEqual(result.returncode, status, label)
        self.assertEqual(result.stdout, "", label)
        self.assertTrue(result.stderr.startswith("kiln: "), label)
        self.assertEqual(result.stderr.count("\n"), 1, label)
        self.assertIn(says, result.stderr, label)
        self.assertEqual(self.contents(), before, label)

    def test_arguments(self):
        for arguments, says, *status in BAD_ARGUMENTS:
            with self.subTest(arguments=arguments):
                self.check_refusal(arguments, says, status[0] if status else 2)

    def test_workload_lists(self):
        for name, (text, says) in BAD_LISTS.items():
            with self.subTest(name=name):
                write(self.path("bad.json"), text)
                self.check_refusal(["tune", "--workloads", "bad.json", "--db", "new.db"], says, 2)
                self.assertIn("bad.json", self.run_kiln(["tune", "--workloads", "bad.json", "--db", "new.db"]).stderr)

    def test_a_bad_list_after_a_good_one(self):
        write(self.path("bad.json"), "{}")
        self.check_refusal(["tune", "--workloads", "good.json", "bad.json", "--db", "new.db"], "bad.json", 2)

    def test_help_and_version(self):
        for arguments in (["--help"], ["--version"], ["tune", "--help"], ["query", "--help"], ["db", "--help"]):
            with self.subTest(arguments=arguments):
                result = self.run_kiln(arguments)
                self.assertEqual(result.returncode, 0)
                self.assertEqual(result.stderr, "")
                self.assertTrue(result.stdout)
                wide = [line for line in result.stdout.splitlines() if len(line) > 100]
                self.assertEqual([line for line in wide if not line.startswith("  kiln ")], [])  # examples are copied
        self.assertRegex(self.run_kiln(["--version"]).stdout, r"^kiln \d+\.\d+\.\d+\n$")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    KILN = os.path.abspath(sys.argv.pop(1))
    unittest.main()
