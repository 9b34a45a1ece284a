"""Signals and terminals that vanish: a job ends cleanly or goes on, and what it finished is there."""

import json
import os
import pty
import resource
import signal
import subprocess
import time
import unittest

from kiln_job import BINARIES, ONE_LAYER, KilnJob

KILN = str(BINARIES / "kiln")
ENDLESS = 100000  # trials: the job is ended before


def start_in_terminal(job, *command):
    """A process whose session's terminal is a new one; answers it and our end of the terminal."""
    ours, theirs = pty.openpty()

    def take_terminal():
        os.setsid()
        os.close(os.open(os.ttyname(theirs), os.O_RDWR))  # a session leader's first terminal becomes its own

    process = subprocess.Popen([*map(str, command)], stdin=theirs, stdout=theirs, stderr=theirs, cwd=job.folder,
                               env={**job.environment, "TERM": "xterm"}, preexec_fn=take_terminal)
    os.close(theirs)
    return process, ours


class Signals(unittest.TestCase):
    def assert_ended_cleanly(self, job, process, finished, status=130):
        self.assertEqual(process.wait(timeout=20), status)
        self.assertEqual(job.processes_after(5), {})
        self.assertEqual(job.left_in_temporary_folder(), [])
        self.assertLessEqual(finished, job.trials())
        self.assertEqual(job.query("PRAGMA integrity_check"), [("ok",)])

    def test_signals_that_end_a_job_cleanly(self):
        for signals in ([signal.SIGHUP], [signal.SIGHUP, signal.SIGHUP], [signal.SIGXCPU, signal.SIGXCPU],
                        [signal.SIGTERM, signal.SIGTERM]):
            with self.subTest(signals), KilnJob(ONE_LAYER) as job:
                process = job.start_tuning(ENDLESS)
                finished = job.wait_for_trials(2, process)
                for number in signals:
                    process.send_signal(number)
                self.assert_ended_cleanly(job, process, finished)

    def test_an_interrupted_bench_answers_with_what_it_measured(self):
        with KilnJob() as job:
            process = job.start("bench", "--workloads", job.workloads, "--rounds", 100, "--format", "json")
            messages = iter(process.stderr.readline, "")
            self.assertTrue(any(line.startswith("[2/2]") for line in messages))
            process.send_signal(signal.SIGINT)
            answer, rest = process.communicate(timeout=20)
            self.assertEqual(process.returncode, 130, rest)
            self.assertEqual([layer["name"] for layer in json.loads(answer)["layers"]], ["three_by_three"])
            self.assertIn("1 of 2 layers were measured", rest)
            self.assertEqual(job.processes_after(5), {})

    def test_a_second_signal_ends_a_job_at_once(self):
        with KilnJob(ONE_LAYER) as job:
            process = job.start_tuning(ENDLESS)
            job.wait_for_trials(1, process)
            process.send_signal(signal.SIGINT)
            time.sleep(0.3)
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
            self.assertIn(process.wait(timeout=20), (-signal.SIGINT, 130))
            self.assertEqual(job.processes_after(5), {})

    def test_a_terminal_that_closes_ends_a_job_cleanly(self):
        with KilnJob(ONE_LAYER) as job:
            process, terminal = start_in_terminal(job, KILN, *job.tune_arguments(ENDLESS))
            finished = job.wait_for_trials(2, process)
            os.close(terminal)
            self.assert_ended_cleanly(job, process, finished)

    def test_under_nohup_a_job_outlives_its_terminal(self):
        """Its messages go to the terminal all the same, which then answers EIO."""
        with KilnJob(ONE_LAYER) as job:
            command = ["sh", "-c", 'trap "" HUP; exec "$0" "$@"', KILN, *job.tune_arguments(6)]
            process, terminal = start_in_terminal(job, *command)
            job.wait_for_trials(2, process)
            os.close(terminal)
            process.send_signal(signal.SIGHUP)
            self.assert_ended_cleanly(job, process, set(), status=3)  # the table at its end was for nobody
            self.assertEqual(job.trials_per_workload(), [6])

    def test_in_a_session_of_its_own_a_job_outlives_the_terminal(self):
        with KilnJob(ONE_LAYER) as job:
            ours, theirs = pty.openpty()
            process = subprocess.Popen([KILN, *map(str, job.tune_arguments(4))], stdin=theirs, stdout=theirs,
                                       stderr=theirs, cwd=job.folder, env=job.environment, start_new_session=True)
            os.close(theirs)
            job.wait_for_trials(1, process)
            os.close(ours)
            self.assert_ended_cleanly(job, process, set(), status=3)
            self.assertEqual(job.trials_per_workload(), [4])

    def test_a_job_that_was_stopped_goes_on(self):
        with KilnJob(ONE_LAYER) as job:
            process = job.start_tuning(4)
            job.wait_for_trials(1, process)
            process.send_signal(signal.SIGTSTP)
            time.sleep(1)
            process.send_signal(signal.SIGCONT)
            self.assert_ended_cleanly(job, process, set(), status=0)
            self.assertEqual(job.trials_per_workload(), [4])
            self.assertEqual(job.query("SELECT DISTINCT status FROM trials WHERE status LIKE '%timeout'"), [])


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    unittest.main()
