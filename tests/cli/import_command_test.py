"""Runs the real `kiln import` and `kiln explain --network` on models of the conformance suites and on damaged ones. Usage:
import_command_test.py PATH_OF_KILN [unittest's arguments]"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

KILN = None
SUITES = pathlib.Path(__file__).parent.parent / "conformance"
SMALL = SUITES / "onnx_graph" / "n01_residual_broadcast.onnx"
MOBILENET = SUITES / "onnx_graph" / "n03_mobilenetv2.onnx"
DYNAMIC = SUITES / "networks" / "ch_ppocr_mobile_v2.0_cls_mobile.onnx"  # its input x is ?x3x?x?
SHUFFLE = SUITES / "onnx_node" / "test_spacetodepth.onnx"


def kiln(*arguments, folder=None):
    return subprocess.run([KILN, *map(str, arguments)], cwd=folder, capture_output=True, text=True, timeout=120)


class WithFolder(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def run_kiln(self, *arguments, status=0):
        done = kiln(*arguments, folder=self.folder)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def changed(self, name, old, new, model=SMALL):
        """A copy of a model in which `old` is `new`, of the same length."""
        self.assertEqual(len(old), len(new))
        data = model.read_bytes()
        self.assertIn(old, data)
        (self.folder / name).write_bytes(data.replace(old, new))
        return name


class Import(WithFolder):
    def test_layers_have_names_and_counts(self):
        done = self.run_kiln("import", MOBILENET, "-o", "layers.json")
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"^kiln: .*n03_mobilenetv2.onnx: \d+ calls of \d+ distinct kernels")
        layers = json.loads((self.folder / "layers.json").read_text())
        self.assertEqual(layers["format"], "workloads/1")
        self.assertEqual(layers["name"], "n03_mobilenetv2")
        self.assertTrue(all(layer["count"] >= 1 and layer["name"] for layer in layers["workloads"]))
        self.assertEqual({layer["op"] for layer in layers["workloads"]}, {"conv2d", "nest"})
        calls = int(re.search(r"(\d+) calls", done.stderr)[1])
        self.assertEqual(sum(layer["count"] for layer in layers["workloads"]), calls)
        fused = [layer for layer in layers["workloads"] if "bias" in layer.get("epilogue", [])]
        self.assertTrue(fused)
        # Other commands read it.
        self.run_kiln("explain", "--workloads", "layers.json")

    def test_without_output_the_list_goes_to_stdout(self):
        done = self.run_kiln("import", SMALL)
        layers = json.loads(done.stdout)
        self.run_kiln("import", SMALL, "-o", "layers.json")
        self.assertEqual(json.loads((self.folder / "layers.json").read_text()), layers)

    def test_shuffles_are_layers(self):
        layers = json.loads(self.run_kiln("import", SHUFFLE).stdout)["workloads"]
        self.assertEqual({layer["op"] for layer in layers}, {"nest"})

    def test_open_shapes_are_stated(self):
        done = self.run_kiln("import", DYNAMIC, status=2)
        self.assertIn("--shape x=", done.stderr)
        done = self.run_kiln("import", DYNAMIC, "--shape", "x=1x3x48x192")
        inputs = [layer.get("input") for layer in json.loads(done.stdout)["workloads"]]
        self.assertIn([1, 48, 192, 3], inputs)

    def test_shapes_that_do_not_fit(self):
        for shapes, message in (
            (["x=1x3x48"], "does not fit"),
            (["x=1x4x48x192"], "does not fit"),
            (["y=1"], "'y' is no input of the model; its inputs are 'x'"),
            (["x=1x3xHx192"], "`H` is no extent; write NAME=1x3x480x480"),
            (["x=1x3x48x192", "x=1x3x48x192"], "`x` has two shapes"),
            (["1x3x48x192"], "has no name and shape"),
        ):
            options = [word for shape in shapes for word in ("--shape", shape)]
            done = self.run_kiln("import", DYNAMIC, *options, "-o", "layers.json", status=2)
            self.assertIn(message, done.stderr)
            self.assertFalse((self.folder / "layers.json").exists())

    def test_outputs_end_the_network(self):
        done = self.run_kiln("import", SMALL, "--outputs", "t2_relu")
        layers = json.loads(done.stdout)["workloads"]
        self.assertEqual([layer["epilogue"] for layer in layers if layer["op"] == "conv2d"], [["bias", "relu"]])
        # In the order of the options; what is between inputs and outputs stays.
        text = self.run_kiln("explain", "--network", SMALL, "--outputs", "t4_add", "--outputs", "t2_relu", "--pass", "import").stdout
        self.assertIn("t4_add = ", text)
        self.assertNotIn("t5_add", text)
        for outputs, message in (
            (["nothing"], "--outputs: no node of the model computes `nothing`"),
            (["t2_relu", "t2_relu"], "is named twice"),
        ):
            options = [word for name in outputs for word in ("--outputs", name)]
            self.assertIn(message, self.run_kiln("import", SMALL, *options, status=2).stderr)

    def test_unknown_operators_are_listed_all_at_once(self):
        name = self.changed("odd.onnx", b"Relu", b"Rel\x1b")
        lines = self.run_kiln("import", name, "-o", "layers.json", status=2).stderr.splitlines()
        self.assertTrue(lines[0].startswith("kiln: odd.onnx: "), lines)
        self.assertGreaterEqual(len([line for line in lines if "Rel" in line]), 2, lines)
        self.assertNotIn("\x1b", "".join(lines))
        self.assertFalse((self.folder / "layers.json").exists())

    def test_files_that_are_no_models(self):
        data = SMALL.read_bytes()
        for name, content, message in (
            ("cut.onnx", data[: len(data) // 2], "not an ONNX model: it ends in the middle of a field"),
            ("empty.onnx", b"", "not an ONNX model: it is empty"),
            ("lfs.onnx", b"version https://git-lfs.github.com/spec/v1\n", "Git LFS pointer"),
            ("m.pt", b"PK\x03\x04", "zip archive"),
        ):
            (self.folder / name).write_bytes(content)
            for command in (["import", name], ["explain", "--network", name]):
                done = self.run_kiln(*command, status=2)
                self.assertTrue(done.stderr.startswith(f"kiln: {name}: "), done.stderr)
                self.assertIn(message, done.stderr)
                self.assertEqual(done.stdout, "")

    def test_files_that_cannot_be_read_or_written(self):
        self.assertIn("No such file", self.run_kiln("import", "lost.onnx", status=2).stderr)
        self.assertIn("is a folder", self.run_kiln("import", ".", status=2).stderr)
        (self.folder / "file").write_text("")
        self.run_kiln("import", SMALL, "-o", "file/layers.json", status=3)
        if os.path.exists("/dev/full"):
            self.run_kiln("import", SMALL, "-o", "/dev/full", status=3)

    def test_a_network_without_layers(self):
        done = self.run_kiln("import", SUITES / "onnx_node" / "test_shape_opset9.onnx", "-o", "layers.json", status=2)
        self.assertIn("0 calls of 0 distinct kernels, 1 copies; nothing to write", done.stderr)
        self.assertFalse((self.folder / "layers.json").exists())

    def test_names_of_layers_can_be_shown(self):
        layers = json.loads(self.run_kiln("import", SMALL).stdout)["workloads"]
        name = layers[0]["name"].encode()
        odd = self.changed("odd.onnx", name, b"\x1b\n\xff"[: len(name)].ljust(len(name), b"x"))
        self.run_kiln("import", odd, "-o", "layers.json")
        text = (self.folder / "layers.json").read_bytes()
        self.assertNotIn(b"\x1b", text)
        self.run_kiln("explain", "--workloads", "layers.json")


class ExplainNetwork(WithFolder):
    def explain(self, *options, status=0):
        return self.run_kiln("explain", "--network", MOBILENET, *options, status=status)

    def test_the_graph_after_any_pass(self):
        before, after = self.explain("--pass", "import").stdout, self.explain().stdout
        self.assertEqual(self.explain("--pass", "fuse_elementwise").stdout, after)
        self.assertGreater(len(before.splitlines()), len(after.splitlines()))
        self.assertIn("convolution", after)
        done = self.explain("--pass", "magic", status=2)
        self.assertIn("--pass: there is no `magic`; there are import, ", done.stderr)

    def test_graphviz(self):
        text = self.explain("--format", "dot").stdout
        self.assertTrue(text.startswith("digraph"), text[:100])
        self.assertEqual(text.count("{"), text.count("}"))

    def test_options_that_do_not_fit(self):
        for arguments, message in (
            (["--network", SMALL, "--format", "json"], "text or dot"),
            (["--network", SMALL, "--workloads", "w.json"], "explain needs one of"),
            (["--network", SMALL, "dist"], "explain needs one of"),
            ([], "explain needs one of"),
            (["dist", "--pass", "fuse_epilogues"], "--pass needs --network"),
            (["dist", "--shape", "x=1"], "--shape needs --network"),
            (["dist", "--format", "dot"], "--format text and dot need --network"),
            (["--network", SMALL, "--format", "svg"], "svg"),
        ):
            done = self.run_kiln("explain", *arguments, status=2)
            self.assertIn(message, done.stderr)


if __name__ == "__main__":
    KILN = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
