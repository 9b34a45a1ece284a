"""Streams that are closed, full, broken or slow: what a command does does not depend on who listens.

An answer that did not arrive is status 3, a message that did not arrive is nothing, and no job ends for either.
"""

import fcntl
import os
import pty
import resource
import struct
import subprocess
import termios
import threading
import unittest

from kiln_job import BINARIES, ONE_LAYER, KilnJob

KILN = str(BINARIES / "kiln")


def kiln_in_shell(job, redirections, *arguments, status=None):
    """`kiln ARGUMENTS REDIRECTIONS`, as a shell does it; answers the exit status."""
    command = ["sh", "-c", f'exec "$0" "$@" {redirections}', KILN, *map(str, arguments)]
    result = subprocess.run(command, cwd=job.folder, env=job.environment, timeout=120, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if status is not None and result.returncode != status:
        raise AssertionError(f"{arguments} {redirections}: {result.returncode}, not {status}: {result.stderr}")
    return result


class ClosedStreams(unittest.TestCase):
    ALL = "<&- >&- 2>&-"

    def test_tune_records_whatever_is_closed(self):
        for redirections in ("2>&-", "<&-", ">&-", self.ALL):
            with self.subTest(redirections), KilnJob(ONE_LAYER) as job:
                kiln_in_shell(job, redirections, *job.tune_arguments(1), status=0)
                self.assertEqual(job.trials_per_workload(), [1])
                self.assertEqual(job.query("PRAGMA integrity_check"), [("ok",)])
                self.assertEqual(job.left_in_temporary_folder(), [])

    def test_build_writes_its_package(self):
        for redirections in ("2>&-", self.ALL):
            with self.subTest(redirections), KilnJob(ONE_LAYER) as job:
                kiln_in_shell(job, redirections, "build", "--workloads", job.workloads, "-o", "dist", status=0)
                self.assertTrue((job.folder / "dist" / "lib" / "libkiln_kernels.a").exists())

    def test_commands_that_only_answer(self):
        with KilnJob() as job:
            for arguments in (["--help"], ["--version"], ["targets", "--help"], ["no_such_command"]):
                for redirections in ("2>&-", "<&-", ">&-", self.ALL):
                    usage = 2 if arguments == ["no_such_command"] else 0
                    kiln_in_shell(job, redirections, *arguments, status=usage)

    def test_without_closed_streams_the_answer_arrives(self):
        with KilnJob() as job:
            result = kiln_in_shell(job, "<&- 2>&-", "--version", status=0)
            self.assertTrue(result.stdout.startswith(b"kiln "))


class StreamsThatFail(unittest.TestCase):
    def test_an_answer_that_does_not_arrive_is_status_3(self):
        with KilnJob() as job:
            for arguments in (["--help"], ["--version"], ["explain", "--workloads", job.workloads, "--wide"]):
                result = kiln_in_shell(job, "> /dev/full", *arguments, status=3)
                self.assertIn(b"kiln: standard output cannot be written: No space left on device", result.stderr)

    def test_messages_that_do_not_arrive_change_nothing(self):
        with KilnJob(ONE_LAYER) as job:
            kiln_in_shell(job, "2> /dev/full", "no_such_command", status=2)
            kiln_in_shell(job, "2> /dev/full", *job.tune_arguments(1), status=0)
            self.assertEqual(job.trials_per_workload(), [1])

    def test_tune_records_though_nothing_can_be_printed(self):
        with KilnJob() as job:
            kiln_in_shell(job, "> /dev/full 2>&1", *job.tune_arguments(1), status=3)
            self.assertEqual(job.trials_per_workload(), [1, 1])
            self.assertEqual(job.processes_after(5), {})

    def test_readers_that_are_gone(self):
        with KilnJob(ONE_LAYER) as job:
            read_end, write_end = os.pipe()
            os.close(read_end)
            arguments = [KILN, *map(str, job.tune_arguments(1))]
            for streams, status in (({"stderr": write_end}, 0), ({"stdout": write_end}, 3)):
                process = subprocess.run(arguments, cwd=job.folder, env=job.environment, timeout=120, check=False,
                                         stdin=subprocess.DEVNULL, **{"stdout": subprocess.DEVNULL,
                                                                      "stderr": subprocess.PIPE, **streams})
                self.assertEqual(process.returncode, status, process.stderr)
            os.close(write_end)
            self.assertEqual(job.trials_per_workload(), [1])
            self.assertNotIn(b"standard output", process.stderr or b"", "`kiln ... | head` needs no message")

    def test_a_file_size_limit(self):
        with KilnJob() as job:
            script = 'ulimit -f 1; exec "$0" tune --help > answer'
            result = subprocess.run(["sh", "-c", script, KILN], cwd=job.folder, env=job.environment, timeout=60,
                                    capture_output=True, check=False)
            self.assertEqual(result.returncode, 3, result.stderr)
            self.assertIn(b"File too large", result.stderr)

    def test_a_slow_reader_gets_all_of_an_answer(self):
        """Through a pipe that somebody made non-blocking."""
        with KilnJob() as job:
            expected = subprocess.run([KILN, "tune", "--help"], capture_output=True, check=True).stdout
            read_end, write_end = os.pipe()
            fcntl.fcntl(write_end, fcntl.F_SETPIPE_SZ, 4096)
            os.set_blocking(write_end, False)
            script = 'i=0; while [ $i -lt 8 ]; do i=$((i+1)); "$0" tune --help || exit 9; done'
            process = subprocess.Popen(["sh", "-c", script, KILN], stdout=write_end, stdin=subprocess.DEVNULL,
                                       env=job.environment)
            os.close(write_end)
            chunks = []
            timer = threading.Timer(1, lambda: chunks.extend(iter(lambda: os.read(read_end, 1000), b"")))
            timer.start()
            self.assertEqual(process.wait(timeout=60), 0)
            timer.join()
            os.close(read_end)
            self.assertEqual(b"".join(chunks), expected * 8)

    def test_a_reader_of_messages_that_sleeps_does_not_stop_a_job(self):
        with KilnJob(ONE_LAYER) as job:
            read_end, write_end = os.pipe()
            fcntl.fcntl(write_end, fcntl.F_SETPIPE_SZ, 4096)
            os.set_blocking(write_end, False)
            os.write(write_end, b"x" * 4096)
            os.set_blocking(write_end, True)
            process = subprocess.run([KILN, *map(str, job.tune_arguments(1))], stdout=subprocess.DEVNULL,
                                     stderr=write_end, stdin=subprocess.DEVNULL, env=job.environment, timeout=120,
                                     check=False)
            os.close(read_end)
            os.close(write_end)
            self.assertEqual(process.returncode, 0)
            self.assertEqual(job.trials_per_workload(), [1])


class Terminals(unittest.TestCase):
    def run_in_terminal(self, job, columns):
        """What `kiln tune` shows in a terminal of so many columns."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 1, columns, 0, 0))
        process = subprocess.Popen([KILN, *map(str, job.tune_arguments(1))], stdout=theirs, stderr=theirs,
                                   stdin=subprocess.DEVNULL, env={**job.environment, "TERM": "xterm"})
        os.close(theirs)
        shown = []
        try:
            while chunk := os.read(ours, 4096):
                shown.append(chunk)
        except OSError:  # nobody has the other end open any more
            pass
        os.close(ours)
        self.assertEqual(process.wait(timeout=60), 0, b"".join(shown))
        return b"".join(shown).decode()

    def test_any_number_of_columns(self):
        with KilnJob() as job:
            for columns in (0, 1, 7, 80, 65535):
                self.assertIn("three_by_three", self.run_in_terminal(job, columns), columns)
            self.assertEqual(job.trials_per_workload(), [1, 1])


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    unittest.main()
