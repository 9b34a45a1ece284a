"""Gradients beside oneDNN; f16 and bf16 beside f32."""

import json

from bar_sources.job import ROOT, Job, Value
from bar_sources.reports import peer_ratios


def bars_gradient(job: Job) -> dict[str, Value]:
    """One value for each layer of workloads/bars_gradient.json, all algorithms searched together, beside oneDNN."""
    trials = job.trials or 100
    workloads = job.workloads("bars_gradient", lambda entry: True)
    db = job.db + ".gradients"  # trials of all algorithms
    job.run("tune", "--workloads", workloads, "--db", db, "--trials", str(trials))
    report = json.loads(job.run("bench", "--workloads", workloads, "--db", db, "--against", "onednn", "--format", "json"))
    values = peer_ratios(report)
    for layer in report["layers"]:
        value = values[layer["name"]]
        value.command = f"kiln tune --trials {trials}; kiln bench --against onednn"
        value.note += f"; {layer['algorithm']}, {layer['gflops'] or 0:.0f} GFLOP/s"
    return values


def half_types(job: Job) -> dict[str, Value]:
    """The f32 kernel's median by that of f16 and of bf16, the slowest of the 1x1 and 3x3 layers, each tuned."""
    trials = job.trials or 40
    wanted = ("c2_3x3", "c3_3x3", "c4_3x3", "c5_3x3", "c2_1x1", "c4_1x1")
    forward = json.loads((ROOT / "workloads" / "bars_forward.json").read_text())["workloads"]
    entries = [{**entry, "name": f"{entry['name']}/{dtype}", "dtype": dtype}
               for entry in forward if entry["name"] in wanted for dtype in ("f32", "f16", "bf16")]
    workloads = job.list_of("half_types", entries)
    only = ["--algorithm", "direct"]
    job.run("tune", "--workloads", workloads, "--db", job.db, "--trials", str(trials), *only)
    report = json.loads(job.run("bench", "--workloads", workloads, "--db", job.db, "--rounds", "5", "--format", "json",
                                *only))
    us = {layer["name"]: layer["median_us"] for layer in report["layers"]}
    values = {}
    for dtype in ("f16", "bf16"):
        ratios = {name: us[f"{name}/f32"] / us[f"{name}/{dtype}"] if us[f"{name}/{dtype}"] else 0 for name in wanted}
        worst = min(ratios, key=ratios.get)
        values[dtype] = Value(ratios[worst], f"{min(ratios.values()):.2f}..{max(ratios.values()):.2f}",
                              f"kiln tune --trials {trials} --algorithm direct; kiln bench",
                              ", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items()))
    return values
