#!/usr/bin/env python3
"""A program for `kiln tune --judge rtl` without any hardware: kiln-simulate, whose cycles are turned round, so that the slowest wins.

usage: core_judge.py PROGRAM. KILN_TEST_JUDGE names what it does wrong: hash, instructions, text or status.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

with tempfile.TemporaryDirectory() as folder:
    counts = pathlib.Path(folder) / "counts.json"
    simulate = pathlib.Path(os.environ["KILN_BINARY_DIR"]) / "kiln-simulate"
    run = subprocess.run([simulate, "--counts", counts, sys.argv[1]], capture_output=True, check=True)
    (marked,) = json.loads(counts.read_text())["marked"]
answer = {"marked": [marked], "hash": int.from_bytes(run.stdout, "little")}
marked["cycles"] = 1_000_000_000 // marked["cycles"]
wrong = os.environ.get("KILN_TEST_JUDGE")
if wrong == "hash":
    answer["hash"] ^= 1
if wrong == "instructions":
    marked["instructions"] += 1
print("no JSON" if wrong == "text" else json.dumps(answer))
sys.exit("this core is out of order" if wrong == "status" else 0)
