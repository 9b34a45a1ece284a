"""Layers whose data lies beyond the L2 cache: whether a neighbour in the shared cache and memory changes what tuning finds."""

import json
import os
import pathlib
import subprocess

from bar_sources.job import Job, Value

# name, input, kernel, stride; depthwise where the kernel has one input channel. 2 to 19 MB each.
LAYERS = (
    ("dw5s2_128x144", (1, 128, 128, 144), (5, 5, 1, 144), 2),
    ("dw3s2_256x96", (1, 256, 256, 96), (3, 3, 1, 96), 2),
    ("dw3_128x144", (1, 128, 128, 144), (3, 3, 1, 144), 1),
    ("dw5_64x240", (1, 64, 64, 240), (5, 5, 1, 240), 1),
    ("dw3_112x64", (1, 112, 112, 64), (3, 3, 1, 64), 1),
    ("1x1_128_144to24", (1, 128, 128, 144), (1, 1, 144, 24), 1),
    ("1x1_128_96to24", (1, 128, 128, 96), (1, 1, 96, 24), 1),
    ("1x1_128_24to144", (1, 128, 128, 24), (1, 1, 24, 144), 1),
    ("1x1_56_64to256", (1, 56, 56, 64), (1, 1, 64, 256), 1),
    ("3x3_112_32to64", (1, 112, 112, 32), (3, 3, 32, 64), 1),
)
MOST_SECONDS = 3 * 3600  # of a neighbour, which ends with this process, too


def entry(name: str, image: tuple, kernel: tuple, stride: int) -> dict:
    def padding(size: int, taps: int) -> list[int]:
        total = max(0, (-(-size // stride) - 1) * stride + taps - size)
        return [total // 2, total - total // 2]

    depthwise = kernel[2] == 1
    return {"name": name, "op": "conv2d", "input": image, "kernel": kernel, "strides": [stride, stride],
            "padding": [padding(image[1], kernel[0]), padding(image[2], kernel[1])],
            "feature_group_count": image[3] if depthwise else 1}


class Neighbour:
    """Streams through memory on the first core for random stretches of up to 20 seconds."""

    def __init__(self, job: Job, seed: int):
        program = pathlib.Path(job.kiln).parent / "neighbour"
        self.arguments = [str(program), str(min(os.sched_getaffinity(0))), str(MOST_SECONDS), str(seed)]

    def __enter__(self):
        self.process = subprocess.Popen(self.arguments)

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def made_again(job: Job, db: str) -> tuple[int, int, list[str]]:
    """Recorded times that are made again: the winners', and two more a layer. Answers how many, of how many `repro` judges whether
    they agree, and which it contradicts."""
    trials = json.loads(job.run("query", "sql", "SELECT trial, name FROM best UNION SELECT trial, name FROM (SELECT trial, name, "
                                "row_number() OVER (PARTITION BY workload ORDER BY trial) AS nth FROM trials WHERE status = 'ok') "
                                "WHERE nth <= 2", "--db", db, "--format", "json"))
    judged, wrong = 0, []
    for trial in trials:
        facts = json.loads(job.run("repro", trial["trial"], "--db", db, "--format", "json"))
        for fact in facts:
            if fact["fact"] != "median" or not fact["agrees"]:
                continue  # it has no time now, or too much else went on to tell
            judged += 1
            if fact["agrees"] == "no":
                wrong.append(f"{trial['name']} {fact['recorded']} then, {fact['now']} now")
    return len(trials), judged, wrong


def beside_a_neighbour(job: Job) -> dict[str, Value]:
    """Of ten layers, how many have winners within 5 % of each other after two tunes beside a neighbour; and of the recorded times
    that `repro`, beside the neighbour too, judges, the share that it does not contradict."""
    trials = job.trials or 40
    workloads = job.list_of("beyond_l2", [entry(*layer) for layer in LAYERS])
    databases = [f"{job.db}.memory{seed}" for seed in (1, 2)]
    command = f"kiln tune --trials {trials} --seed 1|2; race-winners; kiln repro"
    made, judged, wrong = 0, 0, []
    for seed, db in enumerate(databases, job.seed):
        with Neighbour(job, seed):
            job.run("tune", "--workloads", workloads, "--db", db, "--trials", str(trials), "--seed", str(seed))
            of_db = made_again(job, db)
            made, judged, wrong = made + of_db[0], judged + of_db[1], wrong + of_db[2]
    races = job.program("race-winners", *databases, workloads)
    off = {name: max(race["ratio"], 1 / race["ratio"]) - 1 for name, race in races.items()}
    return {"close": Value(sum(difference <= 0.05 for difference in off.values()), "", command,
                           ", ".join(f"{name} {100 * difference:.1f} %" for name, difference in off.items())),
            "held": Value(100 * (1 - len(wrong) / judged) if judged else None, "", command,
                          f"{made} times: {judged} judged, {len(wrong)} of them contradicted, {made - judged} undecided" +
                          "".join("; " + w for w in wrong))}  # fmt: skip
