"""Layers of a package as programs of their own, and what running them counts: in kiln-simulate, and on the Verilog of VexRiscv."""

import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
BOARD = ROOT / "examples" / "soft_core"
RTL = ROOT / ".rtl" / "vexriscv"

COMPILER = "riscv64-unknown-elf-gcc"
FLAGS = ["-std=gnu99", "-march=rv32im", "-mabi=ilp32", "-ffreestanding", "-ffunction-sections"]


def run(*command):
    answer = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if answer.returncode != 0:
        sys.exit(f"{pathlib.Path(sys.argv[0]).name}: {' '.join(map(str, command))}\n{answer.stderr}")
    return answer.stdout


def built_package(build, folder, workloads, database=None, glob="*", options=()):
    """The kernels of a package's manifest, in the order of their names. The package lies in FOLDER."""
    recorded = ["--db", database] if database else []
    run(build.resolve() / "bin" / "kiln", "build", "--workloads", workloads, "--filter", glob, "--target", "rv32im",
        "--name", "bench", "-o", folder, *recorded, *options)  # fmt: skip
    kernels = json.loads((folder / "share" / "bench" / "manifest.json").read_text())["kernels"]
    return sorted(kernels, key=lambda kernel: kernel["name"])


def field_of(key, name):
    """The numbers of a field of a workload's key; none where it is not there."""
    for field in key.split("/"):
        if field.startswith(name + ":"):
            return [[int(n) for n in pair.split(",")] for pair in field.removeprefix(name + ":").split("x")]
    return []


def extents_of(key, name):
    return [extent for (extent,) in field_of(key, name)]


def linked(path, key, source, names, folder):
    """An executable of layer.c and the object `source`. `names`: its function, and where the package's header lies."""
    extents = extents_of(key, "kernel")
    size = 1
    for extent in extents:
        size *= extent
    run(COMPILER, *FLAGS, "-O2", "-fno-tree-loop-distribute-patterns", "-I", names["include"], "-I", folder,
        f"-DFUNCTION={names['function']}", f"-DUPPER={names['function'].upper()}", "-DPACKAGE=bench",
        f"-DCHANNELS={extents[-1]}", f"-DKERNEL_BYTES={size}", "-nostdlib", "-nostartfiles",
        f"-Wl,-T,{BOARD / 'link.ld'}", "-Wl,--gc-sections", BOARD / "start.S", HERE / "layer.c", source, "-lgcc",
        "-o", path)  # fmt: skip
    return path


def program_of(kernel, package, folder):
    """An executable for one layer: its own source alone, so that code lies where firmware would have it."""
    function = kernel["soft_core"]["function"]
    (folder / "package.h").write_text('#include "bench.h"\n')
    source = folder / f"{function}.o"
    run(COMPILER, *FLAGS, *kernel["soft_core"]["flags"], "-I", package / "include", "-c",
        package / kernel["soft_core"]["source"], "-o", source)  # fmt: skip
    names = {"function": function, "include": package / "include"}
    return linked(folder / f"{function}.elf", kernel["key"], source, names, folder)


def simulated(program, build, folder):
    """Counts, and the 7 bits of the results' hash that an exit status has."""
    counts = folder / "counts.json"
    status = subprocess.run([build / "bin" / "kiln-simulate", "--counts", counts, program], check=False).returncode
    if status > 127:
        sys.exit(f"{pathlib.Path(sys.argv[0]).name}: kiln-simulate {program}: status {status}")
    return json.loads(counts.read_text())["marked"][0], status


def on_rtl(program):
    answer = json.loads(run(RTL, program))
    return answer["marked"][0], answer["hash"] & 127


def needs_rtl():
    if not RTL.exists():
        sys.exit(f"{pathlib.Path(sys.argv[0]).name}: no .rtl/vexriscv; bench/rtl/setup makes it")
