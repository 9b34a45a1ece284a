"""Whole networks: time of a build and of loading, speed beside onnxruntime, memory."""

import json
import re
import statistics
import time

from bar_sources.job import ROOT, CommandFailed, Job, Value

MODELS = ROOT / ".models"
SMALL_MODELS = ROOT / "tests" / "conformance" / "networks"
LOADS = 11
OPEN_SHAPES = {  # of models that leave shapes open
    "PP-OCRv6_det_small": ["x=1x3x480x480"],
    "PP-OCRv6_rec_small": ["x=1x3x48x320"],
    "ch_ppocr_mobile_v2.0_cls_mobile": ["x=1x3x48x192"],
    "open-nsfw": ["input:0=1x224x224x3"],
    "basic_pitch_nmp": ["serving_default_input_2:0=1x43844x1"],
}


def model(name: str) -> str:
    path = MODELS / f"{name}.onnx"
    if not path.exists():
        raise CommandFailed(f"{path} is not there; bench/models/setup gets it")
    return str(path)


def package_of_resnet50(job: Job) -> dict[str, Value]:
    """Time of an untuned package of ResNet-50, and of loading it: 50 ms for 100 MB of weights."""
    dist = job.folder / "resnet50-network"
    start = time.monotonic()
    job.run("build", "--network", model("resnet50"), "--name", "resnet50", "-o", str(dist))
    minutes = (time.monotonic() - start) / 60
    files = [str(dist / "lib/libresnet50.so"), "resnet50", str(dist / "lib/resnet50.weights")]
    loads = [job.program("network-loading", *files) for _ in range(LOADS)]
    times = sorted(load["ms"] for load in loads)
    megabytes = loads[0]["bytes"] / 1e6
    loading = statistics.median(times)
    return {"time": Value(4 / minutes, "", "", f"{minutes:.1f} minutes"),
            "loading": Value(50 / loading * megabytes / 100, f"{times[0]:.1f}..{times[-1]:.1f} ms", "",
                             f"{loading:.1f} ms for {megabytes:.0f} MB")}  # fmt: skip


def untuned(job: Job) -> dict[str, Value]:
    """ResNet-50 with default kernels and one thread beside onnxruntime."""
    answer = job.run("bench", "--network", model("resnet50"), "--against", "onnxruntime", "--format", "json")
    [network] = json.loads(answer)["networks"]
    peer = network["peers"].get("onnxruntime", {})
    if "ratio" not in peer:
        return {"resnet50": Value(0, "", "", peer.get("reason") or network.get("reason") or "no time")}
    return {"resnet50": Value(peer["ratio"], f"{peer['ratio_lo']:.2f}..{peer['ratio_hi']:.2f}", "",
                              f"{network['median_ms']:.1f} ms, onnxruntime {peer['median_ms']:.1f} ms")}


def memory(job: Job) -> dict[str, Value]:
    """Memory between the steps of all models, over its lower bound: the worst."""
    worst, of = 0.0, "no model"
    models = sorted([*MODELS.glob("*.onnx"), *SMALL_MODELS.glob("*.onnx")])
    for path in models:
        shapes = [word for shape in OPEN_SHAPES.get(path.stem, []) for word in ("--shape", shape)]
        text = job.run("explain", "--network", str(path), "--pass", "plan", *shapes)
        found = re.search(r"([\d.]+) times the lower bound", text)
        if found and float(found[1]) > worst:
            worst, of = float(found[1]), path.stem
    if not worst:
        raise CommandFailed("no model has memory between its steps; bench/models/setup gets models")
    return {"plan": Value(1.1 / worst, "", "", f"{worst:.3f} of {of}, {len(models)} models")}
