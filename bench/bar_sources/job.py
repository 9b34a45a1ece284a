"""Where bars are measured: kiln and the programs beside it, and what came of a measurement."""

import dataclasses
import json
import pathlib
import shlex
import subprocess
import sys
from collections.abc import Callable

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class CommandFailed(Exception):
    pass


@dataclasses.dataclass
class Job:
    """Where bars are measured."""

    kiln: str
    db: str
    folder: pathlib.Path
    trials: int | None
    seed: int
    before: str | None = None  # executables of a build of before

    def run(self, *arguments: str) -> str:
        command = [self.kiln, *arguments]
        print("$ " + shlex.join(command), file=sys.stderr, flush=True)
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        if done.returncode not in (0, 1):  # 1: a layer failed; its row says so
            raise CommandFailed(f"exit status {done.returncode}: {shlex.join(command)}")
        return done.stdout

    def program(self, name: str, *arguments: str) -> dict:
        """What a program beside `kiln` answers."""
        command = [str(pathlib.Path(self.kiln).parent / name), *arguments]
        print("$ " + shlex.join(command), file=sys.stderr, flush=True)
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        if done.returncode != 0:
            raise CommandFailed(f"exit status {done.returncode}: {shlex.join(command)}")
        return json.loads(done.stdout)

    def workloads(self, name: str, wanted: Callable[[dict], bool]) -> str:
        """The entries of workloads/NAME.json that are wanted, as a list of their own. Answers its path."""
        whole = json.loads((ROOT / "workloads" / f"{name}.json").read_text())
        whole["workloads"] = [entry for entry in whole["workloads"] if wanted(entry)]
        return self.list_of(name, whole["workloads"])

    def list_of(self, name: str, entries: list[dict]) -> str:
        path = self.folder / f"{name}.json"
        path.write_text(json.dumps({"format": "workloads/1", "name": name, "workloads": entries}))
        return str(path)


@dataclasses.dataclass
class Value:
    value: float | None  # none: it could not be measured, and the note says why
    spread: str  # over the rounds of one run
    command: str  # with the numbers of this run; empty: as in the limits
    note: str = ""


def no_value(reason: str, command: str = "") -> Value:
    return Value(None, "", command, reason)
