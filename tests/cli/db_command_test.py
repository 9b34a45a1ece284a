"""Runs `kiln db` on small databases: merge, export and import as a user would. Usage: db_command_test.py PATH_OF_KILN
[unittest's arguments]"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

KILN = None
HEAD = '{"format":"database/1"}\n'


def name_line(name, count=1):
    fields = {"record": "workload_name", "workload": "conv2d/x", "list": "net", "name": name, "count": count}
    return json.dumps(fields, separators=(",", ":")) + "\n"


class DbCommand(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    def kiln(self, *arguments, status=0):
        result = subprocess.run([KILN, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True,
                                text=True, timeout=60, check=False)
        self.assertEqual(result.returncode, status, result.stderr)
        return result

    def export(self, database):
        return self.kiln("db", "export", "--db", database).stdout

    def test_import_export_merge(self):
        self.write("a.jsonl", HEAD + name_line("one") + name_line("two", 3))
        self.write("b.jsonl", HEAD + name_line("two", 4) + name_line("three"))
        for name in "ab":
            added = self.kiln("db", "import", "--db", f"{name}.db", f"{name}.jsonl", "--format", "json").stdout
            expected = {"from": f"{name}.jsonl", "trials": 0, "measurements": 0, "races": 0, "names": 2}
            self.assertEqual(json.loads(added), [expected])
        self.assertEqual(self.export("a.db"), HEAD + name_line("one") + name_line("two", 3))

        all_names = HEAD + name_line("one") + name_line("three") + name_line("two", 4)
        for into, sources in (("ab.db", ["a.db", "b.db"]), ("ba.db", ["b.db", "a.db"]), ("a.db", ["b.db", "a.db"])):
            self.kiln("db", "merge", "--db", into, *sources)
            self.assertEqual(self.export(into), all_names, into)
        again = json.loads(self.kiln("db", "merge", "--db", "ab.db", "a.db", "b.db", "--format", "json").stdout)
        self.assertEqual([row["names"] for row in again], [0, 0])
        self.assertIn("ab.db: ok", self.kiln("db", "verify", "--db", "ab.db").stdout)

    def test_a_damaged_file_is_status_1_of_verify(self):
        self.write("a.jsonl", HEAD + name_line("one") + name_line("two", 3))
        self.kiln("db", "import", "--db", "a.db", "a.jsonl")
        with open(os.path.join(self.folder, "a.db"), "rb") as file:
            whole = file.read()
        for cut, message in ((7, "cut off after 7 bytes"), (60, "cut off after 60 bytes"), (4096, "malformed"),
                             (len(whole) - 100, "cut off after")):  # fmt: skip
            with self.subTest(cut=cut):
                with open(os.path.join(self.folder, "cut.db"), "wb") as file:
                    file.write(whole[:cut])
                self.assertIn(message, self.kiln("db", "verify", "--db", "cut.db", status=1).stderr)
                self.assertIn(message, self.kiln("query", "best", "--db", "cut.db", status=2).stderr)
        self.write("text.db", "no database")
        for other in ("text.db", "missing.db", "."):
            self.kiln("db", "verify", "--db", other, status=2)

    def test_a_file_that_cannot_be_read_is_the_environments(self):
        message = self.kiln("db", "import", "--db", "new.db", "/proc/self/mem", status=3).stderr
        self.assertIn("/proc/self/mem: cannot be read", message)
        for arguments in (["tune", "--db", "new.db", "--workloads"], ["check", "--suite"]):
            self.assertIn("cannot be read", self.kiln(*arguments, "/proc/self/mem", status=3).stderr)
        if os.geteuid() == 0:
            return  # who may read everything
        self.write("secret", "text")
        os.chmod(os.path.join(self.folder, "secret"), 0)
        for arguments in (["db", "import", "--db", "new.db"], ["tune", "--db", "new.db", "--workloads"], ["check", "--suite"],
                          ["explain"]):  # fmt: skip
            self.assertIn("Permission denied", self.kiln(*arguments, "secret", status=3).stderr)

    def test_an_edited_line_is_named_and_nothing_is_made(self):
        trial = {"record": "trial", "id": "0" * 32}
        self.write("edited.jsonl", HEAD + name_line("one") + json.dumps(trial) + "\n")
        message = self.kiln("db", "import", "--db", "new.db", "edited.jsonl", status=2).stderr
        self.assertIn("edited.jsonl: line 3: trial: created_at: is missing", message)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "new.db")))

    def test_full_output_is_an_error(self):
        self.write("a.jsonl", HEAD + name_line("one"))
        self.kiln("db", "import", "--db", "a.db", "a.jsonl")
        with open("/dev/full", "w", encoding="utf-8") as full:
            result = subprocess.run([KILN, "db", "export", "--db", "a.db"], cwd=self.folder, stdout=full,
                                    stderr=subprocess.PIPE, text=True, timeout=60, check=False)
        self.assertEqual(result.returncode, 3, result.stderr)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    KILN = os.path.abspath(sys.argv.pop(1))
    unittest.main()
