"""Workload lists and keys that somebody else wrote: other encodings, no end, no sense, any length. The worst is a message."""

import json
import time
import unittest

from kiln_job import KilnJob

LAYER = {"name": "a", "op": "conv2d", "input": [1, 8, 8, 4], "kernel": [1, 1, 4, 8]}
MIB = 1 << 20


def workload_list(*entries, name="net"):
    return json.dumps({"format": "workloads/1", "name": name, "workloads": entries or [LAYER]})


GOOD = {
    "byte order mark": b"\xef\xbb\xbf" + workload_list().encode(),
    "many equal entries": workload_list(*[LAYER] * 2000).encode(),
    "a name of 10 MiB": workload_list({**LAYER, "name": "x" * 10 * MIB}).encode(),
    "a name that is a path": workload_list({**LAYER, "name": "../../etc/passwd"}, name="/").encode(),
    "a name of marks": workload_list({**LAYER, "name": "a" + "\u0301" * 100000}).encode(),
}

BAD = {
    "utf-16": workload_list().encode("utf-16"),
    "latin-1": workload_list({**LAYER, "name": "?"}).encode().replace(b"?", b"\xe4"),
    "NUL in a name": workload_list({**LAYER, "name": "a\0b"}).encode(),
    "NUL after the end": workload_list().encode() + b"\0",
    "NUL before": b"\0" + workload_list().encode(),
    "two documents": workload_list().encode() * 2,
    "an empty name": workload_list({**LAYER, "name": ""}).encode(),
    "a blank list's name": workload_list(name="").encode(),
    "a million brackets": b"[" * MIB,
    "a million objects": b'{"a":' * MIB,
    "deep in a field": b'{"format": "workloads/1", "name": "n", "workloads": ' + b"[" * MIB,
    "a field of 10 MiB": workload_list({**LAYER, "x" * 10 * MIB: 1}).encode(),
    "an operation of 10 MiB": workload_list({**LAYER, "op": "x" * 10 * MIB}).encode(),
    "a shape of a million sizes": workload_list({**LAYER, "input": [1] * MIB}).encode(),
    "an epilogue of a million steps": workload_list({**LAYER, "epilogue": ["bias"] * MIB}).encode(),
    "a number of a million digits": workload_list({**LAYER, "count": 7}).encode().replace(b"7", b"7" * MIB),
    "nothing but blanks": b" " * 10 * MIB,
}

# Keys of workloads, as a database of somebody else may have them.
KEYS = {
    "letters": "x" * 10 * MIB,
    "slashes": "conv2d" + "/" * 10 * MIB,
    "sizes": "conv2d/input:" + "1x" * 5 * MIB + "1",
    "steps": "conv2d/input:1x8x8x4/kernel:1x1x4x8/epilogue:" + ",".join(["relu"] * MIB),
    "escapes": "conv2d/\x1b[31m\n" * MIB,
}


class Lists(unittest.TestCase):
    def run_kiln(self, job, *arguments):
        """Status, stdout and stderr of a run that must neither crash, hang nor flood the terminal."""
        start = time.monotonic()
        process = job.start(*arguments)
        output, messages = process.communicate(timeout=120)
        self.assertLess(time.monotonic() - start, 60)
        self.assertIn(process.returncode, (0, 1, 2), messages[-2000:])
        self.assertLess(len(messages), 20000)
        return process.returncode, output, messages

    def test_lists(self):
        with KilnJob() as job:
            for name, text in {**GOOD, **BAD}.items():
                with self.subTest(name):
                    (job.folder / "list.json").write_bytes(text)
                    status, output, messages = self.run_kiln(job, "explain", "--workloads", "list.json")
                    self.assertEqual(status, 2 if name in BAD else 0, messages)
                    for line in output.splitlines():
                        self.assertLess(len(line.encode()), 4000)
                    if name in BAD:
                        self.assertRegex(messages, r"\Akiln: list\.json: [^\n]+\n\Z")

    def test_keys_of_a_database(self):
        with KilnJob() as job:
            for name, key in KEYS.items():
                with self.subTest(name):
                    record = {"record": "workload_name", "workload": key, "list": "l", "name": "n", "count": 1}
                    lines = ['{"format":"database/1"}', json.dumps(record, separators=(",", ":"))]
                    (job.folder / "keys.jsonl").write_text("\n".join(lines) + "\n")
                    status, _, _ = self.run_kiln(job, "db", "import", "--db", f"{name}.db", "keys.jsonl")
                    if status == 0:
                        self.run_kiln(job, "query", "workloads", "--db", f"{name}.db")
                        self.run_kiln(job, "query", "workloads", "--db", f"{name}.db", "--filter", "*")

    def test_options_of_any_length(self):
        long = "x" * 100000
        with KilnJob() as job:
            job.workloads.write_text(workload_list())
            for options in (["--target", long], ["--filter", long], ["--columns", long], ["--sort", long], ["--" + long]):
                status, _, messages = self.run_kiln(job, "explain", "--workloads", job.workloads, *options)
                self.assertEqual(status, 2)
                self.assertEqual(messages.count("\n"), 1)


if __name__ == "__main__":
    unittest.main()
