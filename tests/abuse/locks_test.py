"""Locks that somebody else made first or does not give back: nothing hangs, and who waits says for whom."""

import os
import pathlib
import resource
import signal
import subprocess
import time
import unittest

from kiln_job import BINARIES, ONE_LAYER, KilnJob

KILN = str(BINARIES / "kiln")
# Where the lock of builds before lay: everybody may make it there first.
FORMER_LOCK = pathlib.Path("/tmp/kiln-measuring.lock")


def make_fifo(path):
    os.mkfifo(path)


def make_folder(path):
    path.mkdir()


def make_link(path):
    path.symlink_to("/dev/zero")


def make_text(path):
    path.write_text("somebody else's\n")


INTRUDERS = {"fifo": make_fifo, "folder": make_folder, "link": make_link, "text": make_text}


def remove(path):
    if path.is_dir() and not path.is_symlink():
        path.rmdir()
    else:
        path.unlink()


def lock_holder():
    """A process that measures now, of those whose lock the system shows."""
    for line in pathlib.Path("/proc/locks").read_text().splitlines():
        words = line.split()
        if words[1] == "FLOCK" and words[3] == "WRITE":
            status = os.stat("/sys/devices/system/cpu")
            place = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
            if words[5] == place:
                return int(words[4])
    return None


class Intruders(unittest.TestCase):
    def test_in_the_temporary_folder(self):
        if FORMER_LOCK.exists() or FORMER_LOCK.is_symlink():
            self.skipTest(f"{FORMER_LOCK} is somebody's")
        for name, make in INTRUDERS.items():
            with self.subTest(name), KilnJob(ONE_LAYER) as job:
                make(FORMER_LOCK)
                try:
                    make(job.temporary / FORMER_LOCK.name)
                    job.run(*job.tune_arguments(1))
                finally:
                    remove(FORMER_LOCK)
                self.assertEqual(job.left_in_temporary_folder(), [FORMER_LOCK.name])

    def test_in_place_of_the_leases(self):
        for name, make in INTRUDERS.items():
            with self.subTest(name), KilnJob(ONE_LAYER) as job:
                leases = pathlib.Path(f"{job.database}-leases")
                make(leases)
                before = leases.read_text() if name == "text" else ""
                job.run(*job.tune_arguments(1))
                self.assertEqual(job.trials_per_workload(), [1])
                self.assertEqual(leases.read_text() if name == "text" else "", before)


class StoppedHolder(unittest.TestCase):
    """A job that is stopped while it measures keeps all others of the machine from it."""

    def setUp(self):
        if lock_holder() is None and not os.access("/proc/locks", os.R_OK):
            self.skipTest("the system does not tell who holds locks")

    def stop_while_measuring(self, job, process):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            if lock_holder() == process.pid:
                process.send_signal(signal.SIGSTOP)
                os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
                if lock_holder() == process.pid:
                    return
                process.send_signal(signal.SIGCONT)
            time.sleep(0.002)
        self.fail(f"it never measured: {job.log()}")

    def wait_for_text(self, path, text, limit_s=60):
        end = time.monotonic() + limit_s
        while text not in path.read_text():
            self.assertLess(time.monotonic(), end, path.read_text())
            time.sleep(0.05)

    def start_second(self, job, *arguments):
        log = open(job.folder / "second.log", "wb")
        with log:
            return subprocess.Popen([KILN, "tune", "--workloads", str(job.workloads), "--db", "second.db", *arguments],
                                    cwd=job.folder, env=job.environment, stdin=subprocess.DEVNULL, stdout=log,
                                    stderr=log, start_new_session=True)

    def test_who_waits_says_so_and_can_be_ended(self):
        with KilnJob() as job:
            first = job.start_tuning(100000)
            second = None
            try:
                job.wait_for_trials(1, first)
                self.stop_while_measuring(job, first)
                second = self.start_second(job, "--trials", "2")
                self.wait_for_text(job.folder / "second.log", f"waits for process {first.pid}, which is stopped")
                self.assertIn(f"kill -CONT {first.pid}", (job.folder / "second.log").read_text())
                # The first job stays stopped: who did not end by itself would wait until the test gives up.
                second.send_signal(signal.SIGINT)
                self.assertEqual(second.wait(timeout=60), 130)

                # A limit of time holds while it waits, too.
                second = self.start_second(job, "--time", "3s")
                self.assertEqual(second.wait(timeout=60), 1, (job.folder / "second.log").read_text())

                second = self.start_second(job, "--trials", "1")
                self.wait_for_text(job.folder / "second.log", f"waits for process {first.pid}, which is stopped")
                first.send_signal(signal.SIGCONT)
                self.assertEqual(second.wait(timeout=60), 0)
            finally:
                for process in (first, second):
                    if process:
                        process.kill()
                        process.wait()


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    unittest.main()
