"""Compilers that are killed, and what a layer is judged by where that takes long."""

import json
import os
import resource
import signal
import threading
import time
import unittest

from kiln_job import KilnJob

# Little memory, and some minutes of plain loops.
LONG_REFERENCE = {
    "name": "long",
    "op": "conv2d",
    "input": [1, 96, 96, 512],
    "kernel": [9, 9, 512, 512],
    "padding": [[4, 4], [4, 4]],
}


class KilledCompiler(unittest.TestCase):
    def kill_compilers(self, job, is_over):
        while not is_over.is_set():
            for pid, name in job.processes().items():
                if name == "kiln-generator":
                    job.kill(pid)

    def test_a_rerun_makes_the_trials_of_killed_compilers(self):
        with KilnJob() as job:
            job.run(*job.tune_arguments(1))
            before = job.trials()
            is_over = threading.Event()
            tuner = job.start_tuning(3)
            killer = threading.Thread(target=self.kill_compilers, args=(job, is_over))
            killer.start()
            try:
                tuner.wait(timeout=120)
            finally:
                is_over.set()
                killer.join()
                tuner.kill()
            # The one that asks for a version at the start may have been killed too: then nothing was tried.
            self.assertIn(tuner.returncode, (0, 1, 3), job.log())
            killed = job.query("SELECT status, message FROM trials WHERE message LIKE '%was killed%'")
            self.assertEqual({status for status, _ in killed} - {"out_of_memory"}, set(), killed)
            self.assertEqual(job.query("SELECT * FROM trials WHERE status = 'compile_error'"), [])
            job.run(*job.tune_arguments(3))
            good = job.query("SELECT workload, count(*) FROM trials WHERE message NOT LIKE '%was killed%' GROUP BY workload")
            self.assertEqual([count for _, count in good], [3, 3])
            self.assertLessEqual(before, job.trials())


class LongReference(unittest.TestCase):
    def start(self, job, *arguments):
        job.workloads.write_text(
            json.dumps({"format": "workloads/1", "name": "long", "workloads": [LONG_REFERENCE]})
        )
        process = job.start("tune", "--workloads", job.workloads, "--db", job.database, *arguments)
        end = time.monotonic() + 120
        while "kiln-runner" not in job.processes().values():
            self.assertIsNone(process.poll(), "the job ended too early")
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)
        return process

    def test_ends_with_the_first_interrupt(self):
        with KilnJob() as job:
            process = self.start(job, "--trials", "1")
            time.sleep(1)
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=20)
            self.assertEqual(process.returncode, 130)
            self.assertEqual(job.processes_after(5), {})
            self.assertEqual(job.left_in_temporary_folder(), [])

    def test_ends_with_the_time(self):
        with KilnJob() as job:
            begin = time.monotonic()
            process = self.start(job, "--time", "5s")
            _, messages = process.communicate(timeout=100)
            self.assertEqual(process.returncode, 1, messages)
            self.assertIn("time limit", messages)
            self.assertLess(time.monotonic() - begin, 60, "most of it is the compiler's")


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.environ.setdefault("KILN_TEST_SEED", "1")
    unittest.main()
