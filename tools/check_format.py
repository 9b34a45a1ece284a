#!/usr/bin/env python3
"""Checks that the C and C++ files are formatted as .clang-format says; --fix formats them.

Versions of clang-format differ in details, so only the one of Debian 12 is asked. Exit status 77 (CTest: skipped) where
it is not installed.
"""

import pathlib
import re
import shutil
import subprocess
import sys

import check_layers

VERSION = "14"
ELSEWHERE = ["examples", "bench", "tests"]  # beside the folders of tools/check_layers.py
SUFFIXES = {".h", ".c", ".cpp"}


def find_clang_format():
    for name in (f"clang-format-{VERSION}", "clang-format"):
        path = shutil.which(name)
        if path:
            output = subprocess.run([path, "--version"], capture_output=True, text=True).stdout
            if re.search(rf"version {VERSION}\.", output):
                return path
    return None


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    clang_format = find_clang_format()
    if not clang_format:
        print(f"check_format: skipped, clang-format {VERSION} is not installed (apt-get install clang-format)")
        return 77
    folders = sorted({folder.split("/")[0] for folder in check_layers.FOLDERS}) + ELSEWHERE
    files = sorted(p for folder in folders for p in (root / folder).rglob("*") if p.suffix in SUFFIXES)
    how = ["-i"] if "--fix" in sys.argv[1:] else ["--dry-run", "-Werror"]
    return 1 if subprocess.run([clang_format, *how, *map(str, files)]).returncode else 0


if __name__ == "__main__":
    sys.exit(main())
