"""Whole networks: time of a build and of loading, speed beside onnxruntime, memory."""

import array
import json
import math
import random
import re
import statistics
import sys
import time

from bar_sources.job import ROOT, CommandFailed, Job, Value, no_value
from bar_sources.reports import times_of, without_times

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
    "keyword_spotting": ["input_1=1x50x10x1"],
    "visual_wake_words": ["input_1=1x96x96x3"],
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
CONVERTED = ("palm_detection_full", "face_landmark")  # from TFLite by hand (bench/README.md); means may leave them out
TUNING_TIME = "20m"  # a network, on two cores


def path_of(name: str) -> str:
    for folder in (SMALL_MODELS, MODELS):
        if (folder / f"{name}.onnx").exists():
            return str(folder / f"{name}.onnx")
    return model(name)


def tuned_network(job: Job, name: str, threads: int, effort: list[str]) -> dict:
    """The row of `kiln bench`, after tuning."""
    network = ["--network", path_of(name), "--db", job.db, "--threads", str(threads)]
    for shape in OPEN_SHAPES.get(name, []):
        network += ["--shape", shape]
    job.run("tune", *network, *effort)
    answer = job.run("bench", *network, "--against", "onnxruntime,openvino", "--steps", "--format", "json")
    [row] = json.loads(answer)["networks"]
    return row


def beside_fastest(row: dict, command: str) -> Value:
    timed = {peer: of for peer, of in row["peers"].items() if of.get("ratio")}
    if not timed:
        return Value(0.01, "", command, (row["reason"] or "no peer has a time") + without_times(row, "ratio"))
    peer = min(timed, key=lambda name: timed[name]["ratio"])
    return Value(timed[peer]["ratio"], f"{timed[peer]['ratio_lo']:.2f}..{timed[peer]['ratio_hi']:.2f}", command,
                 f"{row['median_ms']:.2f} ms, {peer} {timed[peer]['median_ms']:.2f} ms{without_times(row, 'ratio')}")  # fmt: skip


def over_networks(values: dict[str, Value], rows: list[dict], left_out: list[str], command: str) -> dict[str, Value]:
    """Mean and slowest. They have no value where a network failed or its model was not got: the others may be the fast ones."""
    ratios = {name: value.value for name, value in values.items() if value.value is not None}
    note = times_of(rows, "networks", "ratio")
    if left_out:
        note += f"; left out, as they are not in .models: {', '.join(left_out)}"
    missing = [name for name in values if name not in ratios and name not in left_out]
    if not ratios or missing:
        others = f"; of the others the mean is {statistics.geometric_mean(ratios.values()):.2f}" if ratios else ""
        nothing = no_value(f"{', '.join(missing or left_out)} without a time{others}; {note}", command)
        return {"mean": nothing, "slowest": nothing}
    slowest = min(ratios, key=ratios.get)
    spread = f"{ratios[slowest]:.2f}..{max(ratios.values()):.2f}"
    return {"mean": Value(statistics.geometric_mean(ratios.values()), spread, command, note),
            "slowest": Value(ratios[slowest], spread, command, f"{slowest}; {note}")}  # fmt: skip


def tuned_networks(job: Job, threads: int) -> dict[str, Value]:
    effort = ["--trials", str(job.trials)] if job.trials else ["--time", TUNING_TIME]
    command = f"tune --network {' '.join(effort)} --threads {threads}; bench --network --against ..."
    left_out = [name for name in CONVERTED if not (MODELS / f"{name}.onnx").exists()]
    values, rows = {}, []
    for name in TUNED:
        if name in left_out:
            values[name] = no_value(f"{name}.onnx is not in .models; bench/README.md says how it is made", command)
            continue
        try:
            rows.append(tuned_network(job, name, threads, effort))
        except (CommandFailed, ValueError) as error:
            print(f"bars: {name}: {error}", file=sys.stderr)
            values[name] = no_value(str(error), command)
            continue
        values[name] = beside_fastest(rows[-1], command)
    return values | over_networks(values, rows, left_out, command)


def one_thread(job: Job) -> dict[str, Value]:
    return tuned_networks(job, 1)


def two_threads(job: Job) -> dict[str, Value]:
    for name in TUNED:
        if name not in CONVERTED:
            path_of(name)  # both bars are of all of them, so that hours would be in vain
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
    got = len(list(MODELS.glob("*.onnx")))
    return {"plan": Value(1.1 / worst, "", "", f"{worst:.3f} of {of}, {len(models)} models, {got} of them in .models")}


def stem_model(job: Job, stem: dict) -> str:
    """A network of one strided convolution and its ReLU, as workloads/stems.json has it."""
    sys.path.insert(0, str(ROOT / "tests" / "end_to_end"))
    import onnx_writer

    batch, *extents, channels = stem["input"]
    *window, _, outputs = stem["kernel"]
    drawn = random.Random(1)

    def constant(*shape: int) -> memoryview:
        numbers = array.array("f", (drawn.uniform(-1, 1) for _ in range(math.prod(shape))))
        return memoryview(numbers).cast("B").cast("f", shape)

    pads = [lo for lo, _ in stem["padding"]] + [hi for _, hi in stem["padding"]]
    nodes = [onnx_writer.node("Conv", ["x", "w", "b"], "c", strides=stem["strides"], pads=pads, kernel_shape=window),
             onnx_writer.node("Relu", ["c"], "y")]  # fmt: skip
    sizes = zip(extents, window, stem["strides"], stem["padding"], strict=True)
    result = [(extent + lo + hi - taps) // stride + 1 for extent, taps, stride, (lo, hi) in sizes]
    path = job.folder / f"{stem['name']}.onnx"
    constants = {"w": constant(outputs, channels, *window), "b": constant(outputs)}
    path.write_bytes(onnx_writer.model(nodes, constants, {"x": [batch, channels, *extents]}, {"y": [batch, outputs, *result]}))
    return str(path)


STEM_TRIALS = 24  # a kernel
STEM_TURNS = 3


def stems(job: Job) -> dict[str, Value]:
    """First layers as networks: what space_to_depth makes of them where it is chosen by times, beside without it, in turns."""
    values = {}
    for stem in json.loads((ROOT / "workloads" / "stems.json").read_text())["workloads"]:
        network = ["--network", stem_model(job, stem), "--db", str(job.folder / f"{stem['name']}.db")]
        job.run("tune", *network, "--trials", str(job.trials or STEM_TRIALS))
        kinds = ([], ["--without", "space_to_depth"])
        times: list[list[float]] = [[] for _ in kinds]
        for _ in range(STEM_TURNS):
            for without, medians in zip(kinds, times, strict=True):
                answer = job.run("bench", *network, "--steps", "--rounds", "3", *without, "--format", "json")
                medians.append(json.loads(answer)["networks"][0]["median_ms"])
        chosen, off = map(min, times)
        rows = json.loads(job.run("explain", *network, "--pass", "alterations", "--format", "json"))
        told = [f"{row['chosen']}, {row['costs']}, gain {row['gain_us']:.0f} us"
                for row in rows if row["alteration"] == "space_to_depth"]  # fmt: skip
        values[stem["name"]] = Value(off / chosen, "", "", f"{chosen:.3f} ms, without {off:.3f} ms; {'; '.join(told)}")
    return values
