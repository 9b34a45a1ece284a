"""Winograd: speed by the FMA peak, and two threads beside one."""

import json
import statistics

from bar_sources.job import Job, Value

LAYERS = ("c2_3x3", "c3_3x3", "c4_3x3", "c5_3x3", "vgg224", "vgg112", "vgg56", "vgg28")


def winograd(job: Job) -> dict[str, Value]:
    """Direct-equivalent GFLOP/s by the FMA peak, with all algorithms searched together, and two threads by one."""
    trials = job.trials or 150
    workloads = job.workloads("bars_forward", lambda entry: entry["name"] in LAYERS)
    db = job.db + ".winograd"  # where direct convolution alone is measured, its rows must be the best ones
    job.run("tune", "--workloads", workloads, "--db", db, "--trials", str(trials))
    report = json.loads(job.run("bench", "--workloads", workloads, "--db", db, "--rounds", "5", "--format", "json"))
    values = {}
    for layer in report["layers"]:
        if not layer["median_us"]:
            values[layer["name"]] = Value(0, "", "", "no time: " + layer["reason"])
            continue
        multiples = [layer["gflops"] * layer["median_us"] / us / report["peak_gflops"]
                     for us in layer["round_medians_us"]]
        values[layer["name"]] = Value(
            layer["gflops"] / report["peak_gflops"], f"{min(multiples):.2f}..{max(multiples):.2f}",
            f"kiln tune --trials {trials}; kiln bench", f"{layer['algorithm']}, {layer['median_us']:.0f} us")
    return values


def winograd_threads(job: Job) -> dict[str, Value]:
    """One thread's median by two threads', each tuned for its count, on the VGG layers."""
    trials = job.trials or 40
    workloads = job.workloads("bars_forward", lambda entry: entry["name"].startswith("vgg"))
    db = job.db + ".threads"  # of its own: as many trials for one thread as for two
    only = ["--algorithm", "winograd*"]
    for threads in ("1", "2"):
        job.run("tune", "--workloads", workloads, "--db", db, "--trials", str(trials), "--threads", threads, *only)
    rounds = []
    for _ in range(3):  # in turns: a slow phase meets both
        medians = {}
        for threads in ("1", "2"):
            report = json.loads(job.run("bench", "--workloads", workloads, "--db", db, "--threads", threads,
                                        "--rounds", "3", "--format", "json", *only))
            medians[threads] = {layer["name"]: layer["median_us"] for layer in report["layers"]}
        missing = [name for times in medians.values() for name, time in times.items() if not time]
        if missing:
            return {"worst": Value(0, "", "", "no time: " + ", ".join(missing))}
        rounds.append({name: time / medians["2"][name] for name, time in medians["1"].items()})
    ratios = {name: statistics.median(each[name] for each in rounds) for name in rounds[0]}
    worst = min(ratios, key=ratios.get)
    spread = [each[worst] for each in rounds]
    return {"worst": Value(ratios[worst], f"{min(spread):.2f}..{max(spread):.2f}",
                           f"kiln tune --threads 1|2 --trials {trials} --algorithm 'winograd*'; kiln bench",
                           ", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items()))}
