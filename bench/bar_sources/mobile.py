"""Layers of mobile networks, which memory decides: beside other libraries, and in every layout."""

import json
import statistics

from bar_sources.job import ROOT, Job, Value
from bar_sources.reports import fastest_ratios, peer_ratios, times_of

LISTS = ("mobile_depthwise", "mobile_pointwise", "mobilenet_v1")
LAYOUTS = ("NHWC", "NCHW", "NCHW8c", "NCHW16c")


def depthwise(extent: int, channels: int, window: int, stride: int) -> dict:
    return {"op": "conv2d", "input": [1, extent, extent, channels], "kernel": [window, window, 1, channels],
            "strides": [stride, stride], "padding": [[window // 2, window // 2]] * 2, "feature_group_count": channels}  # fmt: skip


def dense(extent: int, inputs: int, outputs: int, window: int = 1) -> dict:
    return {"op": "conv2d", "input": [1, extent, extent, inputs], "kernel": [window, window, inputs, outputs],
            "padding": [[window // 2, window // 2]] * 2}  # fmt: skip


# Layers of EfficientDet that once were slower than the fastest library.
ONCE_SLOWER = {
    "dw5x5s2_128x144": depthwise(128, 144, 5, 2),
    "dw3x3s2_256x96": depthwise(256, 96, 3, 2),
    "1x1_128_144_24": dense(128, 144, 24),
    "dw3x3_128x144": depthwise(128, 144, 3, 1),
    "dw5x5_64x240": depthwise(64, 240, 5, 1),
    "1x1_128_96_24": dense(128, 96, 24),
}

# Layers beyond L2 whose operations take less time than their bytes.
BESIDE_A_COPY = {
    "dw3x3s2_256x96": depthwise(256, 96, 3, 2),
    "dw3x3_128x144": depthwise(128, 144, 3, 1),
    "dw5x5s2_128x144": depthwise(128, 144, 5, 2),
    "dw3x3_112x64": depthwise(112, 64, 3, 1),
    "dw3x3s2_112x96": depthwise(112, 96, 3, 2),
    "dw3x3_150x144": depthwise(150, 144, 3, 1),
}

# Channels that blocks of 16 divide, so that every layout computes the same.
IN_EVERY_LAYOUT = [
    *(depthwise(extent, channels, window, stride)
      for extent, channels in ((112, 32), (56, 144), (28, 240), (14, 480), (7, 960))
      for window, stride in ((3, 1), (3, 2), (5, 1), (5, 2))),
    *(dense(extent, inputs, outputs)
      for extent, inputs, outputs in ((112, 32, 16), (56, 144, 32), (28, 192, 64), (14, 384, 96), (7, 960, 320))),
    *(dense(extent, inputs, outputs, 3)
      for extent, inputs, outputs in ((112, 16, 32), (56, 64, 64), (28, 128, 128), (14, 256, 256), (7, 512, 512))),
]  # fmt: skip


def beside_peers(job: Job, name: str, entries: list[dict]) -> dict:
    workloads = job.list_of(name, entries)
    job.run("tune", "--workloads", workloads, "--db", job.db, "--trials", str(job.trials or 40))
    return json.loads(job.run("bench", "--workloads", workloads, "--db", job.db, "--against",
                              "onednn,onnxruntime,openvino", "--format", "json"))


def command(job: Job) -> str:
    return f"kiln tune --trials {job.trials or 40}; kiln bench --against ..."


def networks(job: Job) -> dict[str, Value]:
    """The fastest peer's median by ours over the layers of mobile networks: geometric mean, and the slowest."""
    entries = [{**entry, "name": f"{name}/{entry['name']}"} for name in LISTS
               for entry in json.loads((ROOT / "workloads" / f"{name}.json").read_text())["workloads"]]
    report = beside_peers(job, "mobile", entries)
    ratios, timed = fastest_ratios(report), times_of(report["layers"])
    ordered = sorted(ratios, key=ratios.get)
    spread = f"{ratios[ordered[0]]:.2f}..{ratios[ordered[-1]]:.2f}"
    worst = "worst: " + ", ".join(f"{name} {ratios[name]:.2f}" for name in ordered[:5])
    return {"mean": Value(statistics.geometric_mean(ratios.values()), spread, command(job), timed),
            "slowest": Value(ratios[ordered[0]], spread, command(job), f"{worst}; {timed}")}


def once_slower(job: Job) -> dict[str, Value]:
    report = beside_peers(job, "once-slower", [{"name": name, **entry} for name, entry in ONCE_SLOWER.items()])
    values = peer_ratios(report)
    for value in values.values():
        value.command = command(job)
    return values


def of_copy(job: Job) -> dict[str, Value]:
    """Layers whose bytes decide, by the speed of a copy of as many bytes in the same rounds: the slowest, in percent."""
    trials = job.trials or 40
    workloads = job.list_of("of-copy", [{"name": name, **entry} for name, entry in BESIDE_A_COPY.items()])
    job.run("tune", "--workloads", workloads, "--db", job.db, "--trials", str(trials))
    report = json.loads(job.run("bench", "--workloads", workloads, "--db", job.db, "--rounds", "5", "--format", "json"))
    used = f"kiln tune --trials {trials}; kiln bench"
    shares = {layer["name"]: 100 * layer.get("of_copy", 0) for layer in report["layers"]}  # 0: it has no time beside a copy
    ordered = sorted(shares, key=shares.get)
    return {"worst": Value(shares[ordered[0]], f"{shares[ordered[0]]:.0f}..{shares[ordered[-1]]:.0f}", used,
                           ", ".join(f"{name} {shares[name]:.0f} %" for name in ordered))}  # fmt: skip


def layouts(job: Job) -> dict[str, Value]:
    """The fastest layout's time by the slowest's, for each layer the same layout in and out: the worst layer."""
    trials = job.trials or 20
    entries = [{**entry, "name": f"{i}/{layout}", "input_layout": layout, "output_layout": layout}
               for i, entry in enumerate(IN_EVERY_LAYOUT) for layout in LAYOUTS]
    workloads = job.list_of("layouts", entries)
    job.run("tune", "--workloads", workloads, "--db", job.db, "--trials", str(trials))
    report = json.loads(job.run("bench", "--workloads", workloads, "--db", job.db, "--rounds", "5", "--format", "json"))
    times: list[dict[str, float]] = [{} for _ in IN_EVERY_LAYOUT]
    for layer in report["layers"]:
        i, layout = layer["name"].split("/")
        times[int(i)][layout] = layer["median_us"] or float("inf")
    shares = [min(of.values()) / max(of.values()) for of in times]
    worst = min(range(len(shares)), key=lambda i: shares[i])
    entry = IN_EVERY_LAYOUT[worst]
    shown = ", ".join(f"{layout} {us:.0f} us" for layout, us in times[worst].items())
    return {"worst": Value(shares[worst], f"{min(shares):.2f}..{max(shares):.2f}",
                           f"kiln tune --trials {trials}; kiln bench",
                           f"{len(shares)} layers, {sum(s < 0.8 for s in shares)} below; worst: input {entry['input']}, "
                           f"kernel {entry['kernel']}, {shown}")}  # fmt: skip
