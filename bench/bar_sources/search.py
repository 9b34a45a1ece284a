"""The search: trials that it needs, winners that two of them agree on, and a job with little time."""

import contextlib
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

from bar_sources.job import ROOT, Job, Value

REPEATED_LAYERS = ("c2_1x1", "c2_3x3", "c4_3x3", "c4_1x1", "g32_28", "dw56x144")


def search(job: Job) -> dict[str, Value]:
    """Trials that random search needs for 95 % of the fastest candidate's speed, by those of the evolutionary one: medians
    over 30 seeds on recorded spaces, without hardware. 3x3 is among the parts of its space that suit the search best."""
    values = {}
    for path in sorted((ROOT / "bench" / "spaces").glob("*.json")):
        answer = job.program("search-trials", str(path))[str(path)]
        random_trials, trials = answer["trials"]["random"], answer["trials"]["evolutionary"]
        fair = answer["valid"] >= 500 and random_trials >= 100
        values[path.stem] = Value(random_trials / trials if fair else 0, "", f"search-trials bench/spaces/{path.name}",
                                  f"{answer['valid']} valid candidates, {trials:g} trials, random {random_trials:g}")
    ratios = {name: value.value for name, value in values.items()}
    told = ", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items())
    values["mean"] = Value(statistics.geometric_mean(ratios.values()) if all(ratios.values()) else 0,
                           f"{min(ratios.values()):.2f}..{max(ratios.values()):.2f}", "search-trials bench/spaces/*.json",
                           f"{told}; chosen to be hard for random draws, 3x3 also among those that suit the search best")  # fmt: skip
    return values


class Hog:
    """A busy neighbour on the other core: works and rests for random seconds, in a process that ends with this one."""

    PROGRAM = """
import os, random, sys, time
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
draw, parent = random.Random(int(sys.argv[1])), os.getppid()
end = time.monotonic() + float(sys.argv[2])
while time.monotonic() < end and os.getppid() == parent:
    busy = time.monotonic() + draw.uniform(0.5, 5)
    while time.monotonic() < busy:
        sum(range(10000))
    time.sleep(draw.uniform(0.5, 5))
"""

    def __init__(self, seed: int, most_seconds: float):
        self.arguments = [sys.executable, "-c", self.PROGRAM, str(seed), str(most_seconds)]

    def __enter__(self):
        self.process = subprocess.Popen(self.arguments)

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def two_tunes(job: Job, hog: contextlib.AbstractContextManager, kind: str) -> dict[str, Value]:
    """How many of six layers have winners that differ by at most 4 %, between two tunes with different seeds."""
    trials = job.trials or 100
    workloads = job.workloads("bars_forward", lambda entry: entry["name"] in REPEATED_LAYERS)
    databases = [f"{job.db}.{kind}{seed}" for seed in (1, 2)]
    with hog:
        for seed, db in enumerate(databases, 1):
            job.run("tune", "--workloads", workloads, "--db", db, "--trials", str(trials), "--seed", str(seed))
    races = job.program("race-winners", *databases, workloads)
    off = {name: max(race["ratio"], 1 / race["ratio"]) - 1 for name, race in races.items()}
    return {"close": Value(sum(difference <= 0.04 for difference in off.values()), "",
                           f"kiln tune --trials {trials} --seed 1|2; race-winners",
                           ", ".join(f"{name} {100 * difference:.1f} %" for name, difference in off.items()))}


def repeated(job: Job) -> dict[str, Value]:
    return two_tunes(job, contextlib.nullcontext(), "seed")


def repeated_beside_a_hog(job: Job) -> dict[str, Value]:
    return two_tunes(job, Hog(job.seed, 3 * 3600), "hog")


def limited_time(job: Job) -> dict[str, Value]:
    """resnet50 in 20 minutes: every layer has a valid trial, the time is kept, and going on gains little.

    A job ends before its time where nothing improves, so the longer run is one with a number of trials."""
    minutes = 20
    trials = str(job.trials or 100)
    workloads = str(ROOT / "workloads" / "resnet50.json")
    short, long = job.db + ".20m", job.db + ".longer"
    for path in (short, long):
        pathlib.Path(path).unlink(missing_ok=True)
    start = time.monotonic()
    job.run("tune", "--workloads", workloads, "--db", short, "--time", f"{minutes}m")
    spent = (time.monotonic() - start) / 60
    command = f"kiln tune --workloads workloads/resnet50.json --time {minutes}m"
    without = json.loads(job.run("query", "sql", "SELECT count(DISTINCT workload_id) AS layers, (SELECT count(DISTINCT "
                                 "workload_id) FROM trial WHERE status = 'ok') AS valid FROM workload_name", "--db", short,
                                 "--format", "json"))[0]
    shutil.copyfile(short, long)
    job.run("tune", "--workloads", workloads, "--db", long, "--trials", trials, "--seed", str(job.seed + 1))
    races = job.program("race-winners", short, long, workloads)
    slower = statistics.geometric_mean(race["ratio"] for race in races.values())
    return {"valid": Value(100 * without["valid"] / without["layers"], "", command, f"{without['layers']} layers"),
            "time": Value(100 * minutes / spent, "", command, f"took {spent:.1f} minutes"),
            "speed": Value(100 / slower, "", command + f"; the same with --trials {trials}; race-winners", f"{len(races)} layers")}
