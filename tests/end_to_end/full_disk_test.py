"""`kiln tune` whose database lies on a disk that fills up: a message, status 3, and everything recorded is kept.

The disk is a small tmpfs in a mount namespace of its own; skipped (77) where that cannot be made.
"""

import os
import pathlib
import subprocess
import unittest

from kiln_job import BINARIES, KilnJob

SKIPPED = 77
# $1 is the folder that becomes the disk. First there is no room for the database, then for some trials.
SCRIPT = """
mount -t tmpfs -o size=400k none "$1" || exit 77
head -c 380000 /dev/zero > "$1/filler"
"$2" tune --workloads tiny.json --db "$1/tiny.db" --trials 1; echo "tune: $?"
head -c 170000 /dev/zero > "$1/filler"
"$2" tune --workloads tiny.json --db "$1/tiny.db" --trials 200; echo "tune: $?"
"$2" db verify --db "$1/tiny.db"; echo "verify: $?"
rm "$1/filler"
"$2" tune --workloads tiny.json --db "$1/tiny.db" --trials 1; echo "tune: $?"
"""


class FullDiskTest(unittest.TestCase):
    def test_tune_until_the_disk_is_full(self):
        with KilnJob() as job:
            disk = job.folder / "disk"
            disk.mkdir()
            user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
            command = ["unshare", "--mount", *user, "sh", "-c", SCRIPT, "sh", str(disk), str(BINARIES / "kiln")]
            result = subprocess.run(command, cwd=job.folder, env=job.environment, capture_output=True, text=True,
                                    timeout=280, check=False)
            if result.returncode == SKIPPED or "unshare: " in result.stderr:
                self.skipTest(f"a file system cannot be mounted here: {result.stderr}")
            text = result.stdout + result.stderr
            statuses = [line for line in result.stdout.splitlines() if line.startswith(("tune: ", "verify: "))]
            self.assertEqual(statuses, ["tune: 3", "tune: 3", "verify: 0", "tune: 0"], text)
            self.assertIn("make room and run again, all that was recorded before is kept", result.stderr, text)
            self.assertIn("tiny.db: ok", result.stdout, text)
            self.assertEqual(job.processes_after(5), {})
            self.assertEqual(list(pathlib.Path(disk).iterdir()), [], "the disk was the test's own")


if __name__ == "__main__":
    unittest.main()
