"""Direct convolution: beside the peak, beside other libraries, untuned, for AVX2, on whole networks."""

import json
import random
import statistics
import sys

from bar_sources.job import ROOT, CommandFailed, Job, Value
from bar_sources.reports import default_of_tuned, fastest_peer, fastest_ratios, peer_ratios, share_of_peak, times_of

DENSE_3X3 = ("c2_3x3", "c3_3x3", "c4_3x3", "c5_3x3", "vgg224", "vgg112", "vgg56", "vgg28", "c3_dil2", "c4_dil2")


def is_dense_layer(entry: dict) -> bool:
    """1x1, or 3x3 at 56x56, 28x28 and 14x14."""
    window, extent = entry["kernel"][:2], entry["input"][1:3]
    return window == [1, 1] or (window == [3, 3] and extent in ([56, 56], [28, 28], [14, 14]))


def tuned_resnet50(job: Job) -> dict[str, Value]:
    trials = job.trials or 60
    workloads = job.workloads("resnet50", is_dense_layer)
    direct = ["--algorithm", "direct"]  # other algorithms are compared with the peak by bars of their own
    job.run("tune", "--workloads", workloads, "--db", job.db, "--trials", str(trials), *direct)
    bench = ["bench", "--workloads", workloads, "--db", job.db, "--rounds", "5", "--format", "json", *direct]
    report = json.loads(job.run(*bench))
    values = {
        "tuned": share_of_peak(report, "round_medians_us"),
        "default": share_of_peak(report, "default_round_medians_us"),
    }
    values["tuned"].command = f"kiln tune --trials {trials}; kiln bench"
    values["default"].command = "kiln bench"
    return values


def bars_forward(job: Job) -> dict[str, Value]:
    """One value for each layer of workloads/bars_forward.json, and the geometric mean of its dense 3x3 layers."""
    trials = job.trials or 100
    workloads = job.workloads("bars_forward", lambda entry: True)
    job.run("tune", "--workloads", workloads, "--db", job.db, "--trials", str(trials), "--algorithm", "direct")
    report = json.loads(job.run("bench", "--workloads", workloads, "--db", job.db, "--algorithm",
                                "direct", "--against", "onednn,onnxruntime,openvino", "--format", "json"))
    values = peer_ratios(report) | {"default": default_of_tuned(report)}
    dense = [value.value for name, value in values.items() if name in DENSE_3X3]
    values["dense_3x3"] = Value(statistics.geometric_mean(dense) if all(dense) else 0,
                                f"{min(dense):.2f}..{max(dense):.2f}", "",
                                f"{len(dense)} layers; {times_of(report['layers'])}")
    for value in values.values():
        value.command = f"kiln tune --trials {trials} --algorithm direct; kiln bench --against ..."
    return values


def avx2(job: Job) -> dict[str, Value]:
    """Share of the AVX2 peak of kernels for AVX2, the slowest of the 1x1 and dense 3x3 layers."""
    trials = job.trials or 20
    workloads = job.workloads("bars_forward", lambda entry: entry["name"] in (*DENSE_3X3, "c2_1x1", "c4_1x1"))
    job.run("tune", "--workloads", workloads, "--db", job.db, "--trials", str(trials), "--algorithm", "direct",
            "--target", "avx2")
    report = json.loads(job.run("bench", "--workloads", workloads, "--db", job.db, "--rounds", "5", "--target", "avx2",
                                "--algorithm", "direct", "--format", "json"))
    shares = {layer["name"]: 100 * (layer["gflops"] or 0) / report["peak_gflops"] for layer in report["layers"]}
    worst = min(shares, key=shares.get)
    return {"worst": Value(shares[worst], f"{min(shares.values()):.0f}..{max(shares.values()):.0f}",
                           f"kiln tune --target avx2 --trials {trials} --algorithm direct; kiln bench --target avx2",
                           f"{len(shares)} layers, worst {worst}, peak {report['peak_gflops']:.1f} GFLOP/s")}


def network_sample(name: str) -> list[dict]:
    """The layers of workloads/NAME.json that the bars measure: all of a small network, every third of a large one."""
    entries = json.loads((ROOT / "workloads" / f"{name}.json").read_text())["workloads"]
    step = 3 if name in ("resnext101", "vgg19") else 1
    return [{**entry, "name": f"{name}/{entry['name']}"} for entry in entries[::step]]


