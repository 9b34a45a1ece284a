#!/usr/bin/env python3
"""Cycles of kiln's model of a core beside those of the hardware description, layer by layer.

usage: bench/rtl/compare.py --workloads LIST.json [--db kiln.db] [--filter GLOB] [--max-text B] [--format json] [--build build]

Builds a package for rv32im, makes a program of each layer, and runs it in kiln-simulate and on VexRiscv (bench/rtl/setup makes that).
Both start from the same bytes, and their results are compared. Exit status 1: a layer differs by more than 10 %.
"""

import argparse
import json
import pathlib
import sys
import tempfile

from layer_programs import ROOT, built_package, code_bytes, needs_rtl, on_rtl, program_of, simulated

LIMIT = 0.10


def measured(kernel, package, folder, build):
    """Counts in simulation and on the Verilog."""
    program = program_of(kernel, package, folder)
    model, status = simulated(program, build, folder)
    real, result = on_rtl(program)
    if result != status:
        sys.exit(f"compare.py: {kernel['name']}: the core computes something else than the simulator")
    if abs(model["instructions"] - real["instructions"]) > 2:  # the marks themselves
        sys.exit(f"compare.py: {kernel['name']}: {real['instructions']} instructions, simulated {model['instructions']}")
    return {"simulated": model, "rtl": real}


def line(layer):
    model, real = layer["simulated"], layer["rtl"]
    misses = [f"{model[m]} {real[m]}" for m in ("fetch_misses", "load_misses")]
    cycles = f"{model['cycles']:10} {real['cycles']:10} {model['cycles'] / real['cycles']:6.3f}"
    return f"{layer['name']:32} {cycles}  {misses[0]:>23} {misses[1]:>15}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--workloads", required=True, type=pathlib.Path)
    parser.add_argument("--db")
    parser.add_argument("--filter", default="*")
    parser.add_argument("--max-text", metavar="B", help="as of `kiln build`")
    parser.add_argument("--format", choices=("table", "json"), default="table")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    arguments = parser.parse_args()
    needs_rtl()
    options = ["--max-text", arguments.max_text] if arguments.max_text else []
    is_table = arguments.format == "table"
    layers = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        package = folder / "package"
        kernels = built_package(arguments.build, package, arguments.workloads, arguments.db, arguments.filter, options)
        code = code_bytes(package)
        if is_table:
            print(f"{'layer':32} {'simulated':>10} {'rtl':>10} {'ratio':>6}  misses: {'fetch':>15} {'load':>15}")
        for kernel in kernels:
            counts = measured(kernel, package, folder, arguments.build)
            layers.append({"name": kernel["name"], "count": kernel["count"], **counts})
            if is_table:
                print(line(layers[-1]), flush=True)
    sums = {of: sum(layer["count"] * layer[of]["cycles"] for layer in layers) for of in ("simulated", "rtl")}
    worst = max(abs(layer["simulated"]["cycles"] / layer["rtl"]["cycles"] - 1) for layer in layers)
    if is_table:
        print(f"{'all, with counts':32} {sums['simulated']:10} {sums['rtl']:10} {sums['simulated'] / sums['rtl']:6.3f}")
        print(f"{code} bytes of code and constants; largest difference {100 * worst:.1f} % (limit {100 * LIMIT:.0f} %)")
    else:
        print(json.dumps({"layers": layers, "sums": sums, "code_bytes": code, "worst": worst}, indent=1))
    return worst > LIMIT


if __name__ == "__main__":
    sys.exit(main())
