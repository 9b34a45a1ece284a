"""What `kiln --help` and its refusals say of command lines, so that ones can be checked without running them."""

import dataclasses
import fnmatch
import pathlib
import re
import subprocess


@dataclasses.dataclass
class Option:
    type: str  # empty: a flag
    description: str
    required: bool

    def refuses(self, value: str) -> bool:
        """Where the type or the description has the words that are allowed."""
        allowed = re.search(r"one of ([\w, ]+?) \[", self.description)
        if allowed:
            return value not in allowed[1].split(", ")
        if "|" in self.type:
            return value not in self.type.split("|")
        if re.fullmatch(r"[a-z,]+,[a-z]+", self.type):
            return not set(value.split(",")) <= set(self.type.split(","))
        return False


class Command:
    """Of one `--help`, CLI11's or argparse's."""

    def __init__(self, text: str):
        self.options: dict[str, Option] = {}
        entries = re.findall(r"^  (-\S.*\n(?:   {3,}\S.*\n)*)", text, re.MULTILINE)
        for head, _, description in (re.sub(r"\n +", "  ", entry).strip().partition("  ") for entry in entries):
            names, _, type_ = head.partition(" ")
            required = type_.endswith("REQUIRED")
            option = Option(type_.removesuffix("REQUIRED").removesuffix("... ").strip(), " ".join(description.split()), required)
            self.options |= dict.fromkeys(names.rstrip(",").split(","), option)
        positionals = re.search(r"^Positionals:\n((?:  .*\n)+)", text, re.MULTILINE)
        self.positionals = len(re.findall(r"^  \S", positionals[1], re.MULTILINE)) if positionals else 0

    def problems(self, arguments: list[str]) -> list[str]:
        found, words, given = [], list(arguments), []
        positionals = 0
        while words:
            word = words.pop(0)
            option = self.options.get(word)
            if not word.startswith("-"):
                positionals += 1
            elif not option:
                found.append(f"{word} is no option")
            elif option.type:
                values = []
                while words and not words[0].startswith("-") and (not values or option.type.endswith("...")):
                    values.append(words.pop(0))
                found += [f"{word} {value}: not of {option.type}" for value in values if option.refuses(value)]
                found += [] if values else [f"{word} has no value"]
            given.append(option)
        if positionals > self.positionals:
            found.append(f"{positionals} words that belong to no option")
        return found + [f"{name} is missing" for name, o in self.options.items() if o.required and o not in given]


class Kiln:
    """Of the real command, which is asked for help and names alone."""

    def __init__(self, path: str, model: pathlib.Path):
        self.path = path
        self.commands: dict[str, Command] = {}
        self.algorithms = self.names("bench", "--workloads", "none.json", "--algorithm", "no*such")
        self.names_of_networks = self.names("bench", "--network", str(model), "--without", "no*such")

    def said(self, *arguments: str) -> str:
        done = subprocess.run([self.path, *arguments], capture_output=True, text=True, timeout=60)
        return done.stdout + done.stderr

    def names(self, *arguments: str) -> list[str]:
        return re.search(r"matches no .*; there are (.*)", self.said(*arguments))[1].split(", ")

    def problems(self, arguments: list[str]) -> list[str]:
        name, *rest = arguments
        if name not in self.commands:
            self.commands[name] = Command(self.said(name, "--help"))
        found = self.commands[name].problems(rest)
        for option, glob in zip(rest, rest[1:]):
            names = self.names_of_networks if option == "--without" and "--network" in rest else self.algorithms
            if option in ("--algorithm", "--without") and not fnmatch.filter(names, glob):
                found.append(f"{option} {glob}: matches no name")
            if option in ("--workloads", "--network") and not pathlib.Path(glob).exists():
                found.append(f"{option} {glob}: no such file")
        return found
