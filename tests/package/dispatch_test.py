"""One program with a package for several targets, on this CPU and on emulated ones: it must choose a kernel that runs
there, and refuse the others.

The emulator is qemu-x86_64 (user mode; ./setup --full installs it). Without it the emulated part is skipped, exit
status 77.
"""

import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

BINARIES = pathlib.Path(os.environ["KILN_BINARY_DIR"])
PROGRAM = pathlib.Path(__file__).resolve().parent / "dispatch_program.c"
# Target -> its Halide target string, and flags of /proc/cpuinfo of the CPUs that run it; best first.
TARGETS = {
    "avx512": (
        "x86-64-linux-avx-avx2-avx512-avx512_skylake-f16c-fma-sse41",
        {"avx512f", "avx512cd", "avx512vl", "avx512bw", "avx512dq", "avx2", "fma", "f16c"},
    ),
    "avx2": ("x86-64-linux-avx-avx2-f16c-fma-sse41", {"avx2", "fma", "f16c"}),
    "sse41": ("x86-64-linux-sse41", {"sse4_1"}),
    "baseline": ("x86-64-linux", set()),
}

# Tiny: an emulator runs them.
LAYERS = [
    {"name": "three_by_three", "input": [1, 6, 7, 8], "kernel": [3, 3, 8, 16], "padding": [[1, 1], [1, 1]]},
    {"name": "pointwise", "input": [2, 4, 5, 24], "kernel": [1, 1, 24, 40], "strides": [2, 2]},
    {"name": "odd", "input": [1, 5, 5, 3], "kernel": [2, 3, 3, 7]},
]

# Model of QEMU -> the target whose kernels it must choose.
EMULATED = [
    ("max,-avx512f", "avx2"),
    ("Haswell", "avx2"),
    ("Haswell,-fma", "sse41"),
    ("SandyBridge", "sse41"),
    ("Nehalem", "sse41"),
    ("Conroe", "baseline"),
    ("qemu64,-sse4.1", "baseline"),
]


def succeed(*command):
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=250)
    if result.returncode != 0:
        raise SystemExit(f"{command} ended with {result.returncode}:\n{result.stdout}{result.stderr}")
    return result.stdout


def targets_of_this_machine():
    """Those of TARGETS for which `kiln build` can check kernels here, best first."""
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    flags = next(set(line.split()) for line in lines if line.startswith("flags"))
    return [name for name, (_, needs) in TARGETS.items() if needs <= flags]


def version(qemu):
    return tuple(map(int, re.search(r"version (\d+)\.(\d+)", succeed(qemu, "--version")).groups()))


def build_program(folder, targets):
    layers = [{"op": "conv2d", **layer} for layer in LAYERS]
    (folder / "tiny.json").write_text(json.dumps({"format": "workloads/1", "name": "tiny", "workloads": layers}))
    package, program = folder / "package", folder / "program"
    arguments = ["--target", ",".join(targets), "--name", "tiny", "-o", package]
    succeed(BINARIES / "kiln", "build", "--workloads", folder / "tiny.json", *arguments)
    defines = ["-DPACKAGE_HEADER=<tiny.h>", "-DPACKAGE=tiny_package"]
    warnings = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror"]
    library = [package / "lib" / "libtiny.a", "-lm", "-pthread"]
    succeed("cc", "-O1", *warnings, *defines, "-I", package / "include", PROGRAM, "-o", program, *library)
    return program


def check(what, command, target):
    """Runs the program, which must choose the kernels of this target for every layer."""
    halide = TARGETS[target][0]
    lines = succeed(*command).splitlines()
    chosen = [line.split(" ") for line in lines]
    if len({key for key, _ in chosen}) != len(LAYERS) or {target for _, target in chosen} != {halide}:
        raise SystemExit(f"{what}: needs {len(LAYERS)} layers with kernels for {halide}; got\n" + "\n".join(lines))
    print(f"{what}: {target}")


def main():
    emulate = sys.argv[1:] == ["--emulated"]
    qemu = shutil.which("qemu-x86_64") or shutil.which("qemu-x86_64-static")
    if platform.machine() != "x86_64":
        print("the targets of this test are those of x86-64")
        return 77
    if emulate and not qemu:
        print("qemu-x86_64 is not here; ./setup --full installs it (Debian's qemu-user)")
        return 77
    if emulate and version(qemu) < (7, 2):
        print(f"{qemu} is older than 7.2 and emulates no AVX")
        return 77
    with tempfile.TemporaryDirectory(prefix="kiln test ") as folder:
        targets = targets_of_this_machine()
        program = build_program(pathlib.Path(folder), targets)
        if not emulate:
            check("this CPU", [program], targets[0])
            return 0
        for model, target in EMULATED:
            if target in targets:
                check(model, [qemu, "-cpu", model, program], target)
    return 0


if __name__ == "__main__":
    sys.exit(main())
