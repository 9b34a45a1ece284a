"""Loop nests against the texts in loop_nests/, one a case of loop_nests/cases.json: what schedules make of the algorithms,
so that a lost `vectorize` is seen.

usage: loop_nests_test.py PATH_OF_KILN_GENERATOR [--update] [NAME...]

--update writes the texts anew; look at the difference before you commit it. NAMEs choose cases.
"""

import concurrent.futures
import difflib
import json
import os
import pathlib
import subprocess
import sys

TEXTS = pathlib.Path(__file__).resolve().parent / "loop_nests"


def loops(generator, case):
    """What the generator prints, or how it failed."""
    command = [generator, "--workload", case["workload"], "--candidate", case["candidate"], "--target", case["target"]]
    done = subprocess.run([*command, "--threads", str(case["threads"]), "--loops"], capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else f"exit status {done.returncode}: {done.stderr}"


def update(case, found):
    if not found.startswith("kiln_compute\n"):
        return found
    path = TEXTS / f"{case['name']}.txt"
    if not path.exists() or path.read_text() != found:
        path.write_text(found)
        print(f"written: {path.name}")
    return ""


def compare(case, found):
    path = TEXTS / f"{case['name']}.txt"
    expected = path.read_text() if path.exists() else ""
    lines = difflib.unified_diff(expected.splitlines(), found.splitlines(), f"loop_nests/{path.name}", "now", lineterm="")
    return "\n".join(lines)


def main(generator, *arguments):
    cases = json.loads((TEXTS / "cases.json").read_text())
    known, names = {case["name"] for case in cases}, {a for a in arguments if a != "--update"}
    if unknown := names - known:
        print(f"no such case: {', '.join(sorted(unknown))}")
        return 2
    chosen = [case for case in cases if not names or case["name"] in names]
    judge = update if "--update" in arguments else compare
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        texts = list(pool.map(lambda case: loops(generator, case), chosen))
    problems = {case["name"]: problem for case, text in zip(chosen, texts) if (problem := judge(case, text))}
    for name, problem in problems.items():
        print(f"-- {name}\n{problem}\n")
    if stray := {path.stem for path in TEXTS.glob("*.txt")} - known:
        print(f"texts without a case: {', '.join(sorted(stray))}")
    print(f"{len(chosen) - len(problems)} of {len(chosen)} loop nests as expected")
    if problems and judge is compare:
        print(f"where the change is meant: {sys.argv[0]} {generator} --update {' '.join(problems)}")
    return 1 if problems or stray else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
