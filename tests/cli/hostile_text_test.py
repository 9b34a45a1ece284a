"""Text from outside that a terminal would obey: names, keys, paths, options, SQL, the environment. Whatever kiln prints of
it, tables and messages are lines of plain characters, and what programs read keeps its values.
Usage: hostile_text_test.py PATH_OF_KILN [unittest's arguments]"""

import csv
import io
import json
import os
import pathlib
import pty
import subprocess
import sys
import tempfile
import unicodedata
import unittest

KILN = None

# What a name may hold, and what is printed of it.
HOSTILE = {
    "colour": ("\x1b[31mred", "\\x1b[31mred"),
    "title": ("\x1b]0;owned\x07", "\\x1b]0;owned\\x07"),
    "clipboard": ("\x1b]52;c;cm0gLXJm\x1b\\", "\\x1b]52;c;cm0gLXJm\\x1b\\"),
    "another message": ("a\nkiln: all is well\r", "a\\nkiln: all is well\\r"),
    "c1": ("\x9b2J\x85", "\\u009b2J\\u0085"),
    "direction": ("a\u202egnp\u2066", "a\\u202egnp\\u2066"),
    "invisible": ("a\u200bb\ufeff\u2028\U000e0041", "a\\u200bb\\ufeff\\u2028\\U000e0041"),
    "backspace": ("good\b\b\b\bevil\x7f", "good\\x08\\x08\\x08\\x08evil\\x7f"),
}
# Lists refuse names with controls of ASCII.
LISTED = [text for text, _ in HOSTILE.values() if not any(c < " " or c == "\x7f" for c in text)]
BYTES = [b"\xff\xfe", b"\xc0\x9b31m", b"\xed\xa0\x80", b"\x9b31m", b"\xe2\x80"]
LAYER = {"op": "conv2d", "input": [1, 8, 8, 4], "kernel": [1, 1, 4, 8]}


def workload_list(names, list_name="net"):
    entries = [{"name": name, **LAYER} for name in names]
    return json.dumps({"format": "workloads/1", "name": list_name, "workloads": entries})


def is_plain(text):
    """Newlines, and characters that are what they look like."""
    return all(c == "\n" or unicodedata.category(c) not in ("Cc", "Cf", "Zl", "Zp", "Cs", "Co") for c in text)


