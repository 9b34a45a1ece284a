"""Ctrl-C ends tuning cleanly, a rerun goes on where it stopped, and one more adds nothing."""

import os
import signal
import unittest

from kiln_job import KilnJob


class InterruptTest(unittest.TestCase):
    def interrupt(self, job, send):
        """Interrupts a tuner that has just finished some trials; answers the trials finished before."""
        tuner = job.start_tuning(100000)
        try:
            finished = job.wait_for_trials(len(job.trials()) + 2, tuner)
            send(tuner.pid)
            self.assertEqual(tuner.wait(timeout=20), 130, job.log())
        finally:
            tuner.kill()
            tuner.wait()
        self.assertEqual(job.processes_after(5), {})
        self.assertEqual(job.left_in_temporary_folder(), [])
        self.assertLessEqual(finished, job.trials())
        return finished

    def test_interrupt_and_rerun(self):
        with KilnJob() as job:
            # A terminal sends SIGINT to the whole foreground group, `kill` to one process.
            self.interrupt(job, lambda pid: os.killpg(pid, signal.SIGINT))
            self.interrupt(job, lambda pid: os.kill(pid, signal.SIGTERM))
            finished = job.trials()

            wanted = max(job.trials_per_workload()) + 1
            job.run(*job.tune_arguments(wanted))
            self.assertEqual(job.trials_per_workload(), [wanted, wanted])
            self.assertLess(finished, job.trials())

            finished = job.trials()
            job.run(*job.tune_arguments(wanted))
            self.assertEqual(job.trials(), finished)


if __name__ == "__main__":
    unittest.main()
