"""The house: a first hour and CI in a fresh clone, and whether a change kept the speed of kernels."""

import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

from bar_sources.job import ROOT, CommandFailed, Job, Value

LISTS = ("bars_forward", "bars_gradient", "bars_movement")


def minutes_in_a_clone(job: Job, script: str) -> float:
    """How long a script takes in a fresh clone of what is committed, with packages of the system, without a compiler cache."""
    clone = job.folder / ("clone-" + script.strip("./").replace("/", "-"))
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    print(f"$ cd {clone} && CCACHE_DISABLE=1 {script}", file=sys.stderr, flush=True)
    start = time.monotonic()
    done = subprocess.run([script], cwd=clone, stdin=subprocess.DEVNULL, stdout=sys.stderr,
                          env={**os.environ, "CCACHE_DISABLE": "1"})  # fmt: skip
    spent = (time.monotonic() - start) / 60
    shutil.rmtree(clone)
    if done.returncode != 0:
        raise CommandFailed(f"exit status {done.returncode}: {script} in a fresh clone")
    return spent


def quickstart(job: Job) -> dict[str, Value]:
    spent = minutes_in_a_clone(job, "./quickstart")
    return {"time": Value(6 / spent, "", "", f"{spent:.1f} minutes")}


def ci(job: Job) -> dict[str, Value]:
    spent = minutes_in_a_clone(job, ".ci/run")
    return {"time": Value(18 / spent, "", "", f"{spent:.1f} minutes")}


def speed_kept(job: Job) -> dict[str, Value]:
    """Speed of the default and the tuned kernels by that of a build of before, whose objects differ; in percent.

    Needs --before FOLDER, the build/bin of that build."""
    if not job.before:
        raise CommandFailed("speed-kept needs --before DIR, the folder with the executables of the build of before")
    trials = job.trials or 40
    lists = [str(ROOT / "workloads" / f"{name}.json") for name in LISTS]
    db = job.db + ".before"
    job.run("tune", "--workloads", *lists, "--db", db, "--trials", str(trials))
    generators = [str(pathlib.Path(folder) / "kiln-generator") for folder in (job.before, pathlib.Path(job.kiln).parent)]
    layers = job.program("race-generators", *generators, db, "0", *lists)
    kernels = [(f"{layer} {kernel['what']}", kernel) for layer, rows in layers.items() for kernel in rows]
    problems = [f"{name}: {kernel['problem']}" for name, kernel in kernels if "problem" in kernel]
    if problems:
        failed = Value(0, "", "", "; ".join(problems))
        return {"mean": failed, "worst": failed}
    speeds = {name: 100 / kernel.get("ratio", 1.0) for name, kernel in kernels}  # equal objects have equal speed
    worst = min(speeds, key=speeds.get)
    differing = [kernel for _, kernel in kernels if not kernel["same"]]
    note = f"{len(kernels)} kernels, {len(differing)} of them with other objects; slowest {worst}"
    slowest = dict(kernels)[worst]
    spread = f"{100 / slowest['ratio_hi']:.1f}..{100 / slowest['ratio_lo']:.1f}" if "ratio" in slowest else ""
    return {"mean": Value(statistics.geometric_mean(speeds.values()), "", "", note),
            "worst": Value(speeds[worst], spread, "", note)}
