"""Packages for soft cores: `kiln build --target rv32im`, the user's C compiler, and the program in simulation.

Skipped where there is no compiler for RISC-V. qemu-riscv32 is a second opinion where it is installed.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

import fastjsonschema

from kiln_job import BINARIES, ROOT, KilnJob
from soft_core_layers import Layer, operands_header

GCC = "riscv64-unknown-elf-gcc"
HAS_COMPILER = shutil.which(GCC) is not None
QEMU = shutil.which("qemu-riscv32")
SEED = os.environ.get("KILN_TEST_SEED", "1")
HERE = ROOT / "tests" / "end_to_end"
FIRMWARE = ROOT / "examples" / "soft_core"
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]

LITERT = {"op": "conv2d", "dtype": "i8", "epilogue": ["bias", "requantize_litert"]}
LAYERS = [
    {"name": "depthwise", **LITERT, "input": [1, 7, 6, 8], "kernel": [3, 3, 1, 8], "padding": [[1, 1], [0, 1]],
     "strides": [2, 1], "feature_group_count": 8},
    {"name": "two pixels a word", **LITERT, "input": [1, 5, 5, 6], "kernel": [1, 1, 6, 7]},
    # Two names that C would not tell apart, and one that meets a function of another layer.
    {"name": "Two_Pixels/a*/word", **LITERT, "input": [1, 5, 5, 3], "kernel": [3, 3, 3, 4], "rhs_dilation": [2, 1],
     "padding": [[2, 2], [1, 1]]},
    {"name": "depthwise_pack", **LITERT, "input": [1, 4, 4, 4], "kernel": [2, 2, 1, 8], "feature_group_count": 4},
    {"name": "groups", **LITERT, "dtype": "u8", "kernel_dtype": "u8", "output_dtype": "u8", "kernel_zero_point": True,
     "input": [1, 4, 4, 6], "kernel": [3, 3, 3, 4], "padding": [[1, 1], [1, 1]], "feature_group_count": 2},
    {"name": "sums", "op": "conv2d", "dtype": "i8", "output_dtype": "i32", "epilogue": ["bias"], "input": [1, 4, 4, 3],
     "kernel": [1, 1, 3, 5]},
    # The last tile has results that are not stored.
    {"name": "part of a tile", **LITERT, "input": [1, 5, 5, 8], "kernel": [1, 1, 8, 4]},
]  # fmt: skip
# Two functions are enough for them.
SHARING = [
    {"name": "depthwise", **LITERT, "input": [1, 7, 6, 8], "kernel": [3, 3, 1, 8], "padding": [[1, 1], [0, 1]],
     "feature_group_count": 8},
    {"name": "wide", **LITERT, "input": [1, 3, 11, 16], "kernel": [3, 3, 1, 16], "padding": [[1, 1], [1, 1]],
     "feature_group_count": 16},
    {"name": "pixels", **LITERT, "input": [1, 5, 5, 6], "kernel": [1, 1, 6, 8]},
    {"name": "fully connected", **LITERT, "input": [1, 1, 1, 33], "kernel": [1, 1, 33, 2]},
    {"name": "window", **LITERT, "input": [1, 9, 7, 3], "kernel": [3, 5, 3, 4], "padding": [[2, 1], [2, 2]],
     "strides": [2, 1], "rhs_dilation": [2, 1]},
]  # fmt: skip


@unittest.skipUnless(HAS_COMPILER, f"no {GCC}: install gcc-riscv64-unknown-elf")
class SoftCorePackage(unittest.TestCase):
    whole = None  # what `kiln build` said of the package of LAYERS in `common`, which the first test makes that needs it

    @classmethod
    def setUpClass(cls):
        cls.common = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))

    def setUp(self):
        self.job = self.enterContext(KilnJob())
        self.folder = self.job.folder
        self.dist = self.folder / "dist"

    def build_whole(self):
        """The package of LAYERS, as kiln builds it without a database."""
        if self.whole is None:
            answer = self.build(LAYERS)
            shutil.copytree(self.dist, self.common / "dist")
            SoftCorePackage.whole = answer
        else:
            shutil.copytree(self.common / "dist", self.dist)
        return self.whole

    def run_command(self, *command, status=0, **options):
        answer = subprocess.run([str(word) for word in command], env=self.job.environment | options.pop("env", {}),
                                capture_output=True, timeout=600, **options)  # fmt: skip
        self.assertEqual(answer.returncode, status, answer.stderr.decode()[-2000:])
        return answer

    def workloads(self, layers, name="small"):
        path = self.folder / f"{name}.json"
        path.write_text(json.dumps({"format": "workloads/1", "name": name, "workloads": layers}))
        return path

    def build(self, layers, *arguments, status=0, **options):
        command = [BINARIES / "kiln", "build", "--workloads", self.workloads(layers), "--name", "small", "-o", self.dist]
        target = [] if "--target" in arguments else ["--target", "rv32im"]
        return self.run_command(*command, *target, *arguments, status=status, **options)

    def manifest(self):
        share = self.dist / "share" / "small"
        manifest = json.loads((share / "manifest.json").read_text())
        fastjsonschema.compile(json.loads((share / "manifest.schema.json").read_text()))(manifest)
        return manifest

    def folder_for_make(self):
        """make has no paths with spaces, which the job's folder has."""
        return pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "made"

    def programs(self):
        """The harness with all sources of the package, as people compile them: for the core, and for this machine."""
        sources = sorted((self.dist / "src").glob("*.c"))
        include = ["-I", self.dist / "include", "-I", self.folder, "-I", FIRMWARE]
        objects = []
        for source in sources:
            objects.append(self.folder / (source.stem + ".o"))
            self.run_command(GCC, *STRICT, "-O2", "-march=rv32im", "-mabi=ilp32", "-ffreestanding", *include, "-c", source,
                             "-o", objects[-1])  # fmt: skip
        firmware, program = self.folder / "firmware.elf", self.folder / "program"
        board = [FIRMWARE / "start.S", FIRMWARE / "console.c", HERE / "soft_core_harness.c"]
        self.run_command(GCC, "-std=c99", "-O1", "-march=rv32im", "-mabi=ilp32", "-ffreestanding", *include, "-nostdlib",
                         "-fno-tree-loop-distribute-patterns", f"-Wl,-T,{FIRMWARE}/link.ld", *board, *objects, "-lgcc",
                         "-o", firmware)  # fmt: skip
        self.run_command("cc", *STRICT, "-O1", "-fsanitize=undefined", "-fno-sanitize-recover=undefined", *include, *sources,
                         HERE / "soft_core_harness.c", "-o", program)  # fmt: skip
        return firmware, program

    def test_results_are_the_references_wherever_it_is_compiled(self):
        answer = self.build_whole()
        self.assertIn("small/groups, riscv-32-noos: untuned", answer.stderr.decode())
        self.assertIn(f"{len(LAYERS)} kernels, 0 tuned, {len(LAYERS)} untuned", answer.stdout.decode())
        self.assertIn("cycles in all; code ", answer.stdout.decode())
        self.check_results(LAYERS)

    def check_results(self, entries):
        """Of the package that was built, beside plain loops."""
        kernels = self.manifest()["kernels"]
        by_name = {entry["name"]: Layer(entry, SEED) for entry in entries}
        layers = [by_name[kernel["name"]] for kernel in kernels]
        (self.folder / "operands.h").write_text(operands_header(layers, "small"))
        firmware, program = self.programs()
        native = self.run_command(program).stdout
        self.assertEqual(self.run_command(BINARIES / "kiln-simulate", firmware).stdout, native)
        if QEMU:
            self.assertEqual(self.run_command(QEMU, firmware).stdout, native)
        else:
            print("no qemu-riscv32: its opinion is skipped; install qemu-user", file=sys.stderr)
        at = 0
        for layer, kernel in zip(layers, kernels, strict=True):
            at += kernel["soft_core"]["packed_bytes"]
            expected = layer.output()
            self.assertEqual(native[at : at + len(expected)], expected, layer.entry["name"])
            at += len(expected)
        self.assertEqual(at, len(native))

    def test_every_kernel_keeps_what_is_promised(self):
        self.build_whole()
        readme = (self.dist / "README.md").read_text()
        manifest = self.manifest()
        files = {str(p.relative_to(self.dist)) for p in self.dist.rglob("*") if p.is_file()}
        always = {"README.md", "include/small.h", "share/small/manifest.json", "share/small/manifest.schema.json"}
        self.assertEqual(files, always | set(manifest["files"]))
        made = self.folder_for_make()
        self.run_command("make", "-s", "-C", self.dist, f"BUILD={made}", "CFLAGS=-march=rv32im -mabi=ilp32 -Werror")
        for kernel in manifest["kernels"]:
            soft = kernel["soft_core"]
            self.assertLessEqual(soft["counts"]["stack_bytes"], soft["stack_bytes"])
            self.assertLessEqual(soft["stack_bytes"], 512)
            self.assertIn(f"| `{soft['function']}` | {soft['cycles']} |", readme)
            file = made / f"{soft['function']}.o"
            symbols = self.run_command("riscv64-unknown-elf-nm", "-u", file).stdout.decode().split()
            self.assertLessEqual(set(symbols), {"U", "memcpy", "memset"}, soft["function"])
            sizes = self.run_command("riscv64-unknown-elf-size", "-A", file).stdout.decode().split("\n")
            packs = f".text.{soft['function']}_pack"
            text = sum(int(s.split()[1]) for s in sizes if s.startswith(".text") and not s.startswith(packs))
            self.assertEqual(text, soft["text_bytes"])

    def test_layers_share_code(self):
        database = self.folder / "k.db"
        tune = [BINARIES / "kiln", "tune", "--workloads", self.workloads(SHARING), "--target", "rv32im", "--db", database]
        self.run_command(*tune, "--trials", "1", "--algorithm", "shared_*")
        answer = self.build(SHARING, "--db", database, "--max-text", "12k")
        self.check_results(SHARING)
        manifest = self.manifest()
        shared = {code["function"]: code for code in manifest["shared_code"]}
        self.assertEqual({f: code["layers"] for f, code in shared.items()}, {"small_shared_depthwise": 2, "small_shared_dense": 3})
        made = self.folder_for_make()
        self.run_command("make", "-s", "-C", self.dist, f"BUILD={made}", "CFLAGS=-march=rv32im -mabi=ilp32 -Werror")
        code = 0
        for kernel in manifest["kernels"]:
            soft = kernel["soft_core"]
            self.assertIn(soft["shared_code"], shared)
            self.assertEqual((soft["text_bytes"], soft["rodata_bytes"]), (0, 0))
            self.assertIn(f"| `{soft['function']}`, in `{soft['shared_code']}` | {soft['cycles']} |",
                          (self.dist / "README.md").read_text())  # fmt: skip
        for function, of in shared.items():
            sizes = self.run_command("riscv64-unknown-elf-size", "-A", made / f"{function}.o").stdout.decode().split("\n")
            self.assertEqual(sum(int(s.split()[1]) for s in sizes if s.startswith(".text")), of["text_bytes"])
            code += of["text_bytes"] + of["rodata_bytes"]
        self.assertIn(f"cycles in all; code {code} bytes", answer.stdout.decode())
        # What the database says of them agrees, and is the least that is possible.
        query = [BINARIES / "kiln", "query", "pareto", "--db", database, "--format", "json"]
        self.assertEqual([row["text_bytes"] for row in json.loads(self.run_command(*query).stdout)], [code])
        message = self.build(SHARING, "--db", database, "--max-text", str(code - 1), status=1).stderr.decode()
        self.assertIn(f"have {code} bytes of code together", message)

    def test_trials_choose_and_are_named(self):
        database = self.folder / "k.db"
        tune = [BINARIES / "kiln", "tune", "--workloads", self.workloads(LAYERS[:1]), "--target", "rv32im", "--db", database]
        self.run_command(*tune, "--trials", "3")
        answer = self.build(LAYERS[:2], "--db", database)
        self.assertIn("2 kernels, 1 tuned, 1 untuned, 0 stale", answer.stdout.decode())
        kernels = {kernel["name"]: kernel for kernel in self.manifest()["kernels"]}
        tuned = kernels["depthwise"]
        self.assertEqual(tuned["measurement"]["median"], tuned["soft_core"]["cycles"])
        self.assertIn(f"trial {tuned['trial']['id'][:8]}", (self.dist / "README.md").read_text())
        self.assertIsNone(kernels["two pixels a word"]["trial"])
        # Counts of another core are other counts.
        core = self.folder / "core.json"
        core.write_text('{"format": "core/1", "load_cycles": 2}')
        answer = self.build(LAYERS[:2], "--db", database, "--core", str(core))
        self.assertIn("0 tuned, 2 untuned", answer.stdout.decode())

    def test_budgets_choose_over_all_layers(self):
        database = self.folder / "k.db"
        tune = [BINARIES / "kiln", "tune", "--workloads", self.workloads(LAYERS[:2]), "--target", "rv32im", "--db", database]
        self.run_command(*tune, "--trials", "6", "--seed", SEED)
        query = [BINARIES / "kiln", "query", "pareto", "--db", database, "--format", "json"]
        rows = json.loads(self.run_command(*query).stdout)
        self.assertTrue(all(a["text_bytes"] < b["text_bytes"] and a["cycles"] > b["cycles"] for a, b in zip(rows, rows[1:])))
        self.assertEqual({len(row["trials"].split()) for row in rows}, {2})
        picture = self.folder / "pareto.svg"
        self.run_command(*query, "--svg", picture)
        dots = xml.etree.ElementTree.parse(picture).getroot().findall("{http://www.w3.org/2000/svg}circle")
        self.assertLessEqual(1, len(dots))
        self.assertLessEqual(len(dots), len(rows))
        message = self.run_command(query[0], "query", "best", "--db", database, "--svg", picture, status=2).stderr.decode()
        self.assertIn("query best: --svg is for `query pareto`", message)

        def built(*budget):
            self.build(LAYERS[:2], "--db", database, *budget)
            kernels = [kernel["soft_core"] for kernel in self.manifest()["kernels"]]
            code = sum(kernel["text_bytes"] + kernel["rodata_bytes"] for kernel in kernels)
            return code, sum(kernel["cycles"] for kernel in kernels)

        free = built()
        self.assertEqual(built("--max-text", "1M"), free)
        message = self.build(LAYERS[:2], "--db", database, "--max-text", "100", status=1).stderr.decode()
        least = int(re.search(r"the smallest kernels of all 2 layers have (\d+) bytes of code together", message)[1])
        self.assertRegex(message, r"The largest are \d+ bytes for [^\\]+$")  # in one line, as every error
        code, cycles = built("--max-text", str(least + 200))
        self.assertLessEqual(code, least + 200)
        self.assertLessEqual(free[1], cycles)
        message = self.build(LAYERS[:2], "--db", database, "--max-stack", "4", status=1).stderr.decode()
        self.assertEqual(len(re.findall(r"no kernel fits; --max-stack 4, and the least is \d+ bytes of stack", message)), 2)
        self.assertNotIn("\\n", message)
        # Layers that nobody tuned have their default.
        self.build(LAYERS[:3], "--db", database, "--max-text", "1M", "--max-workspace", "64k")
        self.build(LAYERS[:3], "--max-text", "10", status=1)

    def test_packages_replace_packages_and_nothing_else(self):
        self.build(LAYERS[:2])
        first = {p.name for p in (self.dist / "src").iterdir()}
        self.build(LAYERS[:1])
        self.assertLess({p.name for p in (self.dist / "src").iterdir()}, first)
        self.assertEqual([p.name for p in self.folder.iterdir() if ".kiln-" in p.name], [])
        for name in ("src/mine.c", "src/small_mine.c", "main.c"):
            mine = self.dist / name
            mine.write_text("int mine;\n")
            answer = self.build(LAYERS[:1], status=2)
            self.assertIn(f"has `{name}` besides the package small", answer.stderr.decode())
            mine.unlink()
        for name in ("Makefile", "CMakeLists.txt"):
            text = (self.dist / name).read_text()
            (self.dist / name).write_text("# mine\n")
            self.assertIn(f"has `{name}` besides", self.build(LAYERS[:1], status=2).stderr.decode())
            (self.dist / name).write_text(text)
        # A manifest that lists what no package has.
        manifest = self.dist / "share" / "small" / "manifest.json"
        listed = json.loads(manifest.read_text())
        listed["files"] += ["main.c", "../small.json", "/etc/passwd", "src/small_../x.c", 7]
        manifest.write_text(json.dumps(listed))
        (self.dist / "main.c").write_text("int mine;\n")
        self.build(LAYERS[:1], status=2)
        (self.dist / "main.c").unlink()
        self.build(LAYERS[:1])
        self.assertTrue((self.folder / "small.json").exists())

    def test_cmake_makes_it_too(self):
        self.build_whole()
        cmake = os.environ["CMAKE_COMMAND"]
        where = [f"-DCMAKE_MAKE_PROGRAM={os.environ['CMAKE_MAKE_PROGRAM']}", "-G", "Ninja"]
        cross = [f"-DCMAKE_C_COMPILER={GCC}", "-DCMAKE_SYSTEM_NAME=Generic", "-DCMAKE_SYSTEM_PROCESSOR=riscv32",
                 "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY",
                 "-DCMAKE_C_FLAGS=-march=rv32im -mabi=ilp32 -ffreestanding"]  # fmt: skip
        self.run_command(cmake, "-S", self.dist, "-B", self.folder / "cmake", *where, *cross)
        self.run_command(cmake, "--build", self.folder / "cmake")
        self.assertTrue((self.folder / "cmake" / "libsmall.a").exists())

    def test_what_cannot_be_built_says_why(self):
        core = self.folder / "core.json"
        core.write_text('{"format": "core/2"}')
        f32 = {"name": "a", "op": "conv2d", "input": [1, 4, 4, 4], "kernel": [1, 1, 4, 4]}
        rows = [
            ([LAYERS[0]], ["--target", "rv32im,baseline"], 2, "target rv32im is a soft core, whose package is C sources"),
            ([LAYERS[0]], ["--target", "baseline", "--core", str(core)], 2, "--core is for soft cores"),
            ([LAYERS[0]], ["--fallback"], 2, "--fallback: packages for soft cores have no kernel for any sizes"),
            ([LAYERS[0]], ["--max-text", "12x"], 2, "--max-text 12x: needs a number of bytes, such as 12000, 32k or 1M"),
            ([LAYERS[0]], ["--max-stack", "-1"], 2, "--max-stack -1: needs a number of bytes"),
            ([LAYERS[0]], ["--target", "baseline", "--max-text", "1k"], 2, "are for soft cores, such as --target rv32im"),
            ([LAYERS[0]], ["--threads", "2"], 2, "a soft core runs one thread; got 2"),
            ([LAYERS[0]], ["--core", str(core)], 2, "format"),
            ([f32], [], 1, "a soft core has integers only"),
        ]
        for layers, arguments, status, message in rows:
            answer = self.build(layers, *arguments, status=status)
            self.assertIn(message, answer.stderr.decode())
            self.assertFalse(self.dist.exists())
        answer = self.build([LAYERS[0], f32], status=1)
        self.assertIn("1 without a kernel, see above; the package has the others", answer.stderr.decode())

    def test_a_missing_compiler_names_its_package(self):
        tools = self.folder / "bin"
        tools.mkdir()
        answer = self.build([LAYERS[0]], status=3, env={"PATH": str(tools)})
        self.assertIn("install the package gcc-riscv64-unknown-elf", answer.stderr.decode())

    def test_firmware(self):
        self.run_command(BINARIES / "kiln", "build", "--workloads", FIRMWARE / "layers.json", "--target", "rv32im", "--name",
                         "demo", "-o", self.dist)  # fmt: skip
        made, counts = self.folder_for_make(), self.folder / "counts.json"
        self.run_command("make", "-s", "-C", FIRMWARE, f"PACKAGE={self.dist}", f"BUILD={made}")
        says = b"results that differ from plain loops: 0\n"
        answer = self.run_command(BINARIES / "kiln-simulate", "--counts", counts, made / "firmware.elf")
        self.assertEqual(answer.stdout, says)
        counted = json.loads(counts.read_text())
        self.assertEqual(len(counted["marked"]), 2)
        for stretch in counted["marked"]:
            self.assertGreater(stretch["cycles"], stretch["instructions"])
            self.assertLess(stretch["cycles"], counted["whole"]["cycles"])
        if not QEMU:
            self.skipTest("no qemu-riscv32: its opinion is skipped; install qemu-user")
        self.assertEqual(self.run_command(QEMU, made / "firmware.elf").stdout, says)


if __name__ == "__main__":
    unittest.main()
