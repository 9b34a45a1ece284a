#!/usr/bin/env python3
"""Checks who includes and links whom against the tables below, and that docs/architecture.md names each folder in order.

usage: check_layers.py [ROOT]; prints one line a violation, exit status 1 where there is one.
"""

import fnmatch
import pathlib
import re
import sys

# One line a folder: what its files may include beside themselves and the standard library, of kiln's folders (or single
# headers of them) and of other libraries. A folder inside another is one of its own: `tuner/job` is not `tuner`.
FOLDERS = {
    "text": ([], []),
    "workload/expression": (["workload/result.h"], []),
    "workload/nest": (["workload/expression", "workload/result.h"], []),
    "workload/epilogue": (["runtime/kiln.h", "workload/expression", "workload/number_text.h", "workload/result.h"], []),
    "workload/nest_workload": (["workload"], []),
    "workload/quantization": (["workload"], []),
    "workload/separable": (["workload"], []),
    "workload": (
        ["runtime/cpu_features.h", "runtime/kiln.h", "text", "workload/epilogue", "workload/nest", "workload/quantization"], []
    ),
    "digest": ([], ["fmt/*", "xxhash.h"]),
    "json": (["workload/result.h"], ["fmt/*", "nlohmann/*"]),
    "workload/lists": (["json", "workload"], ["fmt/*", "nlohmann/*"]),
    "simulate": (["json", "text", "workload/result.h"], ["fmt/*", "nlohmann/*"]),
    "runtime": ([], ["HalideRuntime.h"]),
    "runtime/fallback": (["runtime"], ["HalideRuntime.h"]),
    "runtime/network": (["runtime"], ["HalideRuntime.h"]),
    "runtime/transpose": (["runtime"], []),
    "runtime/lookup": (["runtime"], []),
    "rewrites": (["workload", "workload/nest", "workload/separable"], []),
    "schedules": (["rewrites", "text", "workload"], []),
    "schedules/spaces": (["schedules", "rewrites", "workload"], []),
    "schedules/spaces/depthwise": (["schedules", "rewrites", "workload"], []),
    "schedules/spaces/matrix": (["schedules", "rewrites", "workload"], []),
    "schedules/spaces/scalar": (["schedules", "rewrites", "workload"], []),
    "schedules/spaces/movement": (["schedules", "rewrites", "runtime/transpose/matrix_transpose.h", "workload"], []),
    "schedules/spaces/winograd": (
        ["schedules", "schedules/spaces/fetched_weights.h", "schedules/spaces/spilled_sums.h", "rewrites", "workload"], []
    ),
    "schedules/apply/turned": ([], ["Halide.h"]),
    "schedules/apply": (["schedules", "schedules/apply/turned", "schedules/spaces", "schedules/spaces/matrix", "schedules/spaces/scalar", "schedules/spaces/winograd",
                         "rewrites", "workload"], ["Halide.h"]),
    "schedules/apply/depthwise": (["schedules", "schedules/apply", "schedules/apply/turned", "schedules/spaces/depthwise", "rewrites", "workload"],
                                  ["Halide.h"]),
    "schedules/apply/movement": (["schedules/apply", "schedules/spaces/movement", "rewrites"], ["Halide.h"]),
    "catalog/matrix": (
        ["catalog/conv_checks.h", "catalog/quantized_algorithm.h", "rewrites", "schedules", "schedules/spaces/matrix", "workload"], []
    ),
    "catalog/operators": (
        ["catalog/tensor_checks.h", "catalog/winograd_operation.h", "schedules", "schedules/spaces", "schedules/spaces/movement", "rewrites", "workload",
         "workload/expression"],
        [],
    ),
    "catalog/scalar": (
        ["catalog/conv_checks.h", "rewrites", "schedules", "schedules/spaces/scalar", "workload", "workload/quantization"], []
    ),
    "catalog/winograd": (
        ["catalog/conv_checks.h", "catalog/conv_rewrites.h", "catalog/winograd_matrices.h", "rewrites", "schedules",
         "schedules/spaces/winograd", "workload", "workload/quantization"],
        [],
    ),
    "catalog": (["catalog/matrix", "catalog/operators", "catalog/scalar", "catalog/winograd", "schedules", "schedules/spaces",
                 "schedules/spaces/depthwise", "schedules/spaces/matrix", "schedules/spaces/movement",
                 "schedules/spaces/winograd", "rewrites", "workload", "workload/quantization"], []),
    "generators": (
        ["catalog", "generators/c", "generators/nest/float_functions.h", "generators/nest/scalar_function.h", "generators/passes", "schedules", "schedules/apply",
         "schedules/apply/depthwise", "schedules/apply/movement", "schedules/spaces", "schedules/spaces/depthwise", "rewrites", "runtime/kernel_abi.h", "text", "workload", "workload/quantization"],
        ["Halide.h"],
    ),
    "generators/c": ([], ["Halide.h"]),
    "generators/passes": ([], ["Halide.h"]),
    "generators/turned": (["schedules/apply/turned"], ["Halide.h"]),
    "generators/scalar": (
        ["generators", "schedules", "schedules/apply", "schedules/spaces/scalar", "rewrites", "workload", "workload/quantization"],
        ["Halide.h"],
    ),
    "generators/winograd": (
        ["catalog", "catalog/winograd", "generators", "generators/passes", "generators/turned", "schedules", "schedules/apply", "schedules/spaces/winograd", "rewrites",
         "workload"],
        ["Halide.h"],
    ),
    "generators/movement": (
        ["generators", "schedules", "schedules/apply", "schedules/apply/movement", "schedules/spaces/movement", "rewrites",
         "workload"],
        ["Halide.h"],
    ),
    "generators/nest": (
        ["generators", "schedules/apply", "workload", "workload/expression"],
        ["Halide.h"],
    ),
    "generators/depthwise": (
        ["catalog", "generators", "generators/turned", "rewrites", "schedules", "schedules/apply", "schedules/apply/depthwise",
         "schedules/spaces/depthwise", "workload"],
        ["Halide.h"],
    ),
    "generators/direct": (
        ["catalog", "catalog/matrix", "generators", "generators/passes", "generators/turned", "schedules", "schedules/apply", "schedules/spaces", "schedules/spaces/matrix", "rewrites",
         "workload", "workload/quantization"],
        ["Halide.h"],
    ),
    "records": (["digest", "workload"], ["fmt/*", "nlohmann/*"]),
    "database": (["json", "records", "workload"], ["fmt/*", "nlohmann/*", "sqlite3.h"]),
    "tuner/process": (["runtime/cpu_features.h", "runtime/cpuid.h", "workload"], ["fmt/*", "xxhash.h"]),
    "tuner/budget": (["records", "workload/result.h"], ["nlohmann/*"]),
    "tuner/search": (["schedules", "workload"], []),
    "tuner/race": (["records"], []),
    "tuner/reference/quantized": (["tuner/reference", "workload", "workload/quantization"], ["fmt/*"]),
    "tuner/reference": (["tuner/reference/quantized", "catalog", "workload", "workload/expression", "workload/quantization", "workload/separable"], ["fmt/*"]),
    "tuner/protocol": (["json", "records", "simulate/core_description.h", "workload"], ["fmt/*", "nlohmann/*"]),
    "tuner/build": (
        ["tuner/process", "digest", "json", "records", "runtime/kernel_abi.h", "schedules", "simulate/elf32.h", "text",
         "workload"],
        ["fmt/*", "nlohmann/*"],
    ),
    "tuner/measure": (
        ["tuner/build", "tuner/process", "tuner/protocol", "tuner/reference", "records", "simulate/core_description.h", "workload"],
        ["fmt/*"],
    ),
    "tuner/runner": (
        ["tuner/process", "tuner/protocol", "tuner/reference", "records", "runtime", "workload"],
        ["HalideRuntime.h", "fmt/*", "nlohmann/*"],
    ),
    "tuner/runner/simulated": (
        ["tuner/runner/steps.h", "tuner/process", "tuner/protocol", "tuner/reference", "digest", "json", "records", "runtime/kernel_abi.h", "simulate",
         "workload"],
        ["fmt/*", "nlohmann/*"],
    ),
    "tuner/runner/jobs": (["tuner/runner", "tuner/runner/simulated", "tuner/process", "tuner/protocol", "tuner/reference", "runtime", "workload"], ["fmt/*", "HalideRuntime.h"]),
    "tuner/job/racing": (
        ["tuner/job/tune_job.h", "tuner/build", "tuner/measure", "tuner/process", "tuner/race", "catalog", "database", "records",
         "schedules", "workload"],
        ["fmt/*"],
    ),
    "tuner/job": (
        ["tuner/job/racing", "tuner/build", "tuner/measure", "tuner/process", "tuner/protocol", "tuner/race", "tuner/search", "catalog",
         "database", "records", "schedules", "simulate/core_description.h", "workload", "workload/lists"],
        ["fmt/*", "xxhash.h"],
    ),
    "package/output": (["json", "tuner/process", "workload"], ["fmt/*", "nlohmann/*"]),
    "package": (
        ["package/output", "tuner/build", "tuner/job", "tuner/measure", "tuner/process", "database", "graph", "json",
         "network/program.h", "records", "runtime", "runtime/network/weights_file.h", "text", "workload", "workload/lists"],
        ["fmt/*", "nlohmann/*"],
    ),
    "package/c": (
        ["package", "package/network", "package/output", "tuner/budget", "tuner/build", "tuner/process", "graph", "json",
         "network/program.h", "runtime/kernel_abi.h", "schedules", "simulate", "text", "workload", "workload/lists"],
        ["fmt/*", "nlohmann/*"],
    ),
    "package/network": (
        ["package", "package/output", "tuner/measure", "tuner/process", "tuner/reference", "digest", "graph", "network/program.h",
         "runtime/network/weights_file.h", "workload", "workload/lists"],
        ["fmt/*", "xxhash.h"],
    ),
    "check": (
        ["graph", "graph/lower", "graph/onnx", "network", "tuner/build", "tuner/job", "tuner/measure", "tuner/reference",
         "tuner/reference/quantized", "json", "text", "workload", "workload/expression", "workload/lists",
         "workload/quantization"],
        ["fmt/*", "nlohmann/*"],
    ),
    "compare": (
        ["tuner/build", "tuner/job", "tuner/measure", "tuner/process", "json", "records", "text", "workload",
         "workload/lists"],
        ["fmt/*", "nlohmann/*"],
    ),
    "graph": (["text", "workload", "workload/expression"], []),
    "graph/evaluate": (["graph", "workload"], []),
    "graph/onnx/file": (["graph", "text", "workload"], ["protozero/*"]),
    "graph/onnx": (["graph/onnx/file", "graph", "text", "workload"], ["protozero/*"]),
    "graph/lower/node": (["graph", "graph/evaluate", "graph/onnx", "graph/rewriting", "workload"], []),
    "graph/lower/composed": (["graph", "graph/lower/node", "workload"], []),
    "graph/lower/composed/attention": (["graph", "graph/lower/node", "workload"], []),
    "graph/lower/rules": (["graph", "graph/lower/composed", "graph/lower/composed/attention", "graph/lower/node", "graph/onnx", "workload"], []),
    "graph/lower": (["graph", "graph/lower/node", "graph/lower/rules", "graph/onnx", "workload"], []),
    "graph/rewriting": (["graph", "graph/evaluate", "workload", "workload/epilogue"], []),
    "graph/passes/axes": (["graph", "graph/rewriting", "workload"], []),
    "graph/passes/factors": (["graph", "graph/evaluate", "graph/rewriting"], []),
    "graph/passes/functions": (["graph", "graph/evaluate", "graph/passes/quantization", "graph/rewriting"], []),
    "graph/passes/quantization": (["graph", "graph/evaluate", "graph/rewriting", "workload", "workload/quantization"], []),
    "graph/memory": (["graph", "workload"], []),
    "graph/batch": (["graph", "workload"], []),
    "graph/passes": (["graph", "graph/evaluate", "graph/passes/axes", "graph/passes/factors", "graph/passes/functions", "graph/passes/quantization", "graph/rewriting", "workload", "workload/quantization"], []),
    "graph/workloads": (["graph", "workload"], []),
    "network/assignment": ([], []),
    "network/integers": (["graph", "graph/evaluate", "graph/rewriting", "workload/expression"], []),
    "network/joining": (["graph/memory/memory_plan.h", "network/program.h", "workload", "workload/expression", "workload/nest"], []),
    "network": (
        ["graph", "graph/evaluate", "graph/memory", "graph/rewriting", "graph/workloads", "network/assignment",
         "network/integers", "network/joining", "workload", "workload/expression", "workload/nest", "workload/quantization"],
        [],
    ),
    "network/alter": (["graph", "graph/evaluate", "graph/passes", "graph/rewriting", "network", "workload", "workload/epilogue"], []),
    "network/library": (["graph", "network/alter", "workload", "workload/expression"], []),
    "cli/network": (
        ["cli/answers/table.h", "graph", "graph/batch", "graph/lower", "graph/onnx", "graph/passes", "graph/passes/functions", "graph/passes/quantization", "check", "compare", "json", "network", "network/alter", "network/library", "package", "package/network",
         "schedules", "text", "tuner/build", "tuner/job", "tuner/job/racing/network_race.h", "tuner/measure", "tuner/process", "workload",
         "workload/expression", "workload/lists"],
        ["CLI/*", "fmt/*"],
    ),
    "cli/answers": (["catalog", "database", "schedules", "text", "workload"], ["CLI/*", "fmt/*", "nlohmann/*"]),
    "cli/bench": (
        ["cli/answers", "compare", "text", "tuner/measure", "workload", "workload/lists"], ["CLI/*", "fmt/*", "nlohmann/*"]
    ),
    "cli/tune": (["cli/answers", "compare", "tuner/job", "workload"], ["fmt/*"]),
    "cli/measuring": (["cli/answers", "cli/clock.h", "compare", "text", "tuner/measure", "tuner/process", "workload"], ["fmt/*"]),
    "cli/pareto": (["cli/answers", "database", "records", "text", "tuner/budget", "workload"], ["fmt/*"]),
    "cli/build": (
        ["cli", "cli/answers", "cli/network", "database", "network/program.h", "package", "package/c", "package/network", "package/output",
         "text", "tuner/budget", "tuner/build", "tuner/job", "tuner/process", "workload", "workload/lists"],
        ["CLI/*", "fmt/*"],
    ),
    "cli": (
        ["cli/answers", "cli/bench", "cli/build", "cli/measuring", "cli/network", "cli/pareto", "cli/tune", "graph", "graph/passes", "network/program.h", "catalog", "check", "compare", "database", "package", "package/network",
         "package/output", "records", "schedules", "simulate/core_file.h", "simulate/core_description.h", "text", "tuner/budget", "tuner/job", "tuner/measure", "tuner/process", "tuner/search",
         "workload", "workload/lists"],
        ["CLI/*", "fmt/*", "nlohmann/*"],
    ),
}

