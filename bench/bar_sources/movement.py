"""Data movement beside a copy of as many bytes."""

import json

from bar_sources.job import Job, Value


def movement(job: Job) -> dict[str, Value]:
    """Speed of data movement by that of a plain-store copy of as many bytes in the same rounds, in percent."""
    trials = job.trials or 30
    workloads = job.workloads("bars_movement", lambda entry: True)
    db = job.db + ".movement"
    job.run("tune", "--workloads", workloads, "--db", db, "--trials", str(trials))
    report = json.loads(job.run("bench", "--workloads", workloads, "--db", db, "--rounds", "5", "--format", "json"))
    values = {}
    for layer in report["layers"]:
        if not layer["median_us"]:
            values[layer["name"]] = Value(0, "", "", "no time: " + layer["reason"])
            continue
        values[layer["name"]] = Value(
            100 * layer["of_copy"], f"{100 * layer['of_copy_lo']:.0f}..{100 * layer['of_copy_hi']:.0f}",
            f"kiln tune --trials {trials}; kiln bench", f"{layer['median_us']:.1f} us, copy {layer['copy_us']:.1f} us")
    return values
