"""Databases and exports from strangers, as files that the built command is given: it answers or says what is wrong, and
touches no other file. The kinds in detail are in tests/database/."""

import os
import pathlib
import shutil
import signal
import sqlite3
import struct
import subprocess
import tempfile
import time
import unittest

from kiln_job import needs_limit_of_address_space

KILN = str(pathlib.Path(os.environ["KILN_BINARY_DIR"]).absolute() / "kiln")
RECORDED = pathlib.Path(__file__).parents[1] / "database" / "commit_e5b8fa4.db"
HEAD = '{"format":"database/1"}\n'
MAGIC = bytes.fromhex("d9d505f920a163d7")
READERS = [["query", "best"], ["query", "workloads"], ["query", "sql", "SELECT count(*) FROM trials"], ["db", "info"],
           ["db", "verify"], ["db", "export"]]


def name_line(name, count=1):
    return f'{{"record":"workload_name","workload":"conv2d/x","list":"net","name":"{name}","count":{count}}}\n'


class Databases(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="kiln-abuse-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.db = self.folder / "k.db"
        shutil.copy(RECORDED, self.db)

    def kiln(self, *arguments, status=None, **options):
        done = subprocess.run([KILN, *map(str, arguments)], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=60, check=False, **options)
        self.assertIn(done.returncode, range(4), done.stderr)
        if status is not None:
            self.assertEqual(done.returncode, status, done.stderr)
        return done

    def files(self):
        return {path.name: path.read_bytes() for path in self.folder.iterdir() if path.is_file()}

    def all_commands(self):
        """Each command that opens the database, without --db; the last ones write."""
        yield from READERS
        (self.folder / "one.jsonl").write_text(HEAD + name_line("one"))
        yield ["db", "import", "one.jsonl"]
        yield ["db", "merge", RECORDED]

    def leave_half_written(self):
        """A hot journal, as a killed writer leaves it."""
        writer = sqlite3.connect(self.db, isolation_level=None)
        writer.execute("PRAGMA cache_size = 5")
        writer.execute("BEGIN IMMEDIATE")
        writer.executemany("INSERT INTO workload (key, op) VALUES (?, 'conv2d')", [(f"conv2d/{i}",) for i in range(3000)])
        journal = self.folder / "k.db-journal"
        kept = self.db.read_bytes(), journal.read_bytes()
        writer.close()
        self.db.write_bytes(kept[0])
        journal.write_bytes(kept[1])
        return journal

    def test_no_command_deletes_what_a_journal_names(self):
        journal = self.leave_half_written()
        victim = str(self.folder / "precious").encode()
        (self.folder / "precious").write_bytes(str(journal).encode() + b"\0")
        record = struct.pack(">I", 1) + victim + struct.pack(">II", len(victim), sum(victim)) + MAGIC
        journal.write_bytes(journal.read_bytes() + record)
        list(self.all_commands())
        before = self.files()
        for command in self.all_commands():
            done = self.kiln(*command, "--db", self.db, status=2)
            self.assertIn("names a super-journal", done.stderr)
        self.kiln("db", "merge", "--db", "new.db", self.db, status=2)
        self.assertEqual(self.files(), before)

    def test_readers_change_nothing_after_a_kill(self):
        self.leave_half_written()
        before = self.files()
        for command in READERS:
            self.kiln(*command, "--db", self.db, status=0)
            self.assertEqual(self.files(), before, command)
        workloads = self.kiln("query", "workloads", "--db", self.db, "--format", "csv", status=0).stdout
        self.assertNotIn("conv2d/2999", workloads)
        self.kiln("db", "merge", "--db", "new.db", self.db, status=0)
        after = self.files()
        self.assertEqual({name: after[name] for name in before}, before)

    def test_another_users_journal_in_a_sticky_folder(self):
        if os.geteuid() != 0:
            self.skipTest("only root can give files away")
        journal = self.leave_half_written()
        os.chown(journal, 65534, 65534)
        self.folder.chmod(0o1777)
        list(self.all_commands())
        before = self.files()
        for command in self.all_commands():
            self.assertIn("belongs to another user", self.kiln(*command, "--db", self.db, status=2).stderr)
        self.assertEqual(self.files(), before)

    def test_triggers_and_views_never_run(self):
        for sql in ["CREATE TRIGGER evil AFTER INSERT ON workload_name BEGIN DELETE FROM race_entry; DELETE FROM race; END",
                    "DROP VIEW best; CREATE VIEW best AS WITH RECURSIVE n(name) AS (VALUES (1) UNION ALL SELECT name FROM n) "
                    "SELECT * FROM n"]:
            shutil.copy(RECORDED, self.db)
            with sqlite3.connect(self.db) as connection:
                connection.executescript(sql)
            connection.close()
            changed = self.db.read_bytes()
            for command in self.all_commands():
                self.assertIn("not a database as kiln makes it", self.kiln(*command, "--db", self.db, status=2).stderr)
            self.assertEqual(self.db.read_bytes(), changed)

    def test_names_that_are_no_files(self):
        os.mkfifo(self.folder / "queue")
        (self.folder / "one.jsonl").write_text(HEAD + name_line("one"))
        for name in [":memory:", "", "queue", ".", "/dev/null", "/dev/zero"]:
            self.kiln("db", "import", "one.jsonl", "--db", name, status=2)
        self.kiln("db", "import", "one.jsonl", "--db", "file:uri.db?mode=memory", status=0)
        self.assertTrue((self.folder / "file:uri.db?mode=memory").exists())

    def test_imports_and_merges_are_all_or_nothing(self):
        (self.folder / "good.jsonl").write_text(HEAD + name_line("one"))
        trial = self.kiln("db", "export", "--db", self.db).stdout.splitlines()
        trial = next(line for line in trial if '"status":"ok"' in line)
        (self.folder / "bad.jsonl").write_text(HEAD + trial + "\n")  # without its measurement
        done = self.kiln("db", "import", "--db", "new.db", "good.jsonl", "bad.jsonl", status=2)
        self.assertIn("bad.jsonl: trial ", done.stderr)
        self.assertIn("which is missing", done.stderr)
        self.assertNotIn("net/one", self.kiln("query", "workloads", "--db", "new.db", "--format", "csv").stdout)
        with open(self.folder / "good.jsonl", encoding="utf-8") as pipe:
            self.kiln("db", "import", "--db", "piped.db", "/dev/stdin", status=2)
            done = subprocess.run(["sh", "-c", f"cat good.jsonl | '{KILN}' db import --db piped.db /dev/stdin"],
                                  cwd=self.folder, capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_counts_that_overflow(self):
        (self.folder / "huge.jsonl").write_text(HEAD + name_line("one", 2**63 - 1))
        self.assertIn("line 2: workload_name net/one: count: needs",
                      self.kiln("db", "import", "--db", "new.db", "huge.jsonl", status=2).stderr)
        with sqlite3.connect(self.db) as connection:
            connection.execute("UPDATE workload_name SET count = ?", (2**63 - 1,))
            connection.execute("INSERT INTO workload_name SELECT workload_id, list, 'again', count FROM workload_name")
        connection.close()
        self.assertIn(str(2**63 - 1), self.kiln("query", "workloads", "--db", self.db, "--format", "csv", status=0).stdout)
        self.assertIn("count: needs", self.kiln("db", "merge", "--db", "new.db", self.db, status=2).stderr)

    @needs_limit_of_address_space
    def test_huge_files_end_with_a_message(self):
        for name in ["huge.json", "huge.jsonl"]:
            with open(self.folder / name, "wb") as file:
                file.write(HEAD.encode())
                file.truncate(5 << 30)
        limit = ["sh", "-c", 'ulimit -v 2000000 && exec "$@"', "sh", KILN]
        for arguments, message in [(["tune", "--db", "t.db", "--workloads", "huge.json"], "huge.json: has more than 256 MiB"),
                                   (["db", "import", "--db", "new.db", "huge.jsonl"], "huge.jsonl: line 2: is longer than")]:
            done = subprocess.run([*limit, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=60,
                                  check=False)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(message, done.stderr)

    def test_an_endless_query_ends_at_ctrl_c(self):
        endless = "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
        job = subprocess.Popen([KILN, "query", "sql", endless, "--db", self.db], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(1)
        job.send_signal(signal.SIGINT)
        self.assertIn(job.wait(timeout=20), (130, -signal.SIGINT))


if __name__ == "__main__":
    unittest.main()
