"""Networks and nests of somebody else: models that are no files, names that terminals obey, sizes and terms without sense."""

import json
import os
import time
import unittest

from kiln_job import ROOT, KilnJob

MODEL = ROOT / "tests" / "conformance" / "onnx_graph" / "n01_residual_broadcast.onnx"
# Of the model, and as many bytes in their place.
NAMES = {b"n1_Conv": b"\x1b[2J\xc2\x9b~", b"t2_relu": b"\xe2\x80\xae\n\x07\x7f\r", b"residual_broadcast": b"\"><script>\x1b]0;x\x07\xff~"}
OBEYED = [b"\x1b", b"\x07", b"\x7f", b"\r", b"\xc2\x9b", b"\xe2\x80\xae", b"\xff"]

NEST = {
    "name": "n",
    "op": "nest",
    "loops": [4, 8],
    "over": [3],
    "operands": [[4, 3], [8]],
    "reduction": "sum",
    "reads": "x0[i0,r0];x1[i1]",
    "term": "mul(x0,x1)",
}
BAD_NESTS = {
    "no loops": {"loops": []},
    "a loop of nothing": {"loops": [0, 8]},
    "too many elements": {"loops": [2**31 - 1, 2**31 - 1]},
    "a fraction": {"loops": [1.5, 8]},
    "a million loops": {"loops": [1] * 1000000},
    "a million reads": {"reads": "x0[i0,r0];" * 1000000},
    "an index of megabytes": {"reads": "x0[" + "+".join(["i0"] * 1000000) + ",r0];x1[i1]"},
    "a factor that does not fit": {"reads": f"x0[{10**30}*i0,r0];x1[i1]"},
    "a term of megabytes": {"term": "add(" * 1000000 + "x0" + ",x1)" * 1000000},
    "a deep term": {"term": "exp(" * 3000 + "x0" + ")" * 3000},
}


def balanced_term(leaves):
    """A term that is not deep but long, of functions that take time."""
    terms = [f"x{i % 16}" for i in range(leaves)]
    while len(terms) > 1:
        terms = [f"add({a},exp({b}))" for a, b in zip(terms[::2], terms[1::2])]
    return terms[0]


class Networks(unittest.TestCase):
    def run_kiln(self, job, *arguments):
        """Status, stdout and stderr of a run that neither crashes, hangs nor has a terminal obey."""
        process = job.start(*arguments)
        output, messages = process.communicate(timeout=200)
        for text in OBEYED:
            self.assertNotIn(text, (output + messages).encode())
        self.assertLess(len(messages), 20000)
        return process.returncode, output, messages

    def test_models_that_are_no_files(self):
        with KilnJob() as job:
            os.mkfifo(job.folder / "fifo")
            (job.folder / "folder").mkdir()
            (job.folder / "link").symlink_to("fifo")
            (job.folder / "loop").symlink_to("loop")
            with open(job.folder / "sparse", "wb") as file:
                file.truncate(1 << 40)
            for path in ("fifo", "folder", "link", "loop", "sparse", "/dev/zero", "/dev/null", "/proc/self/mem"):
                for arguments in (["import", path, "-o", "layers.json"], ["explain", "--network", path]):
                    with self.subTest(arguments):
                        start = time.monotonic()
                        status, output, messages = self.run_kiln(job, *arguments)
                        self.assertIn(status, (2, 3), messages)
                        self.assertTrue(messages.startswith(f"kiln: {path}: "), messages)
                        self.assertEqual(output, "")
                        self.assertLess(time.monotonic() - start, 30)
                        self.assertFalse((job.folder / "layers.json").exists())

    def test_names_that_a_terminal_obeys(self):
        with KilnJob() as job:
            data = MODEL.read_bytes()
            for name, text in NAMES.items():
                self.assertEqual(len(name), len(text))
                self.assertIn(name, data)
                data = data.replace(name, text)
            (job.folder / "evil.onnx").write_bytes(data)
            for arguments in (
                ["import", "evil.onnx", "-o", "layers.json"],
                ["explain", "--network", "evil.onnx"],
                ["explain", "--network", "evil.onnx", "--format", "dot"],
                *(["explain", "--workloads", "layers.json", "--format", form] for form in ("table", "json", "csv")),
            ):
                status, _, messages = self.run_kiln(job, *arguments)
                self.assertEqual(status, 0, f"{arguments}: {messages}")
            written = (job.folder / "layers.json").read_bytes()
            self.assertEqual([text for text in OBEYED if text in written], [])

    def test_nests_without_sense(self):
        with KilnJob() as job:
            for what, fields in BAD_NESTS.items():
                with self.subTest(what):
                    nest = {**NEST, **fields}
                    job.workloads.write_text(json.dumps({"format": "workloads/1", "name": "net", "workloads": [nest]}))
                    start = time.monotonic()
                    status, _, messages = self.run_kiln(job, "explain", "--workloads", job.workloads)
                    self.assertEqual(status, 2, messages)
                    self.assertEqual(messages.count("\n"), 1)
                    self.assertLess(time.monotonic() - start, 30)

    def test_a_nest_that_is_as_large_as_nests_may_be(self):
        reads = ";".join(
            f"x{j % 8}[" + ",".join(f"{'i' if j >> d & 1 else 'r'}{d}" for d in range(8)) + "]" for j in range(16)
        )
        nest = {"name": "n", "op": "nest", "loops": [2] * 8, "over": [2] * 8, "operands": [[2] * 8] * 8, "reduction": "sum",
                "reads": reads, "term": balanced_term(1024)}
        with KilnJob() as job:
            job.workloads.write_text(json.dumps({"format": "workloads/1", "name": "net", "workloads": [nest]}))
            status, _, messages = self.run_kiln(job, "tune", "--workloads", job.workloads, "--db", job.database, "--trials", "1")
            self.assertIn(status, (0, 1), messages)
            self.assertEqual(len(job.query("SELECT status FROM trials")), 1)


if __name__ == "__main__":
    unittest.main()
