"""Compiles a fuzz target with clang's libFuzzer, AddressSanitizer and UndefinedBehaviorSanitizer, and runs it from its
corpus for a while. Exit status 77 (CTest: skipped) where there is no clang with libFuzzer.

A finding fails the test and stays in --findings, by default the working folder. Once it is repaired it belongs into
tests/fuzz/corpus, where every ./test replays it.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

FLAGS = ["-std=c++20", "-O1", "-g", "-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=all"]
LIMITS = ["-timeout=10", "-rss_limit_mb=2048", "-max_len=4096", "-print_final_stats=1"]


def find_clang(folder):
    """A clang++ that links a fuzzer; one without compiler-rt does not."""
    source = folder / "empty.cpp"
    source.write_text('extern "C" int LLVMFuzzerTestOneInput(const unsigned char *, unsigned long) { return 0; }\n')
    for name in ["clang++", *(f"clang++-{version}" for version in range(22, 13, -1))]:
        clang = shutil.which(name)
        command = [clang, *FLAGS, source, "-o", folder / "empty"]
        if clang and subprocess.run(command, capture_output=True).returncode == 0:
            return clang
    return None


def compile_target(clang, arguments, folder):
    program = folder / "fuzzer"
    includes = [flag for path in arguments.include for flag in ("-isystem", path)]
    command = [clang, *FLAGS, '-DKILN_VERSION="fuzz"', *includes, *arguments.sources, "-lfmt", "-pthread", "-o", program]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{clang} cannot compile the target:\n{done.stderr}")
    return program


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, required=True)
    parser.add_argument("--corpus", type=pathlib.Path, required=True)
    parser.add_argument("--grown", type=pathlib.Path, help="folder for inputs that reach new code [a temporary one]")
    parser.add_argument("--findings", type=pathlib.Path, default=pathlib.Path.cwd())
    parser.add_argument("--include", action="append", default=[])
    parser.add_argument("sources", nargs="+")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kiln-fuzz-") as name:
        folder = pathlib.Path(name)
        clang = find_clang(folder)
        if clang is None:
            print("no clang++ with libFuzzer is here; ./setup --full installs it (Debian's clang and libclang-rt-dev)")
            return 77
        program = compile_target(clang, arguments, folder)
        grown = arguments.grown or folder / "grown"
        grown.mkdir(exist_ok=True)
        length = [f"-max_total_time={arguments.seconds}", f"-seed={int(os.environ.get('KILN_TEST_SEED', '1')) % 2**32}"]
        findings = f"-artifact_prefix={arguments.findings}/{arguments.corpus.name}-"
        command = [program, *LIMITS, *length, findings, grown, arguments.corpus]
        return 1 if subprocess.run(command).returncode != 0 else 0


if __name__ == "__main__":
    sys.exit(main())
