"""Limits of the system that a user, a shell or a batch system set: a message and status 3, or it works within them."""

import os
import resource
import subprocess
import unittest

from forged_rows import forge
from kiln_job import BINARIES, ONE_LAYER, KilnJob, needs_limit_of_address_space, needs_limit_of_descriptors

KILN = str(BINARIES / "kiln")
MIB = 1 << 20


class Limits(unittest.TestCase):
    def run_limited(self, job, limits, *arguments):
        """`kiln ARGUMENTS` under hard limits."""

        def set_limits():
            for which, value in limits.items():
                resource.setrlimit(which, (value, value))

        return subprocess.run([KILN, *map(str, arguments)], cwd=job.folder, env=job.environment, timeout=200,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                              preexec_fn=set_limits)

    def assert_refused(self, result, *says):
        self.assertEqual(result.returncode, 3, result.stderr)
        for words in says:
            self.assertIn(words, result.stderr)

    @needs_limit_of_address_space
    def test_address_space(self):
        with KilnJob() as job:
            result = self.run_limited(job, {resource.RLIMIT_AS: 1024 * MIB}, *job.tune_arguments(2))
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(job.query("SELECT DISTINCT status FROM trials"), [("ok",)])
            result = self.run_limited(job, {resource.RLIMIT_AS: 200 * MIB}, *job.tune_arguments(3))
            self.assert_refused(result, "the limit of address space of 200 MiB (ulimit -v) is too low")
            self.assertEqual(job.trials_per_workload(), [2, 2])

    @needs_limit_of_address_space
    def test_too_little_memory_names_what_was_done(self):
        with KilnJob() as job:
            big = job.folder / "big.jsonl"
            with open(big, "wb") as file:
                file.truncate(400 * MIB)
            result = self.run_limited(job, {resource.RLIMIT_AS: 300 * MIB}, "db", "import", "--db", "new.db", big)
            self.assertIn(result.returncode, (2, 3), result.stderr)
            self.assertIn("big.jsonl", result.stderr)
            self.assertNotIn("bad_alloc", result.stderr)

    @needs_limit_of_address_space
    def test_too_large_answers_say_how_to_ask_for_less(self):
        with KilnJob() as job:
            job.run(*job.tune_arguments(2))
            large = "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 100) " \
                    "SELECT printf('%.*c', 10000000, 'x') AS x FROM n"
            cases = [(["sql", large], "LIMIT"), (["sql", large, "--format", "json"], "LIMIT")]
            forge(job.database, "candidate = printf('%.*c', 60000000, 'x')")
            cases += [(["trials", "--format", form], "--top N") for form in ("json", "csv")]
            for arguments, way_out in cases:
                with self.subTest(arguments):
                    result = self.run_limited(job, {resource.RLIMIT_AS: 300 * MIB}, "query", *arguments, "--db", job.database)
                    self.assert_refused(result, "tiny.db", way_out)

    def test_file_size(self):
        with KilnJob() as job:
            job.run(*job.tune_arguments(1))
            size = job.database.stat().st_size
            result = self.run_limited(job, {resource.RLIMIT_FSIZE: size + 100}, *job.tune_arguments(200))
            self.assertEqual(result.returncode, 3, result.stderr)
            self.assertTrue(result.stderr.strip())
            self.assertEqual(job.query("PRAGMA integrity_check"), [("ok",)])
            self.assertNotIn("signal", result.stderr)
            job.run("db", "verify", "--db", job.database)
            self.assertEqual(job.query("SELECT * FROM trials WHERE status != 'ok'"), [])

    @needs_limit_of_descriptors
    def test_descriptors(self):
        with KilnJob(ONE_LAYER) as job:
            for count in range(3, 30):
                result = self.run_limited(job, {resource.RLIMIT_NOFILE: count}, *job.tune_arguments(1))
                self.assertIn(result.returncode, (0, 2, 3, 127), f"{count}: {result.stderr}")
                self.assertEqual(job.query("SELECT * FROM trials WHERE status != 'ok'"), [], count)
                self.assertEqual(job.left_in_temporary_folder(), [])

    def test_processes(self):
        if os.geteuid() == 0:
            self.skipTest("the limit of processes is not for root")
        with KilnJob() as job:
            result = self.run_limited(job, {resource.RLIMIT_NPROC: 1}, *job.tune_arguments(1))
            self.assertEqual(result.returncode, 3, result.stderr)


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    unittest.main()
