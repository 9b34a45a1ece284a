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
    """The kernels of a package's manifest, in the order of their names, with the C files of each (`sources`: paths and flags). The
    package lies in FOLDER."""
    recorded = ["--db", database] if database else []
    run(build.resolve() / "bin" / "kiln", "build", "--workloads", workloads, "--filter", glob, "--target", "rv32im",
        "--name", "bench", "-o", folder, *recorded, *options)  # fmt: skip
    manifest = json.loads((folder / "share" / "bench" / "manifest.json").read_text())
    shared = {code["function"]: code for code in manifest.get("shared_code", [])}
    for kernel in manifest["kernels"]:
        soft = kernel["soft_core"]
        kernel["sources"] = [(soft["source"], soft["flags"])]
        if soft["shared_code"]:
            kernel["sources"].append((shared[soft["shared_code"]]["source"], shared[soft["shared_code"]]["flags"]))
    return sorted(manifest["kernels"], key=lambda kernel: kernel["name"])


def code_bytes(folder):
    """Code and constants of all layers of the package in FOLDER, as `--max-text` counts them."""
    manifest = json.loads((folder / "share" / "bench" / "manifest.json").read_text())
    parts = [kernel["soft_core"] for kernel in manifest["kernels"]] + manifest.get("shared_code", [])
    return sum(part["text_bytes"] + part["rodata_bytes"] for part in parts)


def field_of(key, name):
    """The numbers of a field of a workload's key; none where it is not there."""
    for field in key.split("/"):
        if field.startswith(name + ":"):
            return [[int(n) for n in pair.split(",")] for pair in field.removeprefix(name + ":").split("x")]
    return []


def extents_of(key, name):
    return [extent for (extent,) in field_of(key, name)]


def linked(path, key, objects, names, folder):
    """An executable of layer.c and `objects`. `names`: its function, and where the package's header lies."""
    extents = extents_of(key, "kernel")
    size = 1
    for extent in extents:
        size *= extent
    run(COMPILER, *FLAGS, "-O2", "-fno-tree-loop-distribute-patterns", "-I", names["include"], "-I", folder,
        f"-DFUNCTION={names['function']}", f"-DUPPER={names['function'].upper()}", "-DPACKAGE=bench",
        f"-DCHANNELS={extents[-1]}", f"-DKERNEL_BYTES={size}", "-nostdlib", "-nostartfiles",
        f"-Wl,-T,{BOARD / 'link.ld'}", "-Wl,--gc-sections", BOARD / "start.S", HERE / "layer.c", *objects, "-lgcc",
        "-o", path)  # fmt: skip
    return path


def program_of(kernel, package, folder):
    """An executable for one layer: its sources alone, so that code lies where firmware would have it."""
    function = kernel["soft_core"]["function"]
    (folder / "package.h").write_text('#include "bench.h"\n')
    objects = []
    for source, flags in kernel["sources"]:
        objects.append(folder / (pathlib.Path(source).stem + ".o"))
        run(COMPILER, *FLAGS, *flags, "-I", package / "include", "-c", package / source, "-o", objects[-1])
    names = {"function": function, "include": package / "include"}
    return linked(folder / f"{function}.elf", kernel["key"], objects, names, folder)


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
