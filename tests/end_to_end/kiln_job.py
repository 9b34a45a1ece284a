"""A folder with small workloads and a database, and the real `kiln` run in it.

Everything that a job starts carries its marker in the environment, so that processes left behind are found in /proc
whoever adopted them.
"""

import json
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
import unittest
import uuid

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BINARIES = pathlib.Path(os.environ.get("KILN_BINARY_DIR", ROOT / "build" / "bin"))

# What an instrumented kiln cannot do: AddressSanitizer reserves terabytes of address space, and UndefinedBehaviorSanitizer
# looks at memory through a pipe.
IS_INSTRUMENTED = os.environ.get("KILN_SANITIZE") == "1"
needs_limit_of_address_space = unittest.skipIf(IS_INSTRUMENTED, "AddressSanitizer reserves terabytes of address space")
needs_limit_of_descriptors = unittest.skipIf(IS_INSTRUMENTED, "UndefinedBehaviorSanitizer needs a pipe to look at memory")

# Layers that build and run in a moment: a padded 3x3 and a strided 1x1, each with an epilogue. Large enough for hundreds of
# candidates, so that no job runs out of them.
LAYERS = [
    {
        "name": "three_by_three",
        "op": "conv2d",
        "input": [1, 9, 11, 16],
        "kernel": [3, 3, 16, 32],
        "padding": [[1, 1], [1, 1]],
        "epilogue": ["bias", "relu"],
    },
    {
        "name": "pointwise",
        "op": "conv2d",
        "input": [2, 16, 16, 24],
        "kernel": [1, 1, 24, 80],
        "strides": [2, 2],
        "epilogue": ["prelu", "add"],
    },
]

# Enough where what is tested does not depend on the number of layers: each takes as long as the one before.
ONE_LAYER = LAYERS[1:]


def seed():
    """What random moments are drawn from; ./test prints it."""
    return int(os.environ.get("KILN_TEST_SEED", "1"))


class KilnJob:
    """A context manager; at its end every process of the job is killed and its folder removed."""

    def __init__(self, layers=LAYERS):
        self.layers = layers

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="kiln test "))  # the blank is on purpose
        self.temporary = self.folder / "tmp"
        self.temporary.mkdir()
        self.workloads = self.folder / "tiny.json"
        self.workloads.write_text(json.dumps({"format": "workloads/1", "name": "tiny", "workloads": self.layers}))
        self.database = self.folder / "tiny.db"
        self.marker = f"KILN_TEST_JOB={uuid.uuid4()}"
        name, value = self.marker.split("=")
        self.environment = {**os.environ, "TMPDIR": str(self.temporary), name: value}
        return self

    def __exit__(self, *_):
        for pid in self.processes():
            self.kill(pid)
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self, *arguments):
        """`kiln ARGUMENTS` in a session of its own, as a shell would start it."""
        return subprocess.Popen(
            [str(BINARIES / "kiln"), *map(str, arguments)],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(self, *arguments, status=0):
        """Runs `kiln ARGUMENTS` to its end, which must have the given exit status; answers its stdout."""
        process = self.start(*arguments)
        output, messages = process.communicate(timeout=900)
        if process.returncode != status:
            raise AssertionError(f"kiln {arguments} ended with {process.returncode}, not {status}:\n{output}{messages}")
        return output

    def tune_arguments(self, trials):
        return ["tune", "--workloads", self.workloads, "--db", self.database, "--trials", trials]

    def start_tuning(self, trials):
        """Starts `kiln tune` with its output in a file: nobody may be there to read a pipe."""
        with open(self.folder / "tune.log", "ab") as log:
            return subprocess.Popen(
                [str(BINARIES / "kiln"), *map(str, self.tune_arguments(trials))],
                cwd=self.folder,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def query(self, sql):
        """Rows of the database, read without kiln; none where there is no database yet."""
        if not self.database.exists():
            return []
        connection = sqlite3.connect(f"{self.database.as_uri()}?mode=ro", uri=True, timeout=30)
        try:
            return connection.execute(sql).fetchall()
        except sqlite3.OperationalError as error:
            if "no such table" in str(error):  # the tuner has made the file and not yet the schema
                return []
            raise
        finally:
            connection.close()

    def trials(self):
        """Ids of the finished trials."""
        return {row[0] for row in self.query("SELECT trial FROM trials")}

    def trials_per_workload(self):
        return sorted(count for _, count in self.query("SELECT workload, count(*) FROM trials GROUP BY workload"))

    def wait_for_trials(self, count, process, limit_s=120):
        """Waits until there are `count` trials, while `process` must go on; answers their ids."""
        end = time.monotonic() + limit_s
        while len(trials := self.trials()) < count:
            if process.poll() is not None:
                raise AssertionError(f"kiln tune ended with {process.returncode} too early:\n{self.log()}")
            if time.monotonic() > end:
                raise AssertionError(f"{len(trials)} of {count} trials after {limit_s} s:\n{self.log()}")
            time.sleep(0.02)
        return trials

    def log(self):
        return (self.folder / "tune.log").read_text(errors="replace")

    def processes(self):
        """Running processes of the job: pid -> name of the executable."""
        found = {}
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if self.marker.encode() in (folder / "environ").read_bytes().split(b"\0"):
                    found[int(folder.name)] = os.path.basename(os.readlink(folder / "exe"))
            except OSError:  # ended meanwhile, or somebody else's
                pass
        return found

    def kill(self, pid):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def processes_after(self, seconds):
        """What still runs when everything had `seconds` to end."""
        end = time.monotonic() + seconds
        while (left := self.processes()) and time.monotonic() < end:
            time.sleep(0.02)
        return left

    def left_in_temporary_folder(self):
        return sorted(path.name for path in self.temporary.iterdir())
