"""What an answer of `kiln bench --format json` says about a bar."""

import collections
import re
import statistics

from bar_sources.job import Value


def share_of_peak(report: dict, rounds: str) -> Value:
    """The geometric mean over layers of GFLOP/s by the FMA peak, in percent; `rounds` names the kernel's times."""
    layers, peak = report["layers"], report["peak_gflops"]
    failed = [layer["name"] for layer in layers if not layer.get(rounds)]
    if failed:  # a layer without a time must not raise the mean by being left out
        return Value(0, "", "", "no time: " + ", ".join(failed))

    def share(layer: dict, time_us: float) -> float:
        return 100 * layer["gflops"] * layer["median_us"] / time_us / peak

    each = [share(layer, statistics.median(layer[rounds])) for layer in layers]
    by_round = [
        statistics.geometric_mean(share(layer, layer[rounds][r]) for layer in layers)
        for r in range(min(len(layer[rounds]) for layer in layers))
    ]
    return Value(
        statistics.geometric_mean(each),
        f"{min(by_round):.1f}..{max(by_round):.1f}",
        "",
        f"{len(layers)} layers, {min(each):.0f} to {max(each):.0f} % each, peak {peak:.1f} GFLOP/s",
    )


def fastest_peer(layer: dict) -> tuple[float, float, float, str] | None:
    """Ratio of the fastest peer's median by ours, its quartiles over the rounds, and the peer's name."""
    timed = {name: peer for name, peer in layer["peers"].items() if peer["median_us"]}
    if not timed or not layer["median_us"]:
        return None
    name = min(timed, key=lambda peer: timed[peer]["median_us"])
    return timed[name]["ratio"], timed[name]["ratio_lo"], timed[name]["ratio_hi"], name


def times_of(layers: list[dict], what: str = "layers", time: str = "median_us") -> str:
    """How many layers each peer has a time of: one that answers wrong numbers has none, which must be seen in the bar."""
    counts = collections.Counter()
    for layer in layers:
        counts.update({name: int(bool(peer.get(time))) for name, peer in layer["peers"].items()})
    short = sum(is_too_short(layer) for layer in layers) if time == "median_us" else 0
    return (f"of {len(layers)} {what}: times of " + (", ".join(f"{peer} {count}" for peer, count in counts.items()) or "no peer")
            + (f"; {short} too short for any peer" if short else ""))  # fmt: skip


def without_times(layer: dict, time: str = "median_us") -> str:
    """The peers that have no time, and why; begins with a semicolon where there are any."""
    return "".join(f"; {name} has no time: {peer.get('reason') or 'no reason given'}"
                   for name, peer in layer["peers"].items() if not peer.get(time))  # fmt: skip


def is_too_short(layer: dict) -> bool:
    """Whether every peer took less than half of a call without work beyond such a call, and we took no more than that half: nobody
    knows who is faster."""
    reasons = [peer.get("reason") or "" for peer in layer["peers"].values()]
    calls = [re.match(r"too short .*\(([\d.]+) us\)", reason) for reason in reasons]
    return bool(layer["median_us"] and calls) and all(call and layer["median_us"] <= float(call[1]) / 2 for call in calls)


def fastest_ratios(report: dict) -> dict[str, float]:
    """The fastest peer's median by ours, for each layer that is not too short; 0.01 where there is no time, which must not be left
    out of a mean."""
    found = {layer["name"]: fastest_peer(layer) for layer in report["layers"] if not is_too_short(layer)}
    return {name: ratio[0] if ratio else 0.01 for name, ratio in found.items()}


def peer_ratios(report: dict) -> dict[str, Value]:
    """The fastest peer's median by ours, for each layer."""
    values = {}
    for layer in report["layers"]:
        found = fastest_peer(layer)
        if found is None:
            values[layer["name"]] = Value(0, "", "", "no time: " + (layer["reason"] or "no peer has one") + without_times(layer))
        else:
            ratio, lo, hi, peer = found
            values[layer["name"]] = Value(ratio, f"{lo:.2f}..{hi:.2f}", "", f"fastest peer {peer}{without_times(layer)}")
    return values


def default_of_tuned(report: dict) -> Value:
    """Speed of the default candidates by that of the tuned ones, geometric mean over the layers, in percent."""
    timed = [layer for layer in report["layers"] if layer["median_us"] and layer["default_us"]]
    if len(timed) < len(report["layers"]):
        return Value(0, "", "", "a layer has no time")
    shares = {layer["name"]: 100 * layer["median_us"] / layer["default_us"] for layer in timed}
    worst = min(shares, key=shares.get)
    return Value(statistics.geometric_mean(shares.values()), f"{min(shares.values()):.0f}..{max(shares.values()):.0f}",
                 "", f"{len(timed)} layers, worst {worst}")
