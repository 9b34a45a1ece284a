"""Fuzzes one target for KILN_FUZZ_SECONDS (600): with clang's libFuzzer, AddressSanitizer and UndefinedBehaviorSanitizer
where there is a clang that links them, else with the target's own program, which changes files of the corpus blindly.

Prints the seed (KILN_TEST_SEED), the number of executions and, where there is one, the file of the finding. It stays in
--findings, by default the working folder. Once it is repaired it belongs into tests/fuzz/corpus, where every ./test
replays it.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

FLAGS = ["-std=c++20", "-O1", "-g", "-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=all"]
LIMITS = ["-timeout=10", "-rss_limit_mb=2048", "-max_len=8192", "-print_final_stats=1"]


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
    """Each source apart: they are many, and targets share most of them, which a cache knows."""
    cache = [shutil.which("ccache")] if shutil.which("ccache") else []
    includes = [flag for path in arguments.include for flag in ("-isystem", path)]
    instructions = dict(entry.rsplit("=", 1) for entry in arguments.instructions)

    def compile_source(numbered):
        index, source = numbered
        file = folder / f"{index}.o"
        flags = [*FLAGS, *instructions.get(source, "").split(), '-DKILN_VERSION="fuzz"', *includes]
        command = [*cache, clang, *flags, "-c", source, "-o", file]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{clang} cannot compile {source}:\n{done.stderr}")
        return file

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(compile_source, enumerate(arguments.sources)))
    program = folder / "fuzzer"
    libraries = [f"-l{name}" for name in arguments.link]
    done = subprocess.run([clang, *FLAGS, *objects, *libraries, "-pthread", "-o", program], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{clang} cannot link the target:\n{done.stderr}")
    return program


def run_libfuzzer(program, arguments, folder):
    """Status of the fuzzer, with its last lines."""
    grown = arguments.grown or folder / "grown"
    grown.mkdir(exist_ok=True)
    length = [f"-max_total_time={arguments.seconds}", f"-seed={arguments.seed}"]
    findings = f"-artifact_prefix={arguments.findings}/{arguments.corpus.name}-"
    command = [program, *LIMITS, *length, findings, grown, arguments.corpus]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, errors="replace") as process:
        lines = []
        for line in process.stderr:
            lines = [*lines[-200:], line]
        status = process.wait()
    report = "".join(lines)
    executions = re.search(r"number_of_executed_units:\s*(\d+)", report)
    print(f"seed {arguments.seed}, {executions.group(1) if executions else 'unknown'} executions")
    if status != 0:
        finding = re.search(r"Test unit written to (\S+)", report)
        print(report, f"finding: {finding.group(1) if finding else 'none was written'}", sep="\n")
    return 1 if status != 0 else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=pathlib.Path, required=True)
    parser.add_argument("--program", type=pathlib.Path, required=True, help="of the target, without libFuzzer")
    parser.add_argument("--grown", type=pathlib.Path, help="folder for inputs that reach new code [a temporary one]")
    parser.add_argument("--findings", type=pathlib.Path, default=pathlib.Path.cwd())
    parser.add_argument("--include", action="append", default=[])
    parser.add_argument("--instructions", action="append", default=[], metavar="SOURCE=FLAGS")
    parser.add_argument("--link", action="append", default=[])
    parser.add_argument("sources", nargs="+")
    arguments = parser.parse_args()
    arguments.seconds = int(os.environ.get("KILN_FUZZ_SECONDS", "600"))
    arguments.seed = int(os.environ.get("KILN_TEST_SEED", "1")) % 2**32
    with tempfile.TemporaryDirectory(prefix="kiln-fuzz-") as name:
        folder = pathlib.Path(name)
        clang = None if "KILN_FUZZ_BLINDLY" in os.environ else find_clang(folder)
        if clang:
            return run_libfuzzer(compile_target(clang, arguments, folder), arguments, folder)
        print("no clang++ with libFuzzer is here (./setup --full installs it): files of the corpus are changed blindly")
        finding = arguments.findings / f"{arguments.corpus.name}-finding"
        command = [arguments.program, "--seconds", arguments.seconds, "--seed", arguments.seed, "--finding", finding]
        return subprocess.run([*map(str, command), str(arguments.corpus)]).returncode


if __name__ == "__main__":
    sys.exit(main())
