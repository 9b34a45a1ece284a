"""A package as a product gets it: moved away from where it was built, used by the examples in C, C++ and Python with only
a compiler and CMake on the path, as archive and as shared library, through find_package, pkg-config and by hand."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

import fastjsonschema
import numpy
from kiln_job import ROOT, KilnJob

sys.path.insert(0, str(ROOT / "examples"))

import kiln_package  # noqa: E402

# The README's list: the layer that the examples run.
README_LIST = json.loads(re.search(r"<<'END'\n(.*?)\n    END\n", (ROOT / "README.md").read_text(), re.DOTALL).group(1))

# That layer, with other layers around it.
LAYERS = [
    *README_LIST["workloads"],
    {"name": "pointwise", "op": "conv2d", "input": [1, 14, 14, 32], "kernel": [1, 1, 32, 48], "epilogue": ["bias", "relu"]},
]
POINTWISE = "conv2d/input:1x14x14x32/kernel:1x1x32x48/epilogue:bias,relu"
COMPILED = ("one_layer", "one_layer_cpp", "run_layers")
FORBIDDEN = re.compile(r"halide|llvm|kiln", re.IGNORECASE)  # in what a program loads


class InstalledPackageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.job = KilnJob()
        cls.job.__enter__()
        folder = cls.job.folder
        cls.job.workloads.write_text(json.dumps({"format": "workloads/1", "name": "net", "workloads": LAYERS}))
        cls.job.run("build", "--workloads", cls.job.workloads, "--target", "host,baseline", "--name", "tiny", "-o",
                    folder / "first place")  # fmt: skip
        cls.package = folder / "product" / "kernels"
        cls.package.parent.mkdir()
        shutil.move(folder / "first place", cls.package)
        cls.examples = folder / "product" / "examples"
        shutil.copytree(ROOT / "examples", cls.examples)

    @classmethod
    def tearDownClass(cls):
        cls.job.__exit__()

    def succeed(self, *command, **environment):
        """Runs a command that knows nothing of kiln or of a virtual environment."""
        clean = {"PATH": "/usr/bin:/bin", "HOME": str(self.job.folder), **environment}
        done = subprocess.run(list(map(str, command)), cwd=self.job.folder, env=clean, capture_output=True, text=True,
                              timeout=300, check=False)  # fmt: skip
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}{done.stderr}")
        return done.stdout

    def build_examples(self, name, *options):
        folder = self.job.folder / name
        cmake = os.environ.get("CMAKE_COMMAND", "cmake")
        configure = [cmake, "-S", self.examples, "-B", folder, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={self.package}",
                     "-DKILN_PACKAGE=tiny", *options]  # fmt: skip
        if "CMAKE_MAKE_PROGRAM" in os.environ:
            configure.append(f"-DCMAKE_MAKE_PROGRAM={os.environ['CMAKE_MAKE_PROGRAM']}")
        self.succeed(*configure)
        self.succeed(cmake, "--build", folder)
        return folder

    def check_programs(self, folder, own_library):
        for name in COMPILED:
            output = self.succeed(folder / name)
            self.assertIn("ok", output)
            self.assertNotIn("WRONG", output)
            libraries = {line.split()[0] for line in self.succeed("/usr/bin/ldd", folder / name).splitlines()}
            self.assertEqual("libtiny.so" in libraries, own_library)
            self.assertEqual([l for l in libraries if FORBIDDEN.search(l)], [])

    def test_cmake_with_the_archive(self):
        self.check_programs(self.build_examples("static"), own_library=False)

    def test_cmake_with_the_shared_library(self):
        self.check_programs(self.build_examples("shared", "-DKILN_SHARED=ON"), own_library=True)

    def test_python(self):
        done = subprocess.run([sys.executable, str(self.examples / "one_layer.py"), str(self.package / "lib/libtiny.so")],
                              capture_output=True, text=True, timeout=120, check=False)  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("ok", done.stdout)
        self.assertIn("untuned", done.stdout)

    def test_an_operand_is_given_in_each_call(self):
        """The array of an earlier call may be gone: its memory is not read again."""
        layer = kiln_package.Layer(kiln_package.Package(self.package / "lib/libtiny.so").find(POINTWISE))
        x, y = numpy.ones((1, 14, 14, 32), "f4"), numpy.empty((1, 14, 14, 48), "f4")
        layer.pack(numpy.ones((1, 1, 32, 48), "f4"))
        for _ in range(2):  # the weights are given once
            layer.run(x, y, bias=numpy.full(48, 10, "f4"))
            self.assertEqual((y.min(), y.max()), (42, 42))
        y.fill(7)
        with self.assertRaises(kiln_package.KilnError) as refused:
            layer.run(x, y)
        self.assertIn("bias", str(refused.exception))
        self.assertEqual((y.min(), y.max()), (7, 7))
        with self.assertRaisesRegex(TypeError, "no tensor biass"):
            layer.run(x, y, biass=numpy.full(48, 10, "f4"))

    def test_examples_name_the_layer_that_a_package_lacks(self):
        lacking = self.job.folder / "lacking"
        self.job.run("build", "--workloads", self.job.workloads, "--filter", "*/pointwise", "--name", "tiny", "-o",
                     lacking)  # fmt: skip
        program = self.job.folder / "of another package"
        definitions = ["-DPACKAGE_HEADER=<tiny.h>", "-DPACKAGE_CPP_HEADER=<tiny/kiln.hpp>", "-DPACKAGE=tiny_package"]
        commands = [[sys.executable, self.examples / "one_layer.py", lacking / "lib/libtiny.so"]]
        for compiler, source in (("cc", "one_layer.c"), ("c++", "one_layer.cpp")):
            built = program.with_suffix(pathlib.Path(source).suffix + ".out")
            self.succeed(compiler, *definitions, self.examples / source, "-I", lacking / "include",
                         lacking / "lib/libtiny.a", "-lm", "-pthread", "-o", built)  # fmt: skip
            commands.append([built])
        for command in commands:
            with self.subTest(command[0]):
                done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=120, check=False)
                self.assertEqual(done.returncode, 1, done.stdout)
                self.assertIn("conv2d/input:1x56x56x64/kernel:3x3x64x64/padding:1,1x1,1", done.stderr)
                self.assertIn("no kernel for this workload", done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_the_calls_of_a_packages_readme_are_c99(self):
        [block] = re.findall(r"```c\n(.*?)```", (self.package / "README.md").read_text(), re.DOTALL)
        directives = [line for line in block.splitlines() if line.startswith("#")]
        statements = [line for line in block.splitlines() if not line.startswith("#")]
        # As many numbers as the largest tensor has.
        operands = [f"static float {name}[1 << 18];" for name in sorted(set(re.findall(r"your_\w+", block)))]
        self.assertIn("static float your_input[1 << 18];", operands)
        source = self.job.folder / "readme.c"
        source.write_text("\n".join([*directives, *operands, "int main(void) {", *statements, "return 0; }", ""]))
        program = self.job.folder / "readme"
        self.succeed("cc", "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", source, "-I", self.package / "include",
                     self.package / "lib/libtiny.a", "-lm", "-pthread", "-o", program)  # fmt: skip
        self.succeed(program)

    def test_python_is_told_what_is_wrong(self):
        for library in ("/nowhere/libtiny.so", self.package / "README.md"):
            done = subprocess.run([sys.executable, str(self.examples / "one_layer.py"), str(library)],
                                  capture_output=True, text=True, timeout=120, check=False)  # fmt: skip
            self.assertEqual(done.returncode, 1)
            self.assertTrue(done.stderr.startswith("one_layer.py: "), done.stderr)

    def test_by_hand_without_warnings(self):
        program = self.job.folder / "by_hand"
        definitions = ["-DPACKAGE_HEADER=<tiny.h>", "-DPACKAGE_CPP_HEADER=<tiny/kiln.hpp>", "-DPACKAGE=tiny_package"]
        strict = ["-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
        for compiler in (["cc", "-std=c99", "one_layer.c"], ["c++", "-std=c++17", "one_layer.cpp"]):
            *compiler, source = compiler
            self.succeed(*compiler, *strict, *definitions, self.examples / source, "-I", self.package / "include",
                         self.package / "lib/libtiny.a", "-lm", "-pthread", "-o", program)  # fmt: skip
            self.assertIn("ok", self.succeed(program))

    @unittest.skipUnless(shutil.which("pkg-config", path="/usr/bin"), "pkg-config is not installed")
    def test_pkg_config(self):
        path = {"PKG_CONFIG_PATH": str(self.package / "lib/pkgconfig")}
        # Folders with blanks come quoted for a shell, which `cc $(pkg-config ...)` in a build script is.
        for name in ("tiny", "tiny-shared"):
            flags = self.succeed("pkg-config", "--cflags", "--libs", name, **path)
            program = self.job.folder / f"with {name}"
            command = (f"cc -std=c99 '-DPACKAGE_HEADER=<tiny.h>' -DPACKAGE=tiny_package '{self.examples}/one_layer.c' "
                       f"-o '{program}' {flags.strip()} -lm")  # fmt: skip
            self.succeed("/bin/sh", "-c", command)
            self.assertIn("ok", self.succeed(program, LD_LIBRARY_PATH=str(self.package / "lib")))

    def test_the_manifest_is_valid(self):
        share = self.package / "share/tiny"
        validate = fastjsonschema.compile(json.loads((share / "manifest.schema.json").read_text()))
        manifest = json.loads((share / "manifest.json").read_text())
        validate(manifest)
        self.assertEqual(len(manifest["kernels"]), 2 * len(LAYERS))
        del manifest["kernels"][0]["object_hash"]
        with self.assertRaises(fastjsonschema.JsonSchemaException):
            validate(manifest)

    def test_nothing_names_the_place_where_it_was_built(self):
        for path in self.package.rglob("*"):
            if path.is_file():
                content = path.read_bytes()
                self.assertNotIn(str(self.job.folder).encode(), content, path)
                self.assertNotIn(str(ROOT).encode(), content, path)


if __name__ == "__main__":
    unittest.main()