# Headers of other libraries that only the folders above which name them may include, directly or through a header.
HEADERS = ["Halide.h", "HalideBuffer.h", "HalideRuntime.h", "sqlite3.h", "CLI/*", "nlohmann/*", "fmt/*", "xxhash.h", "protozero/*", "gtest/*"]

# Library in CMake -> the header that stands for it: who may not include the one may not link the other.
LIBRARIES = {
    "Halide::*": "Halide.h",
    "SQLite*::*": "sqlite3.h",
    "CLI11::*": "CLI/*",
    "nlohmann_json::*": "nlohmann/*",
    "fmt::*": "fmt/*",
    "protozero::*": "protozero/*",
    "GTest::*": "gtest/*",
}

# What kiln says leaves it at one place, which writes out what a terminal would obey. The generator has its own: its streams
# go to kiln.
PRINTERS = ["cli/answers/output.cpp", "generators/generator_main.cpp", "simulate/simulate_main.cpp"]
PRINTS = re.compile(r"\b(?:fmt::print(?:ln)?|(?:std::)?(?:v?f?printf|f?puts|f?putc|putchar|perror)|std::c(?:out|err|log))\b\s*[(<]")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)

SOURCES = {".h", ".c", ".cpp"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
RAW_STRING = re.compile(r'R"([^(\s]*)\(.*?\)\1"', re.DOTALL)  # texts of generated files
CMAKE_COMMENT = re.compile(r"#[^\n]*")
CMAKE_TARGET = re.compile(r"\badd_(?:library|executable)\s*\(\s*([\w-]+)")
CMAKE_LINK = re.compile(r"\btarget_link_libraries\s*\(([^)]*)\)")
CMAKE_NAME = re.compile(r"[\w-]+(?:::[\w-]+)*")  # also inside generator expressions
CMAKE_ELSEWHERE = re.compile(r"(?<![\w/])\.\./[\w./-]*\.c(?:pp)?\b")
MOST_FILES = 25

PAGE = "docs/architecture.md"
PAGE_ROW = re.compile(r"^\| ([^|]*) \|", re.MULTILINE)  # its first cell
PAGE_FOLDER = re.compile(r"`([\w/]+)/`")


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


def folder_of(file):
    """The innermost folder of the table that `file` (a path from the root) lies in."""
    parent = pathlib.PurePosixPath(file).parent
    return next((f.as_posix() for f in (parent, *parent.parents) if f.as_posix() in FOLDERS), None)


def may_include(folder, header):
    return folder_of(header) == folder or any(header == a or folder_of(header) == a for a in FOLDERS[folder][0])


def check_file(root, file):
    """Why `file` (a path from the root) may not include what it does."""
    folder = folder_of(file)
    allowed, libraries = FOLDERS[folder]
    for library, through in carried(root, file, {file}):
        pattern = next(p for p in HEADERS if fnmatch.fnmatchcase(library, p))
        if pattern not in libraries:
            who = ", ".join(f for f in FOLDERS if pattern in FOLDERS[f][1]) or "tests"
            yield f"{f'reaches {library} through {through}' if through else f'includes {library}'}, which only {who} may"
    for quote, header in includes(root / file):
        if quote == "<" or matches(header, HEADERS):
            continue
        if not (root / header).is_file():
            yield f'includes "{header}", which is no file: write it from the root of the repository'
        elif not may_include(folder, header):
            yield f"includes {header}, but {folder}/ may include only itself, {', '.join(allowed + ['std'])}"
    if file not in PRINTERS and PRINTS.search(COMMENT.sub("", (root / file).read_text(encoding="utf-8"))):
        yield f"prints: what people see is printed by {PRINTERS[0]} alone"


def check_links(folder, text, owners):
    """Why the targets of `folder` may not link what they do. `owners`: target -> folder that defines it."""
    allowed, libraries = FOLDERS[folder]
    for words in CMAKE_LINK.findall(text):
        for library in CMAKE_NAME.findall(words)[1:]:
            pattern = next((p for p in LIBRARIES if fnmatch.fnmatchcase(library, p)), None)
            owner = owners.get(library, folder)
            if pattern and LIBRARIES[pattern] not in libraries:
                who = ", ".join(f for f in FOLDERS if LIBRARIES[pattern] in FOLDERS[f][1]) or "tests"
                yield f"links {library}, which only {who} may"
            elif owner != folder and not any(a == owner or a.startswith(owner + "/") for a in allowed):
                yield f"links {library} of {owner}/, which {folder}/ may not include"


def check_sources(folder, text):
    """Why a target of `folder` may not be made of the sources that it names."""
    for path in CMAKE_ELSEWHERE.findall(text):
        yield f"names {path}: sources are listed in the folder where they lie"


def circles(root, files):
    """Circles of headers: two files that include each other, perhaps through others."""
    graph = {f: [h for q, h in includes(root / f) if q == '"' and h in files and h != f] for f in files}
    done, path = set(), []

    def visit(file):
        if file in path:
            yield path[path.index(file):] + [file]
        elif file not in done:
            path.append(file)
            for header in graph[file]:
                yield from visit(header)
            path.pop()
            done.add(file)

    for file in sorted(files):
        yield from visit(file)


def check_page(text):
    """Why the table of folders in the page is not FOLDERS: a row for each, and what it may include in that row or above."""
    rows = [folders for cell in PAGE_ROW.findall(text) if (folders := PAGE_FOLDER.findall(cell))]
    named = [folder for folders in rows for folder in folders]
    place = {folder: i for i, folders in enumerate(rows) for folder in folders}
    yield from (f"{folder}/ has no row" for folder in FOLDERS if folder not in place)
    yield from (f"{folder}/ has more than one row" for folder in sorted(place) if named.count(folder) > 1)
    tops = {folder.split("/")[0] for folder in FOLDERS}
    yield from (f"{folder}/ is not in FOLDERS" for folder in named if folder not in FOLDERS and folder.split("/")[0] in tops)
    for folder, (allowed, _) in FOLDERS.items():
        for used in sorted({a if a in FOLDERS else folder_of(a) for a in allowed}):
            if place.get(used, -1) > place.get(folder, len(rows)):
                yield f"{folder}/ stands above {used}/, which it uses"


def check(root):
    """Every violation in the tree, sorted: "file: why"."""
    root = pathlib.Path(root)
    problems, files = [], {}
    cmake = {}  # folder -> the text of its CMakeLists.txt without comments
    for top in sorted({folder.split("/")[0] for folder in FOLDERS}):
        for path in (root / top).rglob("*"):
            file = path.relative_to(root).as_posix()
            folder = folder_of(file)
            if path.suffix in SOURCES and not folder:
                problems.append(f"{file}: {path.parent.relative_to(root)}/ has no row in the table of folders")
            elif path.suffix in SOURCES:
                files.setdefault(path.parent, []).append(file)
                problems += [f"{file}: {why}" for why in check_file(root, file)]
            elif path.name == "CMakeLists.txt" and folder:
                cmake[folder] = CMAKE_COMMENT.sub("", path.read_text(encoding="utf-8"))
    for folder, names in files.items():
        if len(names) > MOST_FILES:
            problems.append(f"{folder.relative_to(root)}/: {len(names)} files; make rooms of at most {MOST_FILES}")
    everything = {file for names in files.values() for file in names}
    problems += [f"{circle[0]}: includes itself, {' -> '.join(circle)}" for circle in circles(root, everything)]
    owners = {target: folder for folder, text in cmake.items() for target in CMAKE_TARGET.findall(text)}
    for folder, text in cmake.items():
        complaints = [*check_links(folder, text, owners), *check_sources(folder, text)]
        problems += [f"{folder}/CMakeLists.txt: {why}" for why in complaints]
    if (root / PAGE).is_file():
        problems += [f"{PAGE}: {why}" for why in check_page((root / PAGE).read_text(encoding="utf-8"))]
    return sorted(problems)


def main():
    problems = check(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
