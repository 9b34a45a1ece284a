"""kiln repro: trials that worked and trials that failed come out as they were recorded."""

import json
import unittest

from kiln_job import KilnJob


class ReproTest(unittest.TestCase):
    def repro(self, job, trial, status=0):
        answer = json.loads(job.run("repro", trial, "--db", job.database, "--format", "json", status=status))
        return {row["fact"]: row for row in answer}

    def judged(self, status):
        """The status without what the machine was doing at that time: right numbers, whose times spread or not."""
        return "ok" if status == "unstable" else status

    def test_recorded_trials_come_out_again(self):
        with KilnJob() as job:
            job.run(*job.tune_arguments(2))
            # No kernel is exact: against this budget every one is wrong.
            job.run(*job.tune_arguments(1), "--max-error", "1e-30", "--filter", "tiny/pointwise", status=1)
            before = job.trials()
            rows = job.query("SELECT trial, status, object_hash FROM trials")
            self.assertEqual({self.judged(status) for _, status, _ in rows}, {"ok", "wrong_result"})
            for trial, status, object_hash in rows:
                facts = self.repro(job, trial[:12])
                self.assertEqual(self.judged(facts["status"]["now"]), self.judged(status))
                self.assertEqual(facts["object"]["now"], object_hash)
                certain = ["machine", "toolchain", "object"]
                if facts["status"]["now"] == status:  # else not all checks were made
                    certain += ["status", "max_error"]
                for what in certain:
                    self.assertEqual(facts[what]["agrees"], "yes", (what, facts[what]))
                if self.judged(status) == "ok":
                    self.assertIn(facts["median"]["agrees"], ("yes", "no"))  # a time is not for a test to judge
                else:
                    self.assertEqual(facts["message"]["agrees"], "yes", facts["message"])
            self.assertEqual(job.trials(), before, "nothing was recorded")
            self.assertEqual(job.left_in_temporary_folder(), [])

    def test_an_unknown_trial_is_bad_input(self):
        with KilnJob() as job:
            job.run(*job.tune_arguments(1), "--filter", "tiny/pointwise")
            self.repro_fails(job, "00000000000000000000000000000000")
            self.repro_fails(job, "xyz")

    def repro_fails(self, job, trial):
        with self.assertRaisesRegex(AssertionError, "ended with 2"):
            self.repro(job, trial)


if __name__ == "__main__":
    unittest.main()
