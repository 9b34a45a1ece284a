"""Quantized convolutions: layers of ResNet-50 and MobileNet v1 beside other libraries, and beside the peak of small integers."""

import json
import statistics

from bar_sources.job import ROOT, Job, Value
from bar_sources.reports import fastest_ratios, times_of

PEERS = "onednn,onnxruntime,openvino,litert"


def is_depthwise(entry: dict) -> bool:
    return entry.get("feature_group_count", 1) > 1


def is_first(entry: dict) -> bool:
    return entry["kernel"][2] == 3


def spread_of(values: dict[str, float], digits: int) -> str:
    return f"{min(values.values()):.{digits}f}..{max(values.values()):.{digits}f}"


def worst_of(values: dict[str, float], digits: int) -> str:
    return "worst: " + ", ".join(f"{name} {values[name]:.{digits}f}" for name in sorted(values, key=values.get)[:5])


def layers(job: Job) -> dict[str, Value]:
    """The fastest peer's median by ours: of all layers together, the slowest, and of depthwise layers together. Shares of the least of
    peak and roofline: dense layers but the first, of which the smallest counts."""
    path = str(ROOT / "workloads" / "bars_int8.json")
    entries = {entry["name"]: entry for entry in json.loads((ROOT / "workloads" / "bars_int8.json").read_text())["workloads"]}
    trials = 20 if job.trials is None else job.trials
    arguments = ["--workloads", path, "--against", PEERS, "--format", "json"]
    if trials:
        job.run("tune", "--workloads", path, "--db", job.db, "--trials", str(trials))
        arguments += ["--db", job.db]
    report = json.loads(job.run("bench", *arguments))
    used = f"kiln tune --trials {trials}; kiln bench --against ..." if trials else "kiln bench --against ..."
    ratios = fastest_ratios(report)
    depthwise = {name: ratio for name, ratio in ratios.items() if is_depthwise(entries[name])}
    shares = {layer["name"]: 100 * (layer["gflops"] or 0) / layer["roofline_gflops"] for layer in report["layers"]
              if not is_depthwise(entries[layer["name"]]) and not is_first(entries[layer["name"]])}  # fmt: skip
    mean = statistics.geometric_mean
    timed = times_of(report["layers"])
    return {"mean": Value(mean(ratios.values()), spread_of(ratios, 2), used, timed),
            "slowest": Value(min(ratios.values()), spread_of(ratios, 2), used, f"{worst_of(ratios, 2)}; {timed}"),
            "depthwise": Value(mean(depthwise.values()), spread_of(depthwise, 2), used, f"{worst_of(depthwise, 2)}; {timed}"),
            "share": Value(min(shares.values()), spread_of(shares, 0), used, worst_of(shares, 0))}
