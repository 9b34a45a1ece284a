"""Kernels for a soft core, tuned in simulation: their cycles on the Verilog of VexRiscv, and within memories."""

import json
import pathlib
import subprocess
import sys

from bar_sources.job import ROOT, CommandFailed, Job, Value

# Of all layers, on the Verilog.
CYCLES = {"person_detect": 26.0e6, "ds_cnn_kws": 9.5e6}
# Of person_detect, in simulation: cycles by the bytes of code and constants.
WITHIN = {"31k": 29.0e6, "12k": 40.0e6}
TRIALS = 60


def workloads(name: str) -> str:
    return str(ROOT / "workloads" / f"{name}.json")


def tuned(job: Job, name: str) -> None:
    job.run("tune", "--workloads", workloads(name), "--target", "rv32im", "--db", job.db, "--trials", str(job.trials or TRIALS))


def beside(job: Job, name: str) -> dict:
    """What bench/rtl/beside.py counts, on the Verilog where it is there."""
    rtl = ["--rtl"] if (ROOT / ".rtl" / "vexriscv").exists() else []
    command = [sys.executable, str(ROOT / "bench/rtl/beside.py"), "--workloads", workloads(name), "--db", job.db,
               "--build", str(pathlib.Path(job.kiln).resolve().parent.parent), "--format", "json", *rtl]  # fmt: skip
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise CommandFailed(f"exit status {done.returncode}: {' '.join(command)}")
    return json.loads(done.stdout)[0]


def least(layers: list[dict], who: str, count: str) -> Value:
    """How many times as much another one counts, on the layer where that is least."""
    ratio, name = min((layer["counts"][who][count] / layer["counts"]["kiln"][count], layer["name"]) for layer in layers)
    return Value(ratio, "exact", "", f"least on {name}")


def network(job: Job, name: str) -> dict[str, Value]:
    tuned(job, name)
    counted = beside(job, name)
    cycles = counted["sums"]["kiln"]["cycles"]
    where = "on the Verilog" if (ROOT / ".rtl" / "vexriscv").exists() else "in simulation: bench/rtl/setup was not run"
    return {
        "cycles": Value(CYCLES[name] / cycles, "exact", "", f"{cycles / 1e6:.2f} million cycles {where}"),
        "cmsis_cycles": least(counted["layers"], "cmsis-nn", "cycles"),
        "cmsis_misses": least(counted["layers"], "cmsis-nn", "load_misses"),
    }


def person_detect(job: Job) -> dict[str, Value]:
    return network(job, "person_detect")


def keywords(job: Job) -> dict[str, Value]:
    return network(job, "ds_cnn_kws")


def within(job: Job) -> dict[str, Value]:
    tuned(job, "person_detect")
    choices = json.loads(job.run("query", "pareto", "--db", job.db, "--filter", "person_detect/*", "--format", "json"))
    values = {}
    for limit, cycles in WITHIN.items():
        fitting = [c for c in choices if c["text_bytes"] <= int(limit[:-1]) * 1024]
        if fitting:
            best = min(c["cycles"] for c in fitting)
            values[limit] = Value(cycles / best, "exact", "", f"{best / 1e6:.2f} million cycles")
        else:
            values[limit] = Value(0, "exact", "", f"no kernels need less than {min(c['text_bytes'] for c in choices)} bytes")
    return values
