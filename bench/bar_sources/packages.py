"""Packages: kernels as a program calls them, lookups, time and size of a build."""

import statistics
import time

from bar_sources.job import ROOT, Job, Value


def shipped(job: Job) -> dict[str, Value]:
    """Of every layer of bars_forward the package's kernel against the runner's: the slowest layer, in percent."""
    trials = job.trials or 20
    workloads = str(ROOT / "workloads" / "bars_forward.json")
    db = job.db + ".shipped"
    dist = job.folder / "dist"
    job.run("tune", "--workloads", workloads, "--db", db, "--trials", str(trials))
    job.run("build", "--workloads", workloads, "--db", db, "--name", "shipped", "-o", str(dist))
    values = {}
    for threads in (1, 2):
        for cache in ("warm", "cold"):
            races = job.program("race-package", str(dist / "lib/libshipped.so"), str(threads), cache)
            name, worst = max(races.items(), key=lambda race: race[1]["ratio"])
            mean = statistics.geometric_mean(race["ratio"] for race in races.values())
            values[f"{threads}-{cache}"] = Value(
                100 / worst["ratio"], f"{100 / worst['ratio_hi']:.1f}..{100 / worst['ratio_lo']:.1f}",
                f"kiln tune --trials {trials}; kiln build; race-package", f"{len(races)} layers, {name} the slowest, "
                f"geometric mean {100 / mean:.1f}")
    return values


def calling(job: Job) -> dict[str, Value]:
    """What a lookup among 1,000 kernels takes, and a call through the interface more than a direct one."""
    times = job.program("package-lookup", "1000")
    note = ", ".join(f"{name.removesuffix('_ns')} {ns:.0f} ns" for name, ns in times.items() if name.endswith("_ns"))
    return {"find": Value(200 / times["find_ns"], "", "package-lookup 1000", note),
            "call": Value(100 / (times["find_and_run_ns"] - times["direct_ns"]), "", "package-lookup 1000", note)}


def package_of_resnet50(job: Job) -> dict[str, Value]:
    """Time and size of a package of all layers of ResNet-50 for one target, untuned: every kernel is also checked."""
    dist = job.folder / "resnet50"
    workloads = str(ROOT / "workloads" / "resnet50.json")
    start = time.monotonic()
    job.run("build", "--workloads", workloads, "--name", "resnet50", "-o", str(dist))
    spent = time.monotonic() - start
    size = (dist / "lib/libresnet50.a").stat().st_size / 1e6
    return {"time": Value(180 / spent, "", "kiln build --workloads workloads/resnet50.json", f"{spent:.0f} s"),
            "size": Value(8 / size, "", "kiln build --workloads workloads/resnet50.json", f"{size:.2f} MB")}
