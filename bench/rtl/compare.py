#!/usr/bin/env python3
"""Cycles of kiln's model of a core beside those of the hardware description, layer by layer.

usage: bench/rtl/compare.py --workloads LIST.json [--db kiln.db] [--filter GLOB] [--build build]

Builds a package for rv32im, makes a program of each layer, and runs it in kiln-simulate and on VexRiscv (bench/rtl/setup makes that).
Both start from the same bytes, and their results are compared. Exit status 1: a layer differs by more than 10 %.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
BOARD = ROOT / "examples" / "soft_core"
LIMIT = 0.10


def run(*command):
    answer = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if answer.returncode != 0:
        sys.exit(f"compare.py: {' '.join(map(str, command))}\n{answer.stderr}")
    return answer.stdout


def channels_of(key):
    kernel = next(field for field in key.split("/") if field.startswith("kernel:"))
    return [int(extent) for extent in kernel.removeprefix("kernel:").split("x")]


def program_of(kernel, package, folder):
    """An executable for one layer: its own source alone, so that code lies where firmware would have it."""
    function = kernel["soft_core"]["function"]
    extents = channels_of(kernel["key"])
    size = 1
    for extent in extents:
        size *= extent
    path = folder / f"{function}.elf"
    (folder / "package.h").write_text('#include "bench.h"\n')
    flags = ["-std=gnu99", "-march=rv32im", "-mabi=ilp32", "-ffreestanding", "-ffunction-sections"]
    source = folder / f"{function}.o"
    run("riscv64-unknown-elf-gcc", *flags, *kernel["soft_core"]["flags"], "-I", package / "include", "-c",
        package / kernel["soft_core"]["source"], "-o", source)  # fmt: skip
    run("riscv64-unknown-elf-gcc", *flags, "-O2", "-fno-tree-loop-distribute-patterns", "-I", package / "include", "-I", folder,
        f"-DFUNCTION={function}", f"-DUPPER={function.upper()}", "-DPACKAGE=bench", f"-DCHANNELS={extents[-1]}",
        f"-DKERNEL_BYTES={size}", "-nostdlib", "-nostartfiles", f"-Wl,-T,{BOARD / 'link.ld'}", "-Wl,--gc-sections",
        BOARD / "start.S", HERE / "layer.c", source, "-lgcc", "-o", path)  # fmt: skip
    return path


def simulated(program, build, folder):
    counts = folder / "counts.json"
    status = subprocess.run([build / "bin" / "kiln-simulate", "--counts", counts, program], check=False).returncode
    if status > 127:
        sys.exit(f"compare.py: kiln-simulate {program}: status {status}")
    return json.loads(counts.read_text())["marked"][0], status


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--workloads", required=True, type=pathlib.Path)
    parser.add_argument("--db")
    parser.add_argument("--filter", default="*")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    arguments = parser.parse_args()
    rtl = ROOT / ".rtl" / "vexriscv"
    if not rtl.exists():
        sys.exit("compare.py: no .rtl/vexriscv; bench/rtl/setup makes it")
    worst = 0.0
    sums = {"simulated": 0, "rtl": 0}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        database = ["--db", arguments.db] if arguments.db else []
        run(arguments.build.resolve() / "bin" / "kiln", "build", "--workloads", arguments.workloads, "--filter", arguments.filter,
            "--target", "rv32im", "--name", "bench", "-o", folder / "package", *database)  # fmt: skip
        kernels = json.loads((folder / "package" / "share" / "bench" / "manifest.json").read_text())["kernels"]
        print(f"{'layer':32} {'simulated':>10} {'rtl':>10} {'ratio':>6}  misses: {'fetch':>15} {'load':>15}")
        for kernel in sorted(kernels, key=lambda k: k["name"]):
            program = program_of(kernel, folder / "package", folder)
            model, status = simulated(program, arguments.build, folder)
            answer = json.loads(run(rtl, program))
            real = answer["marked"][0]
            if answer["hash"] & 127 != status:
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
