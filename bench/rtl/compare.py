#!/usr/bin/env python3
"""Cycles of kiln's model of a core beside those of the hardware description, layer by layer.

usage: bench/rtl/compare.py --workloads LIST.json [--db kiln.db] [--filter GLOB] [--build build]

Builds a package for rv32im, makes a program of each layer, and runs it in kiln-simulate and on VexRiscv (bench/rtl/setup makes that).
Both start from the same bytes, and their results are compared. Exit status 1: a layer differs by more than 10 %.
"""

import argparse
import pathlib
import sys
import tempfile

from layer_programs import ROOT, built_package, needs_rtl, on_rtl, program_of, simulated

LIMIT = 0.10


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--workloads", required=True, type=pathlib.Path)
    parser.add_argument("--db")
    parser.add_argument("--filter", default="*")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    arguments = parser.parse_args()
    needs_rtl()
    worst = 0.0
    sums = {"simulated": 0, "rtl": 0}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        kernels = built_package(arguments.build, folder / "package", arguments.workloads, arguments.db, arguments.filter)
        print(f"{'layer':32} {'simulated':>10} {'rtl':>10} {'ratio':>6}  misses: {'fetch':>15} {'load':>15}")
        for kernel in kernels:
            program = program_of(kernel, folder / "package", folder)
            model, status = simulated(program, arguments.build, folder)
            real, result = on_rtl(program)
            if result != status:
                sys.exit(f"compare.py: {kernel['name']}: the core computes something else than the simulator")
            if abs(model["instructions"] - real["instructions"]) > 2:  # the marks themselves
                sys.exit(f"compare.py: {kernel['name']}: {real['instructions']} instructions, simulated {model['instructions']}")
            ratio = model["cycles"] / real["cycles"]
            worst = max(worst, abs(ratio - 1))
            sums["simulated"] += kernel["count"] * model["cycles"]
            sums["rtl"] += kernel["count"] * real["cycles"]
            misses = [f"{model[m]} {real[m]}" for m in ("fetch_misses", "load_misses")]
            print(f"{kernel['name']:32} {model['cycles']:10} {real['cycles']:10} {ratio:6.3f}  {misses[0]:>23} {misses[1]:>15}",
                  flush=True)  # fmt: skip
    print(f"{'all, with counts':32} {sums['simulated']:10} {sums['rtl']:10} {sums['simulated'] / sums['rtl']:6.3f}")
    print(f"largest difference {100 * worst:.1f} % (limit {100 * LIMIT:.0f} %)")
    return worst > LIMIT


if __name__ == "__main__":
    sys.exit(main())