def networks(job: Job) -> dict[str, Value]:
    """The slowest layer of five networks beside the fastest peer, direct convolution only."""
    trials = job.trials or 40
    entries = [entry for name in ("resnet50", "alexnet", "mobilenet_v1", "resnext101", "vgg19")
               for entry in network_sample(name)]
    workloads = job.list_of("networks", entries)
    job.run("tune", "--workloads", workloads, "--db", job.db, "--trials", str(trials), "--algorithm", "direct")
    report = json.loads(job.run("bench", "--workloads", workloads, "--db", job.db, "--algorithm",
                                "direct", "--against", "onednn,onnxruntime,openvino", "--format", "json"))
    ratios = fastest_ratios(report)
    slower = sorted((ratio, name) for name, ratio in ratios.items() if ratio < 1)
    note = f"geometric mean {statistics.geometric_mean(ratios.values()):.2f}; {times_of(report['layers'])}"
    if slower:
        note += "; below 1: " + ", ".join(f"{name} {ratio:.2f}" for ratio, name in slower)
    return {"worst": Value(min(ratios.values()), f"{min(ratios.values()):.2f}..{max(ratios.values()):.2f}",
                           f"kiln tune --trials {trials} --algorithm direct; kiln bench --against ...", note)}


def random_layers(seed: int, count: int) -> list[dict]:
    """Convolutions as networks have them, but with sizes that nobody chose: any extent, any channel count."""
    draw = random.Random(seed)
    entries = []
    while len(entries) < count:
        kernel = draw.choice((1, 1, 1, 3, 3, 3, 5, 7))
        stride = draw.choice((1, 1, 1, 2))
        extent = round(2 ** draw.uniform(2.5, 7))
        padding = draw.choice((kernel // 2, 0)) if kernel > 1 else 0
        kind = draw.choice(("dense", "dense", "dense", "grouped", "depthwise"))
        groups = 1
        if kind == "dense":
            ci, co = draw.choice((3, round(2 ** draw.uniform(3, 9)))), round(2 ** draw.uniform(3, 9))
        elif kind == "grouped":
            groups, of_group = draw.randint(2, 32), draw.choice((4, 6, 8, 12, 16, 24, 32, 40))
            ci, co = of_group, of_group * groups
        else:
            groups = round(2 ** draw.uniform(3, 10))
            ci, co = 1, groups
        if extent + 2 * padding < kernel:
            continue
        flops = 2 * (extent // stride) ** 2 * kernel**2 * ci * co
        if not 2e6 < flops < 2e9:  # long enough to be measured, short enough to be tuned
            continue
        entries.append({
            "name": f"{kind}_{extent}x{extent}x{ci * groups}_{co}_k{kernel}s{stride}p{padding}g{groups}",
            "op": "conv2d", "input": [draw.choice((1, 1, 1, 2)), extent, extent, ci * groups],
            "kernel": [kernel, kernel, ci, co], "strides": [stride, stride], "padding": [[padding, padding]] * 2,
            "feature_group_count": groups,
        })  # fmt: skip
    return entries


def random_shapes(job: Job) -> dict[str, Value]:
    """40 random layers beside onnxruntime: the worst decile of untuned kernels, and how far tuning gets."""
    print(f"random shapes: --seed {job.seed}", file=sys.stderr)
    workloads = job.list_of("random", random_layers(job.seed, 40))
    untuned = json.loads(job.run("bench", "--workloads", workloads, "--algorithm", "direct", "--against",
                                 "onnxruntime", "--format", "json"))
    ratios = {}
    for layer in untuned["layers"]:
        if layer["median_us"] and not any(peer["median_us"] for peer in layer["peers"].values()):
            continue  # the peer has no time to compare with
        found = fastest_peer(layer)
        ratios[layer["name"]] = found[0] if found else 0.01  # a layer that kiln fails on is the slowest
    if not ratios:
        raise CommandFailed("onnxruntime has a time for none of the random layers")
    ordered = sorted(ratios, key=ratios.get)
    decile = ordered[max(0, len(ordered) // 10 - 1)]
    note = f"{len(ordered)} layers, seed {job.seed}, geometric mean {statistics.geometric_mean(ratios.values()):.2f}"
    note += f"; {times_of(untuned['layers'])}"
    note += "; worst: " + ", ".join(f"{name} {ratios[name]:.2f}" for name in ordered[:4])
    values = {"decile": Value(ratios[decile], f"{ratios[ordered[0]]:.2f}..{ratios[ordered[-1]]:.2f}",
                              "kiln bench --against onnxruntime", note)}
    trials = job.trials or 20
    job.run("tune", "--workloads", workloads, "--db", job.db, "--trials", str(trials), "--algorithm", "direct")
    tuned = json.loads(job.run("bench", "--workloads", workloads, "--db", job.db, "--algorithm", "direct", "--format",
                               "json"))
    values["default"] = default_of_tuned(tuned)
    values["default"].command = f"kiln tune --trials {trials} --algorithm direct; kiln bench"
    return values
