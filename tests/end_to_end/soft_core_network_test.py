"""Networks for soft cores: `kiln build --network --target rv32im`, the user's C compiler, and the program in simulation.

Skipped where there is no compiler for RISC-V. qemu-riscv32 is a second opinion where it is installed.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import fastjsonschema
import numpy
import onnx_writer
from kiln_job import BINARIES, ROOT, KilnJob

GCC = "riscv64-unknown-elf-gcc"
QEMU = shutil.which("qemu-riscv32")
SEED = int(os.environ.get("KILN_TEST_SEED", "1"))
HERE = ROOT / "tests" / "end_to_end"
SUITES = ROOT / "tests" / "conformance"
FIRMWARE = ROOT / "examples" / "soft_core"
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
C_TYPES = {"i8": "int8_t", "u8": "uint8_t", "i32": "int32_t", "f32": "float"}

# Cases of conformance suites: what networks with quanta at both ends answer is known. A run takes one in five, which ones the
# seed says (tests/test_seed.h).
ALL_CASES = (("onnx_int8", "qdq_block_00"), ("onnx_int8", "qdq_concat_00"), ("onnx_int8", "qdq_pool_00"),
             ("onnx_int8", "qlinearconv_31"), ("onnx_int8", "test_qlinearmatmul_2D_uint8_float32"),
             ("onnx_int8", "test_dequantizelinear"), ("networks", "visual_wake_words_in1"))  # fmt: skip

CASES = [case for i, case in enumerate(ALL_CASES) if int(os.environ.get("KILN_TEST_ALL", "0")) or (i + SEED) % 5 == 0]


class Quantized:
    """A network of convolutions, pools, an addition and a product, between QuantizeLinear and DequantizeLinear."""

    def __init__(self, seed):
        self.random = numpy.random.default_rng(seed)
        self.nodes, self.constants = [], {}

    def constant(self, array):
        name = f"c{len(self.constants)}"
        self.constants[name] = array
        return name

    def node(self, op, inputs, **attributes):
        self.nodes.append(onnx_writer.node(op, inputs, f"t{len(self.nodes)}", **attributes))
        return f"t{len(self.nodes) - 1}"

    def numbers(self, scale, zero_point, dtype="int8"):
        return [self.constant(numpy.float32(scale)), self.constant(numpy.array(zero_point, dtype))]

    def stored(self, value, scale, zero_point):
        """Between quantization and dequantization."""
        quantized = self.node("QuantizeLinear", [value, *self.numbers(scale, zero_point)])
        return self.node("DequantizeLinear", [quantized, *self.numbers(scale, zero_point)])

    def weights(self, shape, scale, bias_scale):
        kernel = self.constant(self.random.integers(-128, 128, shape).astype("int8"))
        bias = self.constant(self.random.integers(-2000, 2000, shape[0]).astype("int32"))
        return [self.node("DequantizeLinear", [kernel, *self.numbers(scale, 0)]),
                self.node("DequantizeLinear", [bias, self.constant(numpy.float32(bias_scale))])]  # fmt: skip

    def convolution(self, value, shape, group=1):
        scale = numpy.float32(0.03)
        inputs = [value, *self.weights(shape, 0.004, scale * numpy.float32(0.004))]
        return self.node("Conv", inputs, kernel_shape=list(shape[2:]), pads=[shape[2] // 2] * 4, group=group)

    def model(self):
        x = self.stored("x", 0.03, -7)
        x = self.stored(self.node("Relu", [self.convolution(x, (8, 3, 3, 3))]), 0.03, -128)
        x = self.node("MaxPool", [x], kernel_shape=[2, 2], strides=[2, 2])
        a = self.stored(self.convolution(x, (8, 1, 3, 3), group=8), 0.03, 3)
        b = self.stored(self.convolution(x, (8, 8, 1, 1)), 0.03, 11)
        x = self.stored(self.node("Add", [a, b]), 0.05, 2)
        x = self.stored(self.node("Sigmoid", [x]), 0.0039, -128)
        x = self.stored(self.node("GlobalAveragePool", [x]), 0.004, -100)
        x = self.node("Flatten", [x])
        weights, bias = self.weights((5, 8), 0.01, numpy.float32(0.004) * numpy.float32(0.01))
        x = self.stored(self.node("Gemm", [x, weights, bias], transB=1), 0.02, 17)
        nodes = [*self.nodes, onnx_writer.node("Identity", [x], "y")]
        return onnx_writer.model(nodes, self.constants, {"x": (1, 3, 9, 8)}, {"y": (1, 5)}, opset=13)


@unittest.skipUnless(shutil.which(GCC), f"no {GCC}: install gcc-riscv64-unknown-elf")
class SoftCoreNetwork(unittest.TestCase):
    def setUp(self):
        self.job = self.enterContext(KilnJob())
        self.folder = self.job.folder
        self.dist = self.folder / "dist"

    def run_command(self, *command, status=0, **options):
        answer = subprocess.run([str(word) for word in command], env=self.job.environment, capture_output=True, timeout=900,
                                **options)  # fmt: skip
        self.assertEqual(answer.returncode, status, answer.stderr.decode()[-2000:])
        return answer

    def build(self, model, *arguments, status=0):
        command = [BINARIES / "kiln", "build", "--network", model, "--target", "rv32im", "--name", "small", "-o", self.dist]
        return self.run_command(*command, *arguments, status=status)

    def description(self):
        share = self.dist / "share" / "small"
        manifest = json.loads((share / "manifest.json").read_text())
        fastjsonschema.compile(json.loads((share / "manifest.schema.json").read_text()))(manifest)
        files = {str(p.relative_to(self.dist)) for p in self.dist.rglob("*") if p.is_file()}
        always = {"README.md", "include/small.h", "share/small/manifest.json", "share/small/manifest.schema.json"}
        self.assertEqual(files, always | set(manifest["files"]))
        return manifest

    def answers(self, inputs):
        """What the package computes, as people compile it: for the core, and for this machine."""
        network = self.description()["soft_core_network"]
        lines = ["#include <stddef.h>", "#include <small.h>"]
        for port, array in zip(network["inputs"], inputs, strict=True):
            content = ",".join(str(byte) for byte in array.tobytes())
            lines.append(f"static const union {{ unsigned char bytes[{array.nbytes}]; {C_TYPES[port['dtype']]} first; }} "
                         f"{port['parameter']} = {{{{{content}}}}};")  # fmt: skip
        for port in network["outputs"]:
            lines.append(f"static {C_TYPES[port['dtype']]} {port['parameter']}[{max(1, numpy.prod(port['shape'], dtype=int))}];")
        arguments = [f"&{port['parameter']}.first" for port in network["inputs"]]
        outputs = [port["parameter"] for port in network["outputs"]]
        lines.append(f"#define CALL {network['function']}({', '.join(arguments + outputs)})")
        lines.append("#define WRITE " + ", ".join(f"write_bytes({name}, sizeof {name})" for name in outputs))
        (self.folder / "network_inputs.h").write_text("\n".join(lines) + "\n")
        sources = sorted((self.dist / "src").glob("*.c"))
        include = ["-I", self.dist / "include", "-I", self.folder, "-I", FIRMWARE]
        firmware, program = self.folder / "firmware.elf", self.folder / "program"
        objects = []
        for source in sources:
            objects.append(self.folder / (source.stem + ".o"))
            self.run_command(GCC, *STRICT, "-O2", "-march=rv32im", "-mabi=ilp32", "-ffreestanding", *include, "-c", source,
                             "-o", objects[-1])  # fmt: skip
            allowed = {"U", "memcpy", "memset"} if source.stem != "small_run" else None
            symbols = self.run_command("riscv64-unknown-elf-nm", "-u", objects[-1]).stdout.decode().split()
            self.assertTrue(allowed is None or set(symbols) <= allowed, (source, symbols))
        board = [FIRMWARE / "start.S", FIRMWARE / "console.c", HERE / "soft_core_network.c"]
        self.run_command(GCC, "-std=c99", "-O1", "-march=rv32im", "-mabi=ilp32", "-ffreestanding", *include, "-nostdlib",
                         "-fno-tree-loop-distribute-patterns", f"-Wl,-T,{FIRMWARE}/link.ld", *board, *objects, "-o", firmware)  # fmt: skip
        self.run_command("cc", *STRICT, "-O1", "-fsanitize=undefined", "-fno-sanitize-recover=undefined", *include, *sources,
                         HERE / "soft_core_network.c", "-o", program)  # fmt: skip
        native = self.run_command(program).stdout
        self.assertEqual(self.run_command(BINARIES / "kiln-simulate", firmware).stdout, native)
        if QEMU:
            self.assertEqual(self.run_command(QEMU, firmware).stdout, native)
        return native

    def stored(self, numbers, port):
        """An input as the network takes it: the caller quantizes, where the port says how."""
        if "scale" not in port:
            return numbers
        ends = (-128, 127) if port["dtype"] == "i8" else (0, 255)
        quanta = numpy.rint(numbers / numpy.float32(port["scale"])) + port["zero_point"]
        return numpy.clip(quanta, *ends).astype(C_TYPES[port["dtype"]].removesuffix("_t"))

    def numbers(self, stored, port):
        """Bytes of what the model answers: the caller dequantizes, where the port says how."""
        if "scale" not in port:
            return stored
        numbers = numpy.frombuffer(stored, {"i8": "int8", "u8": "uint8"}[port["dtype"]]).astype("f4") - port["zero_point"]
        return (numbers * numpy.float32(port["scale"])).astype("f4").tobytes()

    def test_results_are_those_of_the_suites(self):
        for suite, name in CASES:
            with self.subTest(name):
                cases = json.loads((SUITES / f"{suite}.json").read_text())["cases"]
                case = next(case for case in cases if case["id"] == name)
                arrays = {role: [] for role in ("input", "expected")}
                for tensor in case["tensors"].values():
                    if tensor["role"] in arrays:
                        arrays[tensor["role"]].append(numpy.load(SUITES / tensor["file"]))
                shapes = case["attrs"].get("input_shapes", {})
                self.build(SUITES / case["model"], *[f"--shape={n}={'x'.join(map(str, s))}" for n, s in shapes.items()])
                (expected,) = arrays["expected"]
                ports = self.description()["soft_core_network"]["inputs"]
                got = self.answers([self.stored(array, port) for array, port in zip(arrays["input"], ports, strict=True)])
                self.assertEqual(self.numbers(got, self.description()["soft_core_network"]["outputs"][0]), expected.tobytes())

    def test_the_caller_quantizes_inputs_and_dequantizes_outputs(self):
        model = self.folder / "q.onnx"
        model.write_bytes(Quantized(SEED).model())
        answer = self.build(model)
        self.assertRegex(answer.stdout.decode(), r"small_run\(\): \d+ steps, \d+ cycles; code \d+ bytes, constants ")
        network = self.description()["soft_core_network"]
        (given,), (made,) = network["inputs"], network["outputs"]
        self.assertEqual((given["dtype"], given["shape"], given["zero_point"]), ("i8", [1, 3, 9, 8], -7))
        self.assertEqual((made["dtype"], made["shape"], made["zero_point"]), ("i8", [1, 5], 17))
        header = (self.dist / "include" / "small.h").read_text()
        for line in ("#define SMALL_INPUT_SCALE 0.0299999993f", "#define SMALL_OUTPUT_ZERO_POINT (17)",
                     "void small_run(const int8_t *input, int8_t *output);"):  # fmt: skip
            self.assertIn(line, header)
        plan = self.job.run("explain", "--network", model, "--target", "rv32im", "--pass", "plan")
        self.assertIn("left to the caller: quantizing input x by scale 0.0299999993 and zero point -7", plan)
        self.check_drawn_model(model)

    def check_drawn_model(self, model):
        """The package that was built of a model of Quantized, beside kernels of this machine."""
        network = self.description()["soft_core_network"]
        x = numpy.random.default_rng(SEED).normal(0, 1.5, (1, 3, 9, 8)).astype("f4")
        numpy.save(self.folder / "x.npy", x)
        self.job.run("run", "--network", model, "--input", self.folder / "x.npy", "-o", self.folder / "out")
        expected = numpy.load(self.folder / "out" / "y.npy")
        got = self.answers([self.stored(x, network["inputs"][0])])
        self.assertEqual(self.numbers(got, network["outputs"][0]), expected.tobytes())
        self.assertGreater(len(set(got)), 2)

    def check_sizes(self, manifest):
        """What the manifest says a firmware pays is what a library has that make makes."""
        made = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "made"  # make has no paths with spaces
        self.run_command("make", "-s", "-C", self.dist, f"BUILD={made}", "CFLAGS=-march=rv32im -mabi=ilp32 -Werror")
        sizes = self.run_command("riscv64-unknown-elf-size", "-t", made / "libsmall.a").stdout.decode().split("\n")[-2].split()
        network = manifest["soft_core_network"]
        self.assertEqual(int(sizes[0]), network["text_bytes"] + network["constant_bytes"])
        self.assertEqual(int(sizes[2]), network["arena_bytes"])

    def test_additions_are_integers(self):
        """All pairs of two stored numbers."""
        quantized = Quantized(SEED)
        total = quantized.node("Add", [quantized.stored("a", 0.0313, -5), quantized.stored("b", 0.0471, 7)])
        result = quantized.stored(total, 0.0623, -20)
        nodes = [*quantized.nodes, onnx_writer.node("Identity", [result], "y")]
        shape = (1, 256, 256)
        model = self.folder / "sum.onnx"
        model.write_bytes(onnx_writer.model(nodes, quantized.constants, {"a": shape, "b": shape}, {"y": shape}, opset=13))
        self.build(model)
        (kernel,) = self.description()["kernels"]
        self.assertNotIn("f32", kernel["key"])
        self.assertLess(kernel["soft_core"]["cycles"], 50 * 65536)
        every = numpy.arange(-128, 128)
        a, b = (numpy.broadcast_to(x, shape).astype("i1") for x in (every[:, None], every))
        got = self.answers([a, b])
        for name, array, scale, zero_point in (("a", a, 0.0313, -5), ("b", b, 0.0471, 7)):
            numbers = (array.astype("f4", order="C") - zero_point) * numpy.float32(scale)
            numpy.save(self.folder / f"{name}.npy", numbers)
        inputs = [word for name in "ab" for word in ("--input", f"{name}={self.folder / name}.npy")]
        self.job.run("run", "--network", model, *inputs, "-o", self.folder / "out")
        expected = numpy.load(self.folder / "out" / "y.npy")
        self.assertEqual(self.numbers(got, self.description()["soft_core_network"]["outputs"][0]), expected.tobytes())

    def test_one_result_for_all_inputs(self):
        """Steps so small that every number becomes the zero point of the next: a kernel that reads nothing."""
        quantized = Quantized(SEED)
        result = quantized.stored(quantized.stored("x", 0.0001, 0), 0.9, 4)
        nodes = [*quantized.nodes, onnx_writer.node("Identity", [result], "y")]
        model = self.folder / "one.onnx"
        model.write_bytes(onnx_writer.model(nodes, quantized.constants, {"x": (1, 256)}, {"y": (1, 256)}, opset=13))
        self.build(model)
        self.assertEqual(set(self.answers([numpy.arange(-128, 128, dtype="i1").reshape(1, 256)])), {4})

    def test_budgets_and_makefiles(self):
        model = SUITES / "onnx_int8" / "qdq_block_00.onnx"
        database = self.folder / "k.db"
        self.job.run("tune", "--network", model, "--target", "rv32im", "--db", database, "--trials", "3", "--seed", SEED)
        answer = self.build(model, "--db", database).stdout.decode()
        self.assertRegex(answer, r"(\d+) kernels, \1 tuned, 0 untuned")
        cycles = self.description()["soft_core_network"]["cycles"]
        message = self.build(model, "--db", database, "--max-text", "100", status=1).stderr.decode()
        kernels_least = int(message.split(" bytes of code together")[0].split()[-1])
        # Calls are code, too.
        message = self.build(model, "--db", database, "--max-text", str(kernels_least), status=1).stderr.decode()
        self.assertIn(f"have {kernels_least} bytes of code together, and what calls them has ", message)
        least = kernels_least + int(message.split("what calls them has ")[1].split()[0])
        self.build(model, "--db", database, "--max-text", str(least))
        manifest = self.description()
        constants = sum(kernel["soft_core"]["rodata_bytes"] for kernel in manifest["kernels"])
        self.assertEqual(manifest["soft_core_network"]["text_bytes"] + constants, least)
        self.assertGreaterEqual(manifest["soft_core_network"]["cycles"], cycles)
        self.check_sizes(manifest)

    def test_layers_share_code(self):
        model, database = self.folder / "q.onnx", self.folder / "k.db"
        model.write_bytes(Quantized(SEED).model())
        self.job.run("tune", "--network", model, "--target", "rv32im", "--db", database, "--trials", "1", "--without", "scalar_*")
        self.build(model, "--db", database, "--without", "scalar_*")
        manifest = self.description()
        readme = (self.dist / "README.md").read_text()
        for code in manifest["shared_code"]:
            of_code = [kernel["soft_core"] for kernel in manifest["kernels"] if kernel["soft_core"]["shared_code"] == code["function"]]
            self.assertEqual(len(of_code), code["layers"])
            for soft in of_code:
                self.assertEqual((soft["function"], soft["source"]), (code["function"], code["source"]))
                self.assertEqual((soft["text_bytes"], soft["rodata_bytes"]), (0, 0))
            self.assertIn(f"| `{code['function']}` | {code['layers']} | {code['text_bytes']} |", readme)
        self.assertGreater(max(code["layers"] for code in manifest["shared_code"]), 1)
        self.check_sizes(manifest)
        self.check_drawn_model(model)

    def test_inputs_that_nothing_reads_and_sums_of_floats(self):
        """What is summed up in f32 depends on the order, so it is compared with a bound."""
        model = self.folder / "mean.onnx"
        nodes = [onnx_writer.node("ReduceMean", ["x"], "y", axes=[2, 3], keepdims=1)]
        model.write_bytes(onnx_writer.model(nodes, {}, {"x": (1, 3, 7, 9), "rest": (2,)}, {"y": (1, 3, 1, 1)}, opset=13))
        self.build(model)
        x = numpy.random.default_rng(SEED).normal(0, 100, (1, 3, 7, 9)).astype("f4")
        got = numpy.frombuffer(self.answers([x, numpy.zeros(2, "f4")]), "f4")
        numpy.testing.assert_allclose(got, x.mean(axis=(2, 3), dtype="f8").ravel(), rtol=1e-4, atol=1e-3)

    def test_what_it_cannot_compute_is_named(self):
        floats = self.folder / "f32.onnx"
        nodes = [onnx_writer.node("Conv", ["x", "w"], "y", kernel_shape=[1, 1])]
        constants = {"w": numpy.ones((4, 4, 1, 1), "f4")}
        floats.write_bytes(onnx_writer.model(nodes, constants, {"x": (1, 4, 5, 5)}, {"y": (1, 4, 5, 5)}))
        quantized = SUITES / "onnx_int8" / "qdq_conv_01.onnx"
        dynamic = SUITES / "onnx_int8" / "test_dynamicquantizelinear.onnx"
        rows = [
            (floats, [], 1, "models need static quantization"),
            (floats, [], 1, "y: a soft core has integers only"),
            (dynamic, [], 1, "DynamicQuantizeLinear:y: the default of nest is not used"),
            (quantized, ["--prepare-input"], 2, "--prepare-input: packages for soft cores have one function"),
            (quantized, ["--weights", "embed"], 2, "--weights: packages for soft cores have all constants in C files"),
            (quantized, ["--fallback"], 2, "--fallback: packages for soft cores have no kernel for any sizes"),
        ]
        for model, arguments, status, message in rows:
            answer = self.build(model, *arguments, status=status)
            self.assertIn(message, answer.stderr.decode())
            self.assertFalse(self.dist.exists())
        tune = [BINARIES / "kiln", "tune", "--network", quantized, "--target", "rv32im", "--db", self.folder / "k.db"]
        answer = self.run_command(*tune, "--prepare-input", status=2)
        self.assertIn("--prepare-input: the callers of networks on soft cores", answer.stderr.decode())


if __name__ == "__main__":
    if not QEMU:
        print("no qemu-riscv32: its opinion is skipped; install qemu-user", file=sys.stderr)
    unittest.main()