class HostileText(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.names = [text for text, _ in HOSTILE.values()]
        (self.folder / "evil.json").write_text(workload_list(LISTED, "\u202elist"))

    def run_kiln(self, *arguments, **environment):
        inherited = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
        done = subprocess.run([KILN, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=300, check=False, env={**inherited, **environment})
        for stream in (done.stdout, done.stderr):  # never bytes that are no UTF-8
            stream.decode("utf-8")
        return done

    def check_lines(self, done, status=0):
        """Plain lines on both streams; answers them."""
        output, messages = done.stdout.decode(), done.stderr.decode()
        self.assertEqual(done.returncode, status, messages)
        self.assertTrue(is_plain(output), output)
        self.assertTrue(is_plain(messages), messages)
        return output, messages

    def check_refusal(self, *arguments, says="", **environment):
        output, messages = self.check_lines(self.run_kiln(*arguments, **environment), 2)
        self.assertEqual(output, "")
        self.assertEqual(messages.count("\n"), 1, messages)
        self.assertTrue(messages.startswith("kiln: "), messages)
        self.assertIn(says, messages)

    def test_names_in_tables_and_for_programs(self):
        table, _ = self.check_lines(self.run_kiln("explain", "--workloads", "evil.json", "--wide"))
        for name, shown in HOSTILE.values():
            self.assertEqual("\\u202elist/" + shown + " " in table, name in LISTED)
        expected = {"\u202elist/" + name for name in LISTED}
        done = self.run_kiln("explain", "--workloads", "evil.json", "--format", "json")
        self.check_lines(done)
        self.assertEqual({row["workload"] for row in json.loads(done.stdout)}, expected)
        done = self.run_kiln("explain", "--workloads", "evil.json", "--format", "csv")
        rows = csv.DictReader(io.StringIO(done.stdout.decode(), newline=""))
        self.assertEqual({row["workload"] for row in rows}, expected)

    def test_csv_on_a_terminal(self):
        ours, theirs = pty.openpty()
        done = subprocess.Popen([KILN, "explain", "--workloads", "evil.json", "--format", "csv"], cwd=self.folder,
                                stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs)
        os.close(theirs)
        shown = b""
        try:
            while part := os.read(ours, 65536):
                shown += part
        except OSError:  # the other end is closed
            pass
        os.close(ours)
        self.assertEqual(done.wait(), 0)
        self.assertTrue(is_plain(shown.decode().replace("\r\n", "\n")), shown)

    def test_options_and_paths(self):
        for text, shown in HOSTILE.values():
            with self.subTest(text=text):
                self.check_refusal(text, says=shown)
                self.check_refusal("--" + text)
                self.check_refusal("explain", "--workloads", text, says=shown)
                self.check_refusal("explain", "--workloads", "evil.json", "--target", text, says=shown)
                self.check_refusal("explain", "--workloads", "evil.json", "--filter", text + "x", says=shown)
                self.check_refusal("explain", "--workloads", "evil.json", "--columns", text, says=shown)
                self.check_refusal("explain", text, says=shown)
                self.check_refusal("query", "best", "--db", text, says=shown)
                self.check_refusal("tune", "--workloads", "evil.json", "--db", "new.db", "--time", text, says=shown)
                self.check_refusal("tune", "--workloads", "evil.json", "--db", "new.db", "--algorithm", text)
                self.check_refusal("build", "--workloads", "evil.json", "--name", text, "-o", "dist", says=shown)
                self.check_refusal("bench", "--workloads", "evil.json", "--against", text)
                self.check_refusal("repro", "1234" + text, "--db", text)

    def test_paths_that_are_no_text(self):
        for name in BYTES:
            with self.subTest(name=name):
                shown = "".join(f"\\x{byte:02x}" if byte >= 0x80 else chr(byte) for byte in name)
                self.check_refusal("explain", "--workloads", name, says=shown)
                (self.folder / os.fsdecode(name)).write_bytes(b"{")
                self.check_refusal("explain", "--workloads", name, says=shown)
                self.check_refusal("query", "best", "--db", name, says=shown)

    def test_lists(self):
        for text, shown in HOSTILE.values():
            for document in (
                {"format": text},
                {"format": "workloads/1", text: 1},
                {"format": "workloads/1", "name": "n", "workloads": [{"name": text, **LAYER, "op": "conv9d"}]},
                {"format": "workloads/1", "name": "n", "workloads": [{"name": "x", **LAYER, text: 1}]},
                {"format": "workloads/1", "name": "n", "workloads": [{"name": "x", **LAYER, "op": text}]},
                {"format": "workloads/1", "name": "n", "workloads": [{"name": "x", **LAYER, "epilogue": [text]}]},
            ):
                with self.subTest(document=document):
                    (self.folder / "bad.json").write_text(json.dumps(document))
                    self.check_refusal("explain", "--workloads", "bad.json")
        for raw in BYTES + [b"\x1b[31m", b"\x00", b"{\"a\x1b\": 1}", b"\xef\xbb\xbf{}"]:
            (self.folder / "bad.json").write_bytes(raw)
            self.check_refusal("explain", "--workloads", "bad.json")

    def test_a_database_from_elsewhere(self):
        names = [{"record": "workload_name", "workload": "conv2d/" + text, "list": text, "name": text, "count": 1}
                 for text in self.names]
        lines = ['{"format":"database/1"}'] + [json.dumps(name, separators=(",", ":")) for name in names]
        (self.folder / "names.jsonl").write_text("\n".join(lines) + "\n")
        imported = self.run_kiln("db", "import", "--db", "names.db", "names.jsonl")
        self.check_lines(imported, imported.returncode)
        if imported.returncode != 0:
            return  # refused: nothing to show
        table, _ = self.check_lines(self.run_kiln("query", "workloads", "--db", "names.db", "--wide"))
        for _, shown in HOSTILE.values():
            self.assertIn(shown + "/" + shown, table)
        exported = self.run_kiln("db", "export", "--db", "names.db")
        self.check_lines(exported)
        self.assertEqual({json.loads(line).get("name") for line in exported.stdout.splitlines()[1:]}, set(self.names))

    def test_what_sql_answers(self):
        self.run_kiln("db", "import", "--db", "empty.db", self.export_of_nothing())
        for text, shown in HOSTILE.values():
            with self.subTest(text=text):
                codes = ",".join(str(ord(c)) for c in text)
                sql = f"SELECT char({codes}) AS \"{text}\", x'1b5b336d9bff' AS b, CAST(x'9b336dc0' AS TEXT) AS t"
                query = ["query", "sql", sql, "--db", "empty.db"]
                table, _ = self.check_lines(self.run_kiln(*query))
                self.assertEqual(table.count(shown), 2, table)
                self.assertEqual(table.count("\n"), 2, table)
                done = self.run_kiln(*query, "--format", "json")
                self.check_lines(done)
                self.assertEqual(json.loads(done.stdout)[0][text], text)
                self.check_refusal("query", "sql", f'SELECT "{text}" FROM "{text}"', "--db", "empty.db", says=shown)

    def export_of_nothing(self):
        (self.folder / "nothing.jsonl").write_text('{"format":"database/1"}\n')
        return "nothing.jsonl"

    def test_the_environment(self):
        for text in self.names:
            done = self.run_kiln("explain", "--workloads", "evil.json", COLUMNS=text, TERM=text, LANG=text, NO_COLOR=text,
                                 KILN_CACHE=text, HOME=text)
            self.check_lines(done)
        shown = self.run_kiln("build", "--workloads", "evil.json", "-o", "dist", TMPDIR="/nowhere/\x1b[31m", CXX="\x1b[31m")
        self.check_lines(shown, shown.returncode)
        self.assertIn(shown.returncode, (2, 3))

    def test_a_package(self):
        name = "<img src=x>|[y](z)\x9b31m\u2028"
        (self.folder / "one.json").write_text(workload_list([name]))
        self.check_lines(self.run_kiln("build", "--workloads", "one.json", "--name", "p", "-o", "dist"))
        readme = (self.folder / "dist" / "README.md").read_text()
        self.assertIn("| net/&lt;img src=x&gt;\\|\\[y\\](z)\\\\u009b31m\\\\u2028 |", readme)
        for path in (self.folder / "dist").rglob("*"):
            if path.suffix in (".h", ".hpp", ".md", ".pc", ".cmake", ".json"):
                self.assertTrue(is_plain(path.read_text().replace("\t", " ")), path)
        for arguments in (["dist"], ["dist", "*"], ["dist/lib/libp.a"], ["dist", "--format", "json"]):
            output, _ = self.check_lines(self.run_kiln("explain", *arguments))
        self.assertEqual(json.loads(output)[0]["layer"], "net/" + name)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    KILN = os.path.abspath(sys.argv.pop(1))
    unittest.main()
