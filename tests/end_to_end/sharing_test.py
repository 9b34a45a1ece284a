"""Several `kiln tune` on one database: no candidate twice, none too many, also when some of them are killed."""

import os
import random
import unittest

from kiln_job import KilnJob, seed

ROUNDS = int(os.environ.get("KILN_TEST_KILLS", "2"))
JOBS = 3


class SharingTest(unittest.TestCase):
    def test_jobs_share_trials_and_outlive_each_other(self):
        random_moment = random.Random(seed())
        with KilnJob() as job:
            wanted = 4
            for _ in range(ROUNDS):
                wanted += 2
                before = len(job.trials())
                tuners = [job.start_tuning(wanted) for _ in range(JOBS)]
                try:
                    # One is killed in the middle of something; what it held is free for the others.
                    job.wait_for_trials(before + random_moment.randint(1, 3), tuners[0])
                    tuners[0].kill()
                    for tuner in tuners[1:]:
                        self.assertEqual(tuner.wait(timeout=240), 0, job.log())
                finally:
                    for tuner in tuners:
                        tuner.kill()
                        tuner.wait()
                self.assertEqual(job.trials_per_workload(), [wanted, wanted])
            self.assertEqual(job.processes_after(5), {})
            self.assertEqual(
                job.query("SELECT candidate FROM trials GROUP BY workload, candidate HAVING count(*) > 1"), []
            )
            self.assertIn("ok", job.run("db", "verify", "--db", job.database))
            self.assertNotIn("locked", job.log())


if __name__ == "__main__":
    unittest.main()
