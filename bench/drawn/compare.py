#!/usr/bin/env python3
"""Draws small ONNX models at random, and compares what `kiln run` computes with onnxruntime without optimizations.

It needs onnx and onnxruntime, which bench/peers/setup installs into .peers; .peers/bin/python runs it. A line for each model that
fails or differs, and its folder, which stays; then how many ended in which way. Exit status 1 if any failed or differs."""

import argparse
import collections
import pathlib
import shutil
import subprocess
import sys
import tempfile


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kiln", metavar="KILN", help="the command, such as build/bin/kiln")
    parser.add_argument("first", metavar="FIRST_SEED", type=int)
    parser.add_argument("count", metavar="COUNT", type=int, help="of seeds")
    parser.add_argument("nodes", metavar="NODES", type=int, nargs="?", default=6, help="of a model [6]")
    parser.add_argument("--quantized", action="store_true", help="draw quantized operators, too")
    parser.add_argument("--rare", action="store_true", help="draw what few models have more often")
    return parser.parse_args()


if __name__ == "__main__":
    ARGUMENTS = read_arguments()  # before packages are asked for, so that --help answers without them

import numpy  # noqa: E402
import onnx  # noqa: E402
import onnxruntime  # noqa: E402
from drawing import Drawing  # noqa: E402
from operators import COMMON  # noqa: E402
from quantized import QUANTIZED  # noqa: E402
from rare import RARE  # noqa: E402

TOLERANCE = 2e-4  # of an output's largest number
QUANTA = 0.03  # the share of a quantized model's numbers that may be another quantum, but one at least: halves round either way


def draw(seed: int, nodes: int, weights: dict) -> tuple[onnx.ModelProto, dict] | None:
    drawing, tries = Drawing(seed), 0
    while nodes > 0 and tries < 200:
        nodes, tries = nodes - drawing.grow(*drawing.random.choices(list(weights), weights.values())), tries + 1
    model = drawing.finish()
    inputs = {i.name: drawing.numbers.uniform(-1, 1, drawing.inputs[i.name]).astype("f4") for i in model.graph.input}
    return (model, inputs) if model.graph.output else None


def expected(path: pathlib.Path, inputs: dict) -> list[numpy.ndarray] | None:
    """Nothing where onnxruntime refuses the model."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level, options.log_severity_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL, 4
    try:
        return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"]).run(None, inputs)
    except Exception:  # its own types are those of its bindings
        return None


def difference(got: numpy.ndarray, wanted: numpy.ndarray, share: float) -> str:
    if got.shape != wanted.shape:
        return f"has the shape {got.shape}, not {wanted.shape}"
    scale = numpy.max(numpy.abs(wanted), initial=1e-6, where=numpy.isfinite(wanted))
    with numpy.errstate(invalid="ignore"):
        same = (got == wanted) | (numpy.isnan(got) & numpy.isnan(wanted)) | (numpy.abs(got - wanted) <= TOLERANCE * scale)
    wrong = int(same.size - numpy.count_nonzero(same))
    return f"differs in {wrong} of {same.size} elements" if wrong > (max(1, share * same.size) if share else 0) else ""


def judge(kiln: str, folder: pathlib.Path, model: onnx.ModelProto, inputs: dict, share: float) -> str:
    """In words; empty: right."""
    onnx.save(model, folder / "m.onnx")
    wanted = expected(folder / "m.onnx", inputs)
    if wanted is None:
        return "refused by onnxruntime"
    command = [kiln, "run", "--network", folder / "m.onnx", "-o", folder / "out"]
    for name, array in inputs.items():
        numpy.save(folder / f"{name}.npy", array)
        command += ["--input", f"{name}={folder / name}.npy"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=900)
    if ran.returncode:
        return f"exit {ran.returncode}: {(ran.stderr.strip().splitlines() or [''])[-1]}"
    for output, array in zip(model.graph.output, wanted):
        if problem := difference(numpy.load(folder / "out" / f"{output.name}.npy"), array, share):
            return f"{output.name} {problem}"
    return ""


def main(asked: argparse.Namespace) -> int:
    weights = COMMON | (QUANTIZED if asked.quantized else {})
    weights |= {operator: weight * (4 if asked.rare else 1) / 4 for operator, weight in RARE.items()}
    ends = collections.Counter()
    for seed in range(asked.first, asked.first + asked.count):
        drawn = draw(seed, asked.nodes, weights)
        if drawn is None:
            continue
        folder = pathlib.Path(tempfile.mkdtemp(prefix=f"drawn-{seed}-"))
        problem = judge(asked.kiln, folder, *drawn, QUANTA if asked.quantized else 0)
        ends["right" if not problem else "refused by onnxruntime" if problem.startswith("refused") else "wrong"] += 1
        if problem and not problem.startswith("refused"):
            print(f"seed {seed}: {problem} ({folder})", flush=True)
        else:
            shutil.rmtree(folder)
    print(", ".join(f"{number} {end}" for end, number in ends.items()))
    return 1 if ends["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main(ARGUMENTS))
