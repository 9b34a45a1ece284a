"""Runs `kiln query` on databases made by import: what a table shows, what can be chosen, and how many rows it may have.
Usage: query_command_test.py PATH_OF_KILN [unittest's arguments]"""

import csv
import fcntl
import io
import json
import os
import pty
import struct
import subprocess
import sys
import tempfile
import termios
import unittest

KILN = None
COUNT = 1500


class QueryCommand(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        names = [{"record": "workload_name", "workload": f"conv2d/x{i}", "list": "net", "name": f"layer{i}", "count": i + 1}
                 for i in range(COUNT)]
        names.append({"record": "workload_name", "workload": "conv2d/odd", "list": "odd", "name": "a\x1b[2Jb", "count": 1})
        lines = ['{"format":"database/1"}'] + [json.dumps(name, separators=(",", ":")) for name in names]
        with open(os.path.join(cls.folder.name, "names.jsonl"), "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        done = cls.kiln("db", "import", "--db", "names.db", "names.jsonl")
        assert done.returncode == 0, done.stderr

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def kiln(cls, *arguments, **environment):
        inherited = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
        return subprocess.run([KILN, *arguments], cwd=cls.folder.name, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=60, check=False, env={**inherited, **environment})

    def query(self, *arguments, status=0, **environment):
        done = self.kiln("query", *arguments, "--db", "names.db", **environment)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def test_a_long_table_is_cut_and_says_so(self):
        done = self.query("workloads")
        self.assertEqual(done.stdout.count("\n"), 1001)
        self.assertIn("the first 1,000 of 1,501 rows; --top N", done.stderr)
        self.assertEqual(self.query("workloads", "--top", "1200").stdout.count("\n"), 1201)
        self.assertEqual(self.query("workloads", "--top", "1200").stderr, "")
        self.assertEqual(len(json.loads(self.query("workloads", "--format", "json").stdout)), COUNT + 1)
        self.assertEqual(len(list(csv.reader(io.StringIO(self.query("workloads", "--format", "csv").stdout)))), COUNT + 2)

    def test_filter_sort_top_and_columns(self):
        chosen = ["workloads", "--filter", "net/layer1?", "--sort", "-count", "--top", "3", "--columns", "name,count"]
        self.assertEqual(self.query(*chosen).stdout,
                         "name         count\nnet/layer19     20\nnet/layer18     19\nnet/layer17     18\n")
        rows = json.loads(self.query(*chosen, "--format", "json").stdout)
        self.assertEqual(rows[0], {"name": "net/layer19", "count": 20})
        self.assertEqual(len(json.loads(self.query("workloads", "--filter", "conv2d/x7", "--format", "json").stdout)), 1)

    def test_what_is_unknown_is_refused_with_what_there_is(self):
        for arguments, says in (
            (["workloads", "--filter", "vgg*"], "--filter vgg*: matches no layer of the database; there are net/layer0, "),
            (["workloads", "--columns", "nme"], "--columns: unknown column `nme`; there are name, count"),
            (["workloads", "--sort", "-nme"], "unknown column `nme`; there are name, count"),
            (["sql", "SELECT 1 AS one", "--sort", "two"], "--sort: unknown column `two`; there are one"),
            (["sql", "SELECT 1 AS one", "--filter", "net/*"], "use WHERE"),
        ):
            with self.subTest(arguments=arguments):
                done = self.query(*arguments, status=2)
                self.assertEqual(done.stdout, "")
                self.assertIn(says, done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_width(self):
        long = ["sql", "SELECT printf('%.300c', 'a') AS long, 1 AS n"]
        for environment, width in (({}, 100), ({"COLUMNS": "80"}, 80), ({"COLUMNS": "120"}, 120), ({"COLUMNS": "x"}, 100)):
            line = self.query(*long, **environment).stdout.splitlines()[1]
            self.assertEqual(len(line), width)
            self.assertIn("…", line)
        self.assertEqual(len(self.query(*long, "--wide").stdout.splitlines()[1]), 303)

    def test_a_terminal_tells_its_width(self):
        ours, theirs = pty.openpty()
        self.addCleanup(os.close, ours)
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 66, 0, 0))
        inherited = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
        done = subprocess.run([KILN, "query", "sql", "SELECT printf('%.300c', 'a') AS long", "--db", "names.db"],
                              cwd=self.folder.name, stdin=subprocess.DEVNULL, stdout=theirs, timeout=60, check=True,
                              env=inherited)  # fmt: skip
        os.close(theirs)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(len(os.read(ours, 4096).decode().splitlines()[1]), 66)

    def test_control_characters_do_not_reach_the_terminal(self):
        done = self.query("workloads", "--filter", "odd/*")
        self.assertNotIn("\x1b", done.stdout)
        self.assertIn("odd/a\\x1b[2Jb", done.stdout)


if __name__ == "__main__":
    KILN = os.path.abspath(sys.argv.pop(1))
    unittest.main()
