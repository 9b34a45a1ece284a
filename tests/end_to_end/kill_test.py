"""kill -9 of the tuner, of a builder and of a runner at random moments.

After each: the database opens and is whole, every trial that was finished is there, no process is left behind. In the
end a rerun completes and nothing was tried twice. KILN_TEST_KILLS sets the number of rounds.
"""

import os
import random
import time
import unittest

from kiln_job import KilnJob, seed

ROUNDS = int(os.environ.get("KILN_TEST_KILLS", "6"))
ENDLESS = 100000  # trials: the tuner is killed before
VICTIMS = ["kiln", "kiln-generator", "kiln-runner"]


class KillTest(unittest.TestCase):
    def test_kill_at_random_moments(self):
        random_moment = random.Random(seed())
        with KilnJob() as job:
            for number in range(ROUNDS):
                victim = VICTIMS[number % len(VICTIMS)]
                delay = random_moment.uniform(0, 1.5 if victim == "kiln" else 0.2)
                with self.subTest(round=number, victim=victim, delay=delay):
                    self.kill_one(job, victim, delay)
            wanted = max(job.trials_per_workload(), default=0) + 2
            finished = job.trials()
            job.run(*job.tune_arguments(wanted))
            self.assertEqual(job.trials_per_workload(), [wanted, wanted])
            self.assert_whole(job, finished)
            self.assertEqual(job.left_in_temporary_folder(), [])

    def kill_one(self, job, victim, delay):
        before = len(job.trials())
        tuner = job.start_tuning(ENDLESS)
        try:
            # The first kills of the tuner may come while it makes the database; the others come during trials.
            if victim == "kiln":
                time.sleep(delay)
                finished = job.trials()
            else:
                finished = job.wait_for_trials(before + 1, tuner)
                self.kill_child(job, victim, delay)
                finished |= job.wait_for_trials(len(finished) + 3, tuner)  # the job goes on
        finally:
            tuner.kill()
            self.assertEqual(tuner.wait(timeout=30), -9, job.log())
        self.assertEqual(job.processes_after(5), {})
        self.assert_whole(job, finished)

    def kill_child(self, job, name, delay):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            pids = [pid for pid, executable in job.processes().items() if executable == name]
            if pids:
                time.sleep(delay)  # it may be gone by then: that is one of the moments
                job.kill(pids[0])
                return
        self.fail(f"no {name} ran within 60 s:\n{job.log()}")

    def assert_whole(self, job, finished):
        if not job.database.exists():
            self.assertEqual(finished, set())
            return
        self.assertEqual(job.query("PRAGMA integrity_check"), [("ok",)])
        self.assertEqual(job.query("PRAGMA foreign_key_check"), [])
        self.assertLessEqual(finished, job.trials())
        twice = "SELECT workload, candidate FROM trials GROUP BY workload, candidate HAVING count(*) > 1"
        self.assertEqual(job.query(twice), [])


if __name__ == "__main__":
    unittest.main()
