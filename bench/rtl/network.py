#!/usr/bin/env python3
"""Cycles of a whole network's NAME_run() in kiln's model of a core beside those of the hardware description.

usage: bench/rtl/network.py --network MODEL.onnx [--shape NAME=1x2x3...] [--db kiln.db] [--max-text B] [--build build]

Builds the package for rv32im and a program around it, and runs that in kiln-simulate and on VexRiscv (bench/rtl/setup makes that), on
random inputs, with caches as another call left them. Results are compared. Exit status 1: the model is off by more than 10 %.
"""

import argparse
import json
import pathlib
import sys
import tempfile

from layer_programs import BOARD, COMPILER, FLAGS, ROOT, needs_rtl, on_rtl, run, simulated

LIMIT = 0.10

# Inputs are drawn, outputs are hashed; the hash lies where vexriscv.cpp looks for it.
PROGRAM = """#include <stddef.h>
#include <stdint.h>
#include <bench.h>
__attribute__((section(".data.a"))) volatile uint32_t bench_hash = 1;
void *memcpy(void *restrict to, const void *restrict from, size_t count) {{
    char *t = to;
    for (const char *f = from; count > 0; count--) *t++ = *f++;
    return to;
}}
void *memset(void *to, int value, size_t count) {{
    for (char *t = to; count > 0; count--) *t++ = (char)value;
    return to;
}}
{arrays}
int main(void) {{
    uint32_t state = 1;
    {draws}
    {call};
    __asm__ volatile("slti zero, zero, 1" ::: "memory");
    {call};
    __asm__ volatile("slti zero, zero, 2" ::: "memory");
    {hashes}
    for (int i = 0; i < 64; i++) __asm__ volatile("nop"); /* until the last store is done */
    __asm__ volatile("slti zero, zero, 3" ::: "memory");
    return (int)(bench_hash & 127);
}}
"""


def program_text(network):
    names = {port["parameter"]: port["bytes"] for port in network["inputs"] + network["outputs"]}
    arrays = [f"static __attribute__((aligned(64))) uint8_t {name}[{size}];" for name, size in names.items()]
    draws = [f"for (size_t i = 0; i < {port['bytes']}; i++) {port['parameter']}[i] = (state = state * 1664525 + 1013904223) >> 24;"
             for port in network["inputs"]]  # fmt: skip
    hashes = [f"for (size_t i = 0; i < {port['bytes']}; i++) bench_hash = (bench_hash ^ {port['parameter']}[i]) * 16777619;"
              for port in network["outputs"]]  # fmt: skip
    call = f"{network['function']}({', '.join(f'(void *){name}' for name in names)})"
    lines = "\n    "
    return PROGRAM.format(arrays="\n".join(arrays), draws=lines.join(draws), hashes=lines.join(hashes), call=call)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--network", required=True, type=pathlib.Path)
    parser.add_argument("--shape", action="append", default=[])
    parser.add_argument("--db")
    parser.add_argument("--max-text", metavar="B", help="as of `kiln build`")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    arguments = parser.parse_args()
    needs_rtl()
    options = [word for shape in arguments.shape for word in ("--shape", shape)]
    options += ["--db", arguments.db] if arguments.db else []
    options += ["--max-text", arguments.max_text] if arguments.max_text else []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        package, program = folder / "package", folder / "network.elf"
        run(arguments.build.resolve() / "bin" / "kiln", "build", "--network", arguments.network, "--target", "rv32im", "--name",
            "bench", "-o", package, *options)  # fmt: skip
        network = json.loads((package / "share" / "bench" / "manifest.json").read_text())["soft_core_network"]
        (folder / "main.c").write_text(program_text(network))
        run("make", "-s", "-C", package, f"BUILD={folder}")
        run(COMPILER, *FLAGS, "-O2", "-fno-tree-loop-distribute-patterns", "-I", package / "include", "-nostdlib", "-nostartfiles",
            f"-Wl,-T,{BOARD / 'link.ld'}", "-Wl,--gc-sections", BOARD / "start.S", folder / "main.c", folder / "libbench.a", "-lgcc",
            "-o", program)  # fmt: skip
        model, status = simulated(program, arguments.build, folder)
        real, result = on_rtl(program)
    if result != status:
        sys.exit("network.py: the core computes something else than the simulator")
    ratio = model["cycles"] / real["cycles"]
    print(f"{network['name']}: {model['cycles']} cycles simulated, {real['cycles']} on the Verilog, ratio {ratio:.3f}; "
          f"{network['text_bytes']} bytes of code, {network['constant_bytes']} of constants, {network['arena_bytes']} of static memory")  # fmt: skip
    return abs(ratio - 1) > LIMIT


if __name__ == "__main__":
    sys.exit(main())
