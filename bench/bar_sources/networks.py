"""Whole networks: time of a build and of loading, speed beside onnxruntime, memory."""

import json
import re
import statistics
import sys
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
    "dnsmos_sig_bak_ovr": ["input_1=1x144160"],
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


# Of whole networks: the fastest peer by ours with one thread, and with two. The others of the suite count in the means.
TUNED = ("resnet50", "vgg19", "squeezenet", "densenet121", "inception_v1", "open-nsfw", "dnsmos_sig_bak_ovr", "PP-OCRv6_det_small",
         "layout_cdla", "palm_detection_full", "ch_ppocr_mobile_v2.0_cls_mobile", "basic_pitch_nmp", "face_detection_short_range",
         "face_landmark")  # fmt: skip
CONVERTED = ("palm_detection_full", "face_landmark")  # from TFLite by hand (bench/README.md); others do not wait for them
TUNING_TIME = "20m"  # a network, on two cores


def path_of(name: str) -> str:
    for folder in (SMALL_MODELS, MODELS):
        if (folder / f"{name}.onnx").exists():
            return str(folder / f"{name}.onnx")
    return model(name)


def tuned_networks(job: Job, threads: int) -> dict[str, Value]:
    values, effort = {}, ["--trials", str(job.trials)] if job.trials else ["--time", TUNING_TIME]
    command = f"tune --network {' '.join(effort)} --threads {threads}; bench --network --against ..."
    for name in TUNED:
        if name in CONVERTED and not (MODELS / f"{name}.onnx").exists():
            values[name] = Value(0, "", command, f"{name}.onnx is not in .models; bench/README.md says how it is made")
            continue
        network = ["--network", path_of(name), "--db", job.db, "--threads", str(threads)]
        for shape in OPEN_SHAPES.get(name, []):
            network += ["--shape", shape]
        job.run("tune", *network, *effort)
        answer = job.run("bench", *network, "--against", "onnxruntime,openvino", "--steps", "--format", "json")
        [row] = json.loads(answer)["networks"]
        timed = {peer: of for peer, of in row["peers"].items() if of.get("ratio")}
        if not timed:
            values[name] = Value(0.01, "", command, row["reason"] or "no peer has a time")
            continue
        peer = min(timed, key=lambda name: timed[name]["ratio"])
        values[name] = Value(timed[peer]["ratio"], f"{timed[peer]['ratio_lo']:.2f}..{timed[peer]['ratio_hi']:.2f}", command,
                             f"{row['median_ms']:.2f} ms, {peer} {timed[peer]['median_ms']:.2f} ms")  # fmt: skip
    ratios = {name: value.value for name, value in values.items() if value.value}
    slowest = min(ratios, key=ratios.get)
    spread = f"{ratios[slowest]:.2f}..{max(ratios.values()):.2f}"
    values["mean"] = Value(statistics.geometric_mean(ratios.values()), spread, command, f"{len(ratios)} networks")
    values["slowest"] = Value(ratios[slowest], spread, command, slowest)
    return values


def one_thread(job: Job) -> dict[str, Value]:
    return tuned_networks(job, 1)


def two_threads(job: Job) -> dict[str, Value]:
    return tuned_networks(job, 2)


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


def stem_model(job: Job, stem: dict) -> str:
    """A network of one strided convolution and its ReLU, as workloads/stems.json has it."""
    sys.path.insert(0, str(ROOT / "tests" / "end_to_end"))
    import numpy
    import onnx_writer

    batch, *extents, channels = stem["input"]
    *window, _, outputs = stem["kernel"]
    random = numpy.random.default_rng(1)
    weights = random.uniform(-1, 1, (outputs, channels, *window))
    pads = [lo for lo, _ in stem["padding"]] + [hi for _, hi in stem["padding"]]
    nodes = [onnx_writer.node("Conv", ["x", "w", "b"], "c", strides=stem["strides"], pads=pads, kernel_shape=window),
             onnx_writer.node("Relu", ["c"], "y")]  # fmt: skip
    sizes = zip(extents, window, stem["strides"], stem["padding"], strict=True)
    result = [(extent + lo + hi - taps) // stride + 1 for extent, taps, stride, (lo, hi) in sizes]
    path = job.folder / f"{stem['name']}.onnx"
    constants = {"w": weights, "b": random.uniform(-1, 1, outputs)}
    path.write_bytes(onnx_writer.model(nodes, constants, {"x": [batch, channels, *extents]}, {"y": [batch, outputs, *result]}))
    return str(path)


STEM_TRIALS = "24"  # a kernel
STEM_TURNS = 3


def stems(job: Job) -> dict[str, Value]:
    """First layers as networks: what space_to_depth makes of them where it is chosen by times, beside without it, in turns."""
    values = {}
    for stem in json.loads((ROOT / "workloads" / "stems.json").read_text())["workloads"]:
        network = ["--network", stem_model(job, stem), "--db", str(job.folder / f"{stem['name']}.db")]
        job.run("tune", *network, "--trials", STEM_TRIALS)
        times = {"*none*": [], "space_to_depth": []}
        for _ in range(STEM_TURNS):
            for without, medians in times.items():
                answer = job.run("bench", *network, "--steps", "--rounds", "3", "--without", without, "--format", "json")
                medians.append(json.loads(answer)["networks"][0]["median_ms"])
        chosen, off = (min(medians) for medians in times.values())
        rows = json.loads(job.run("explain", *network, "--pass", "alterations", "--format", "json"))
        told = [f"{row['chosen']}, {row['costs']}, gain {row['gain_us']:.0f} us"
                for row in rows if row["alteration"] == "space_to_depth"]  # fmt: skip
        values[stem["name"]] = Value(off / chosen, "", "", f"{chosen:.3f} ms, without {off:.3f} ms; {'; '.join(told)}")
    return values
