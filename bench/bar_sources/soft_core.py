"""Kernels for a soft core, tuned in simulation: their cycles on the Verilog of VexRiscv, all of them and within memories."""

import json
import pathlib
import shlex
import subprocess
import sys

from bar_sources.job import ROOT, CommandFailed, Job, Value

# Of all layers, on the Verilog.
CYCLES = {"person_detect": 26.0e6, "ds_cnn_kws": 9.5e6}
# Of person_detect: cycles by the bytes of code and constants.
WITHIN = {"31k": 29.0e6, "12k": 40.0e6}
TRIALS = 60


def workloads(name: str) -> str:
    return str(ROOT / "workloads" / f"{name}.json")


IS_ON_RTL = (ROOT / ".rtl" / "vexriscv").exists()
WHERE = "on the Verilog" if IS_ON_RTL else "in simulation, as bench/rtl/setup was not run"


def tuned(job: Job, name: str) -> None:
    job.run("tune", "--workloads", workloads(name), "--target", "rv32im", "--db", job.db, "--trials", str(job.trials or TRIALS))


def counted(job: Job, script: str, name: str, *options: str):
    """What a script of bench/rtl counts."""
    command = [sys.executable, str(ROOT / "bench/rtl" / script), "--workloads", workloads(name), "--db", job.db,
               "--build", str(pathlib.Path(job.kiln).resolve().parent.parent), "--format", "json", *options]  # fmt: skip
    print("$ " + shlex.join(command), file=sys.stderr, flush=True)
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    # 1 with an answer: the simulator's cycles of a layer differ from those of the Verilog, which count here.
    if done.returncode not in (0, 1) or not done.stdout:
        raise CommandFailed(f"exit status {done.returncode}: {shlex.join(command)}")
    return json.loads(done.stdout)


def command(job: Job, count: str) -> str:
    return f"kiln tune --target rv32im --trials {job.trials or TRIALS}; {count}"


def least(layers: list[dict], count: str, used: str) -> Value:
    """How many times as much CMSIS-NN counts, on the layer where that is least."""
    ratio, name = min((layer["counts"]["cmsis-nn"][count] / layer["counts"]["kiln"][count], layer["name"]) for layer in layers)
    return Value(ratio, "exact", used, f"least on {name}; kiln {WHERE}, CMSIS-NN as recorded on the Verilog")


def network(job: Job, name: str) -> dict[str, Value]:
    tuned(job, name)
    options = ["--rtl"] if IS_ON_RTL else []
    (counts,) = counted(job, "beside.py", name, *options)
    used = command(job, " ".join(["bench/rtl/beside.py", *options]))
    cycles = counts["sums"]["kiln"]["cycles"]
    return {
        "cycles": Value(CYCLES[name] / cycles, "exact", used, f"{cycles / 1e6:.2f} million cycles {WHERE}"),
        "cmsis_cycles": least(counts["layers"], "cycles", used),
        "cmsis_misses": least(counts["layers"], "load_misses", used),
    }


def person_detect(job: Job) -> dict[str, Value]:
    return network(job, "person_detect")


def keywords(job: Job) -> dict[str, Value]:
    return network(job, "ds_cnn_kws")


def within(job: Job) -> dict[str, Value]:
    tuned(job, "person_detect")
    if not IS_ON_RTL:
        return within_in_simulation(job)
    values = {}
    for limit, most in WITHIN.items():
        counts = counted(job, "compare.py", "person_detect", "--max-text", limit)
        cycles = counts["sums"]["rtl"]
        note = f"{cycles / 1e6:.2f} million cycles {WHERE}, {counts['code_bytes']} bytes"
        values[limit] = Value(most / cycles, "exact", command(job, f"bench/rtl/compare.py --max-text {limit}"), note)
    return values


def within_in_simulation(job: Job) -> dict[str, Value]:
    choices = json.loads(job.run("query", "pareto", "--db", job.db, "--filter", "person_detect/*", "--format", "json"))
    values, used = {}, command(job, "kiln query pareto")
    for limit, cycles in WITHIN.items():
        fitting = [c for c in choices if c["text_bytes"] <= int(limit[:-1]) * 1024]
        if fitting:
            best = min(c["cycles"] for c in fitting)
            values[limit] = Value(cycles / best, "exact", used, f"{best / 1e6:.2f} million cycles {WHERE}")
        else:
            fewest = min(c["text_bytes"] for c in choices)
            values[limit] = Value(0, "exact", used, f"no kernels need less than {fewest} bytes; {WHERE}")
    return values
