#!/usr/bin/env python3
"""Kernels for rv32im beside plain C and what other libraries were recorded with, layer by layer.

usage: bench/rtl/beside.py --workloads LIST.json... [--db kiln.db] [--filter GLOB] [--rtl] [--format json] [--build build]

`loops`, `chunks8` and `chunks32` are plain C (plain.c), compiled with -O2 and counted like kiln's kernels: in kiln-simulate, or
with --rtl on the Verilog of VexRiscv (bench/rtl/setup). Their results are compared with kiln's. `tflm` and `cmsis-nn` are counts
that were recorded once on the same Verilog (recorded.csv), with their kernels compiled by GCC 12.2 -O2.
"""

import argparse
import csv
import json
import pathlib
import sys
import tempfile

from layer_programs import (COMPILER, FLAGS, HERE, ROOT, built_package, extents_of, field_of, linked, needs_rtl, on_rtl,
                            program_of, run, simulated)  # fmt: skip

CHUNKS = {"loops": None, "chunks8": 8, "chunks32": 32}
RECORDED = ("tflm", "cmsis-nn")
COUNTS = ("cycles", "load_misses")
# Fields of a key that plain.c computes.
KNOWN = {"conv2d", "input", "kernel", "strides", "padding", "feature_group_count", "dtype", "epilogue"}

HEADER = """#include <stdint.h>
typedef struct {{
    const int8_t *kernel;
    const int32_t *bias, *multiplier, *shift;
    int32_t input_zero_point, output_zero_point, result_bounds[2];
}} bench_constants;
#define {upper}_INPUT_BYTES {input_bytes}
#define {upper}_OUTPUT_BYTES {output_bytes}
#define {upper}_PACKED_WORDS {packed_words}
#define {upper}_WORKSPACE_BYTES 0
void {function}_pack(const bench_constants *constants, int32_t *packed, void *workspace);
void {function}(const void *input, const int32_t *packed, void *output, void *workspace);
"""


def sizes_of(key):
    """The macros of plain.c; none where it does not compute the workload."""
    if {field.split(":")[0] for field in key.split("/")} - KNOWN:
        return None
    batch, height, width, channels = extents_of(key, "input")
    rows, columns, filter_channels, outputs = extents_of(key, "kernel")
    strides = extents_of(key, "strides") or [1, 1]
    (top, bottom), (left, right) = field_of(key, "padding") or [[0, 0], [0, 0]]
    if batch != 1 or "bias,requantize_litert" not in key:
        return None
    return {"INPUT_H": height, "INPUT_W": width, "INPUT_C": channels,
            "OUTPUT_H": (height + top + bottom - rows) // strides[0] + 1,
            "OUTPUT_W": (width + left + right - columns) // strides[1] + 1, "OUTPUT_C": outputs,
            "KERNEL_H": rows, "KERNEL_W": columns, "KERNEL_C": filter_channels,
            "STRIDE_H": strides[0], "STRIDE_W": strides[1], "PAD_TOP": top, "PAD_LEFT": left}  # fmt: skip


def plain_program(key, name, chunk, folder):
    sizes = sizes_of(key)
    if not sizes or (chunk and sizes["KERNEL_C"] != 1):
        return None
    kernel_bytes = sizes["KERNEL_H"] * sizes["KERNEL_W"] * sizes["KERNEL_C"] * sizes["OUTPUT_C"]
    of_name = {"function": name, "upper": name.upper(),
               "input_bytes": sizes["INPUT_H"] * sizes["INPUT_W"] * sizes["INPUT_C"],
               "output_bytes": sizes["OUTPUT_H"] * sizes["OUTPUT_W"] * sizes["OUTPUT_C"],
               "packed_words": 3 * sizes["OUTPUT_C"] + 4 + (kernel_bytes + 3) // 4}  # fmt: skip
    (folder / "package.h").write_text(HEADER.format(**of_name))
    macros = [f"-D{macro}={value}" for macro, value in sizes.items()] + ([f"-DCHUNK={chunk}"] if chunk else [])
    run(COMPILER, *FLAGS, "-O2", "-I", folder, f"-DFUNCTION={name}", *macros, "-c", HERE / "plain.c", "-o",
        folder / "plain.o")  # fmt: skip
    return linked(folder / "plain.elf", key, [folder / "plain.o"], {"function": name, "include": folder}, folder)


def recorded_counts():
    counts = {}
    with open(HERE / "recorded.csv", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            counts.setdefault(row["layer"], {})[row["library"]] = {count: int(row[count]) for count in COUNTS}
    return counts


def measured(kernel, recorded, counted, folder):
    """A layer's counts by who computes it."""
    kiln, result = counted(program_of(kernel, folder / "package", folder))
    row = {"kiln": {count: kiln[count] for count in COUNTS}}
    for design, chunk in CHUNKS.items():
        program = plain_program(kernel["key"], "plain", chunk, folder)
        if not program:
            continue
        counts, its_result = counted(program)
        if its_result != result:
            sys.exit(f"beside.py: {kernel['name']}: {design} computes something else than kiln's kernel")
        row[design] = {count: counts[count] for count in COUNTS}
    return row | recorded.get(kernel["name"].split("/")[-1], {})


def sums_of(layers):
    """Over all layers, of those who computed each of them."""
    sums = {}
    for who in ("kiln", *CHUNKS, *RECORDED):
        if all(who in layer["counts"] for layer in layers):
            sums[who] = {c: sum(layer["count"] * layer["counts"][who][c] for layer in layers) for c in COUNTS}
    return sums


def line(name, counts):
    cells = [f"{counts['kiln']['cycles']:10}", f"{counts['kiln']['load_misses']:8}"]
    for who in (*CHUNKS, *RECORDED):
        cells.append(f"{counts[who]['cycles'] / counts['kiln']['cycles']:8.2f}" if who in counts else f"{'':8}")
    return f"{name:32} {' '.join(cells)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--workloads", required=True, nargs="+", type=pathlib.Path)
    parser.add_argument("--db")
    parser.add_argument("--filter", default="*")
    parser.add_argument("--rtl", action="store_true", help="count on the Verilog")
    parser.add_argument("--format", choices=("table", "json"), default="table")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    arguments = parser.parse_args()
    if arguments.rtl:
        needs_rtl()
    recorded, lists = recorded_counts(), []
    for workloads in arguments.workloads:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            counted = on_rtl if arguments.rtl else lambda program: simulated(program, arguments.build, folder)
            kernels = built_package(arguments.build, folder / "package", workloads, arguments.db, arguments.filter)
            if arguments.format == "table":
                others = " ".join(f"{who:>8}" for who in (*CHUNKS, *RECORDED))
                print(f"{workloads.stem:32} {'cycles':>10} {'misses':>8} {others}   times as many cycles")
            layers = []
            for kernel in kernels:
                counts = measured(kernel, recorded, counted, folder)
                layers.append({"name": kernel["name"], "count": kernel["count"], "counts": counts})
                if arguments.format == "table":
                    print(line(kernel["name"], counts), flush=True)
            lists.append({"list": workloads.stem, "layers": layers, "sums": sums_of(layers)})
            if arguments.format == "table":
                print(line("all, with counts", lists[-1]["sums"]), flush=True)
    if arguments.format == "json":
        print(json.dumps(lists, indent=1))


if __name__ == "__main__":
    main()
