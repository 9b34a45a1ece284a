#!/usr/bin/env python3
"""Checks who includes and links whom against the tables below (docs/architecture.md explains them).

usage: check_layers.py [ROOT]; prints one line a violation, exit status 1 where there is one.
"""

import fnmatch
import pathlib
import re
import sys

# Folder -> what its files may include: a folder, or single files of it. Every folder may include itself.
FOLDERS = {
    "runtime": [],
    "schedules": ["runtime/*"],
    "generators": ["runtime/*", "schedules/*"],
    "database": ["runtime/*", "schedules/candidate.h"],
    "tuner": [
        "runtime/*",
        "schedules/candidate.h",
        "schedules/space.h",
        "generators/catalog.h",
        "generators/winograd_matrices.h",
        "generators/winograd_operation.h",
        "database/*",
    ],
    "graph": ["runtime/*"],
    "cli": ["runtime/*", "schedules/*", "generators/*", "database/*", "tuner/*", "graph/*"],
}

# Library header -> the only files of the folders above that may include it, directly or through another header.
HEADERS = {
    "Halide.h": [
        "generators/*_conv.cpp",
        "generators/conv_generator.h",
        "generators/data_movement.cpp",
        "generators/epilogue.*", "generators/fetched_block.*", "generators/matrix_blocks.*",
        "generators/folded_input.h",
        "generators/generator_main.cpp", "generators/halide_type.h",
        "generators/panel_generator.h",
        "generators/transform_generator.h",
        "generators/winograd_*_transform.cpp",
        "generators/winograd_transform.*",
        "schedules/cpu_tile.*",
        "schedules/gradient_tile.*",
        "schedules/scatter.h",
        "schedules/move_tile.*",
        "schedules/transform_tile.*",
        "schedules/winograd_apply.*",
    ],
    "HalideBuffer.h": [],
    "HalideRuntime.h": ["runtime/*", "tuner/runner_*"],
    "sqlite3.h": ["database/*"],
    "CLI/*": ["cli/*"],
    "nlohmann/*": ["database/*", "tuner/*", "cli/*"],
    "fmt/*": ["schedules/*", "generators/*", "database/*", "tuner/*", "cli/*"],
    "xxhash.h": ["database/*", "tuner/*"],
    "gtest/*": [],
}

# Library in CMake -> the only folders whose targets may link it.
LIBRARIES = {
    "Halide::*": ["generators"],
    "SQLite*::*": ["database"],
    "CLI11::*": ["cli"],
    "nlohmann_json::*": ["database", "tuner", "cli"],
    "GTest::*": [],
}

SOURCES = {".h", ".c", ".cpp"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
RAW_STRING = re.compile(r'R"([^(\s]*)\(.*?\)\1"', re.DOTALL)  # texts of generated files
CMAKE_COMMENT = re.compile(r"#[^\n]*")
CMAKE_TARGET = re.compile(r"\badd_(?:library|executable)\s*\(\s*([\w-]+)")
CMAKE_LINK = re.compile(r"\btarget_link_libraries\s*\(([^)]*)\)")
CMAKE_NAME = re.compile(r"[\w-]+(?:::[\w-]+)*")  # also inside generator expressions


def matches(name, patterns):
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def includes(path):
    """(< or ", header) of every #include."""
    return INCLUDE.findall(RAW_STRING.sub('""', path.read_text(encoding="utf-8")))


def carried(root, file, seen):
    """(library header, header that brings it or None) of everything that `file` includes."""
    for quote, header in includes(root / file):
        if matches(header, HEADERS):
            yield header, None
        elif quote == '"' and header not in seen and (root / header).is_file():
            seen.add(header)
            yield from ((library, through or header) for library, through in carried(root, header, seen))


def check_file(root, file):
    """Why `file` (a path from the root) may not include what it does."""
    folder = file.split("/")[0]
    for library, through in carried(root, file, {file}):
        pattern = next(p for p in HEADERS if fnmatch.fnmatchcase(library, p))
        if not matches(file, HEADERS[pattern]):
            how = f"reaches {library} through {through}" if through else f"includes {library}"
            yield f"{how}, which only {', '.join(HEADERS[pattern]) or 'tests'} may"
    for quote, header in includes(root / file):
        if quote == "<" or matches(header, HEADERS):
            continue
        if not (root / header).is_file():
            yield f'includes "{header}", which is no file: write it from the root of the repository'
        elif header.split("/")[0] != folder and not matches(header, FOLDERS[folder]):
            yield f"includes {header}, but {folder}/ may include only itself, {', '.join(FOLDERS[folder] + ['std'])}"


def check_links(folder, text, owners):
    """Why the targets of `folder` may not link what they do. `owners`: target -> folder that defines it."""
    for words in CMAKE_LINK.findall(text):
        for library in CMAKE_NAME.findall(words)[1:]:
            pattern = next((p for p in LIBRARIES if fnmatch.fnmatchcase(library, p)), None)
            owner = owners.get(library, folder)
            if pattern and folder not in LIBRARIES[pattern]:
                yield f"links {library}, which only {', '.join(LIBRARIES[pattern]) or 'tests'} may"
            elif owner != folder and not any(allowed.startswith(owner + "/") for allowed in FOLDERS[folder]):
                yield f"links {library} of {owner}/, which {folder}/ may not include"


def check(root):
    """Every violation in the tree, sorted: "file: why"."""
    root = pathlib.Path(root)
    problems = []
    cmake = {}  # folder -> the text of its CMakeLists.txt without comments
    for folder in FOLDERS:
        for path in (root / folder).rglob("*"):
            file = path.relative_to(root).as_posix()
            if path.suffix in SOURCES:
                problems += [f"{file}: {why}" for why in check_file(root, file)]
            elif path.name == "CMakeLists.txt":
                cmake[folder] = CMAKE_COMMENT.sub("", path.read_text(encoding="utf-8"))
    owners = {target: folder for folder, text in cmake.items() for target in CMAKE_TARGET.findall(text)}
    for folder, text in cmake.items():
        problems += [f"{folder}/CMakeLists.txt: {why}" for why in check_links(folder, text, owners)]
    return sorted(problems)


def main():
    problems = check(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
