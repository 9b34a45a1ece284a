"""Where kiln runs: folders of temporary files, a working folder that is gone, PATH, HOME, the environment."""

import json
import os
import pathlib
import re
import resource
import subprocess
import unittest

from kiln_job import BINARIES, ONE_LAYER, KilnJob

KILN = str(BINARIES / "kiln")

# Seconds until a command hangs for certain: it may wait for what others measure on this machine.
PATIENCE = 900


def run(job, *arguments, cwd=None, **environment):
    """`kiln ARGUMENTS` with some variables changed; None removes one."""
    variables = {**job.environment, **environment}
    variables = {name: value for name, value in variables.items() if value is not None}
    return subprocess.run([KILN, *map(str, arguments)], cwd=cwd or job.folder, env=variables, timeout=PATIENCE,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


class TemporaryFolders(unittest.TestCase):
    def test_folders_of_the_user_that_look_like_ours_stay(self):
        with KilnJob(ONE_LAYER) as job:
            for name in ("kiln-work-abc123", "kiln-work-results", "kiln-work-"):
                (job.temporary / name).mkdir(mode=0o700)
                (job.temporary / name / "thesis.txt").write_text("years of work")
            job.run(*job.tune_arguments(1))
            left = sorted(path.name for path in job.temporary.rglob("*"))
            self.assertEqual(left, ["kiln-work-", "kiln-work-abc123", "kiln-work-results"] + 3 * ["thesis.txt"])

    def test_other_places_for_temporary_files(self):
        with KilnJob(ONE_LAYER) as job:
            (job.folder / "with a blank").mkdir()
            os.chmod(job.folder / "with a blank", 0o1777)
            (job.folder / "file").write_text("")
            cases = {"/proc/nowhere": 3, "file": 3, "with a blank": 0, str(job.folder / "with a blank"): 0, "": 0}
            for number, (place, status) in enumerate(cases.items()):
                result = run(job, *job.tune_arguments(number + 1), TMPDIR=place)
                self.assertEqual(result.returncode, status, f"{place}: {result.stderr}")
                if status:
                    self.assertIn(place, result.stderr)
                    self.assertIn("TMPDIR", result.stderr)
            self.assertEqual(list((job.folder / "with a blank").iterdir()), [])

    def test_temporary_folders_that_everybody_may_change(self):
        with KilnJob(ONE_LAYER) as job:
            place = job.folder / "open"
            (place / "own").mkdir(parents=True)
            for mode, status in ((0o777, 3), (0o1777, 0)):
                place.chmod(mode)
                for folder in (place, place / "own"):
                    result = run(job, *job.tune_arguments(1), TMPDIR=str(folder))
                    self.assertEqual(result.returncode, status, result.stderr)
                    if status:
                        self.assertIn(f"{place}: everybody may remove and exchange files there", result.stderr)
                        self.assertIn("TMPDIR", result.stderr)
                        self.assertEqual(list(folder.glob("kiln-*")), [])


class SuggestedCommands(unittest.TestCase):
    def test_run_as_they_are_printed(self):
        with KilnJob(ONE_LAYER) as job:
            job.workloads = job.workloads.rename(job.folder / "it's $(touch taken); *.json")
            job.database = job.folder / "a\n\\n'b'.db"
            result = run(job, *job.tune_arguments(1))
            self.assertEqual(result.returncode, 0, result.stderr)
            [line] = [line for line in result.stderr.splitlines() if line.startswith("Next: ")]
            for command in re.findall("`(kiln .*?)`", line):
                words = f'"$0" {command.removeprefix("kiln ").replace("-o DIR", "-o dist")}'
                done = subprocess.run(["bash", "-c", words, KILN], cwd=job.folder, env=job.environment, timeout=PATIENCE,
                                      capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, f"{command}: {done.stderr}")
            self.assertTrue((job.folder / "dist").exists())
            self.assertFalse((job.folder / "taken").exists())

    def test_choose_among_the_same_trials(self):
        with KilnJob() as job:
            options = ["--target", "baseline", "--threads", "2", "--algorithm", "direct", "--max-error", "0.0001",
                       "--cache", "cold", "--filter", "*/pointwise"]  # fmt: skip
            result = run(job, *job.tune_arguments(1), *options)
            self.assertEqual(result.returncode, 0, result.stderr)
            [line] = [line for line in result.stderr.splitlines() if line.startswith("Next: ")]
            command = re.findall("`kiln (build .*?)`", line)[0].replace("-o DIR", "-o dist")
            for option in ("--target baseline", "--threads 2", "--algorithm direct", "--max-error 0.0001", "--filter '*/pointwise'"):
                self.assertIn(option, command)
            done = subprocess.run(["bash", "-c", f'"$0" {command}', KILN], cwd=job.folder, env=job.environment,
                                  timeout=PATIENCE, capture_output=True, text=True, check=False)  # fmt: skip
            self.assertEqual(done.returncode, 0, done.stderr)
            manifest = json.loads(next((job.folder / "dist").rglob("manifest.json")).read_text())
            self.assertEqual([kernel["trial"] is None for kernel in manifest["kernels"]], [False])


class WorkingFolders(unittest.TestCase):
    def test_one_that_is_gone(self):
        with KilnJob(ONE_LAYER) as job:
            script = 'mkdir gone && cd gone && rmdir ../gone && exec "$0" "$@"'
            for arguments, status in ((job.tune_arguments(1), 0), (["query", "best", "--db", "tiny.db"], 2)):
                result = subprocess.run(["sh", "-c", script, KILN, *map(str, arguments)], cwd=job.folder,
                                        env=job.environment, capture_output=True, text=True, timeout=PATIENCE, check=False)
                self.assertEqual(result.returncode, status, result.stderr)
            self.assertEqual(job.trials_per_workload(), [1])


class Environment(unittest.TestCase):
    def test_no_program_of_the_current_folder_runs(self):
        with KilnJob(ONE_LAYER) as job:
            for name in ("ld", "kiln-generator", "kiln-runner", "sh", "c++"):
                (job.folder / name).write_text(f"#!/bin/sh\ntouch '{job.folder}/taken'\nexit 1\n")
                os.chmod(job.folder / name, 0o755)
            for path in (".:" + os.environ["PATH"], ":" + os.environ["PATH"], "./:" + os.environ["PATH"]):
                result = run(job, *job.tune_arguments(1), PATH=path)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertFalse((job.folder / "taken").exists(), path)
            result = run(job, *job.tune_arguments(1), PATH=".")
            self.assertEqual(result.returncode, 3, result.stderr)
            self.assertIn("binutils", result.stderr)
            self.assertFalse((job.folder / "taken").exists())

    def test_variables_that_change_compilers(self):
        """Kernels are the same whatever Halide, LLVM and ld would read from the environment."""
        with KilnJob(ONE_LAYER) as job:
            job.run(*job.tune_arguments(1))
            before = job.query("SELECT workload, object_hash FROM trials ORDER BY workload")
            job.database.unlink()
            result = run(job, *job.tune_arguments(1), HL_LLVM_ARGS="-no-such-option", HL_DEBUG_CODEGEN="1",
                         LDEMULATION="elf_i386", LC_ALL="de_DE.UTF-8")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(job.query("SELECT workload, object_hash FROM trials ORDER BY workload"), before)

    def test_without_a_home(self):
        for home in (None, "", "/proc/nowhere", "/dev/null", "relative"):
            with self.subTest(home), KilnJob(ONE_LAYER) as job:
                result = run(job, *job.tune_arguments(1), HOME=home, XDG_CACHE_HOME=None)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertFalse((job.folder / "relative").exists())

    def test_with_an_empty_environment(self):
        with KilnJob(ONE_LAYER) as job:
            marker = dict([job.marker.split("=")])
            result = subprocess.run([KILN, *map(str, job.tune_arguments(1))], cwd=job.folder, env=marker, timeout=PATIENCE,
                                    stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertFalse(pathlib.Path(job.folder, "core").exists())


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    unittest.main()
