"""What every peer shares: the line protocol with kiln, the numbers that a peer is checked by, and the clock.

A peer is a child of `kiln bench` that lives as long as it. One JSON object a line, requests on stdin, answers on stdout:

    (at the start)                                      {"peer": "onednn", "version": "3.13.0"} or {"error": REASON}
    {"do": "prepare", "threads": 1, "workload": {...}}  {"about": "..."} | {"unsupported": REASON}
                                                        | {"wrong": REASON} | {"error": REASON}
    {"do": "prepare_network", "threads": 1, "model": FILE, "inputs": [{"name", "file"}], "outputs": [...]}   the same answers
    {"do": "round", "budget_ns": N}                     {"samples_ns": [...], "call_overhead_ns": X} | {"error": REASON}
    {"do": "profile"}                                   {"nodes": [{"names": [...], "ns": X}]} | {"error": REASON}

`workload` has the fields of a `workloads/1` entry, all of them. `prepare` compiles, packs weights, lays out the operands as
the peer likes best, checks its numbers and warms up; only what `round` calls is timed. `call_overhead_ns` is the same
call on a convolution of one multiplication: Python and the library's own dispatch, which kiln subtracts. A network is an ONNX file with .npy files of its
inputs, and of the outputs that kiln computed, which the peer's own must equal but for rounding. `profile` tells what the library spends on each
of its nodes in one run of the network, by its own clock, and which nodes of the ONNX file that one computes (network_profile.py). stdout belongs to the protocol: what a library prints
there goes to stderr.
"""

import dataclasses
import json
import math
import os
import resource
import statistics
import sys
import time
from collections.abc import Callable

import numpy as np
import onnx

from network_profile import NodeNames, Spent
from quantized import QuantizedOperands, expected, is_near, output_quanta


class Unsupported(Exception):
    """The peer has no way to compute this workload; the text says why."""


class WrongNumbers(Exception):
    """The peer computed something else than the convolution."""


FORWARD, INPUT_GRADIENT, KERNEL_GRADIENT = "conv2d", "conv2d_backprop_input", "conv2d_backprop_kernel"


@dataclasses.dataclass
class Convolution:
    """An f32 convolution or one of its gradients, or a quantized convolution; two spatial dimensions, shapes as in `workloads/1` (N H W C; R S Ci/g
    Co) and always those of the forward convolution."""

    op: str
    input: list[int]
    kernel: list[int]
    strides: list[int]
    padding: list[list[int]]
    dilation: list[int]
    groups: int
    bias: bool
    relu: bool
    quantized: bool = False

    @staticmethod
    def of(workload: dict) -> "Convolution":
        def need(condition: bool, reason: str) -> None:
            if not condition:
                raise Unsupported(reason)

        op = workload["op"]
        need(op in (FORWARD, INPUT_GRADIENT, KERNEL_GRADIENT), f"operation {op}: peers run conv2d and its gradients")
        small = ("i8", "u8")
        quantized = workload["dtype"] in small
        if quantized:
            need(workload["output_dtype"] in small and workload["kernel_dtype"] == "i8" and not workload["kernel_zero_point"],
                 "peers run quantized convolutions with weights of i8 without zero points, and results of i8 or u8")
        else:
            need(workload["dtype"] == workload["output_dtype"] == "f32", "peers run f32, i8 and u8 only")
        need(all(d == 1 for d in workload["lhs_dilation"]), "lhs_dilation")
        need(not workload["prologue"], "prologue")
        need(not workload["depthwise"], "depthwise")
        need(workload["batch_group_count"] == 1, "batch groups")
        need(all(p >= 0 for pair in workload["padding"] for p in pair), "negative padding")
        steps = workload["epilogue"]
        known = [step for step in steps if not (quantized and str(step).startswith("requantize_"))]
        need(known in ([], ["bias"], ["relu"], ["bias", "relu"]), f"epilogue {','.join(map(str, steps))}")
        c = Convolution(op, workload["input"], workload["kernel"], workload["strides"], workload["padding"],
                        workload["rhs_dilation"], workload["feature_group_count"], "bias" in steps, "relu" in steps,
                        quantized)
        need(all(extent > 0 for extent in c.output), "empty output")
        return c

    @property
    def output(self) -> list[int]:
        spatial = [
            (self.input[1 + d] + sum(self.padding[d]) - (self.kernel[d] - 1) * self.dilation[d] - 1)
            // self.strides[d] + 1
            for d in range(2)
        ]
        return [self.input[0], *spatial, self.kernel[3]]

    @property
    def result(self) -> list[int]:
        return {FORWARD: self.output, INPUT_GRADIENT: self.input, KERNEL_GRADIENT: self.kernel}[self.op]


def empty_call(op: str, quantized: bool = False) -> Convolution:
    """The smallest convolution: its time is what a call costs whatever the work."""
    return Convolution(op, [1, 1, 1, 1], [1, 1, 1, 1], [1, 1], [[0, 0], [0, 0]], [1, 1], 1, False, False, quantized)


@dataclasses.dataclass
class Operands:
    """An operation reads the two of x, k and dy that it does not compute, or not the gradient of."""

    x: np.ndarray  # N H W C
    k: np.ndarray  # R S Ci/g Co
    dy: np.ndarray  # N Ho Wo Co
    bias: np.ndarray | None

    @staticmethod
    def random(c: Convolution) -> "Operands":
        rng = np.random.default_rng(1)

        def draw(shape: list[int]) -> np.ndarray:
            return rng.uniform(-1, 1, shape).astype(np.float32)

        return Operands(draw(c.input), draw(c.kernel), draw(c.output), draw(c.kernel[3:]) if c.bias else None)


@dataclasses.dataclass
class Layer:
    """A prepared layer."""

    call: Callable[[], None]  # one run, to its end
    output: Callable[[], np.ndarray]  # of the last call: N H W C, the gradient of the kernel R S Ci/g Co
    about: str  # layout, chosen implementation: for people


@dataclasses.dataclass
class Network:
    """A prepared network."""

    call: Callable[[], None]
    outputs: Callable[[], dict[str, np.ndarray]]  # of the last call, by name
    about: str
    profile: Callable[[], list[Spent]]


class Peer:
    """One library. What prepares may raise Unsupported."""

    name: str
    version: str
    operations: tuple[str, ...] = (FORWARD,)
    works_in_calling_thread = True  # with one thread; else its own threads preempt each other and nothing is retaken

    def prepare(self, c: Convolution, operands: Operands, threads: int) -> Layer:
        raise Unsupported("f32")

    def prepare_quantized(self, c: Convolution, operands: QuantizedOperands, threads: int) -> Layer:
        """Activations of u8, see quantized.py."""
        raise Unsupported("quantized convolutions")

    def prepare_network(self, model: str, inputs: dict[str, np.ndarray], threads: int) -> "Network":
        raise Unsupported("networks")


def products(c: Convolution, operands: Operands | QuantizedOperands, index: tuple[int, ...]) -> np.ndarray:
    """What the result at `index` is the sum of, in double, by the definition."""
    groups_outputs, per_group = c.kernel[3] // c.groups, c.kernel[2]
    x, k, dy = (a if a is None else a.astype(float) for a in (operands.x, operands.k, operands.dy))
    terms: list[np.ndarray] = []
    _, ho, wo, _ = c.output

    def place(out: int, tap: int, d: int) -> int:
        return out * c.strides[d] + tap * c.dilation[d] - c.padding[d][0]

    if c.op == KERNEL_GRADIENT:
        r, s, i, o = index
        channel = o // groups_outputs * per_group + i
        for p in range(ho):
            for q in range(wo):
                h, w = place(p, r, 0), place(q, s, 1)
                if 0 <= h < c.input[1] and 0 <= w < c.input[2]:
                    terms.append(x[:, h, w, channel] * dy[:, p, q, o])
        return np.concatenate(terms or [np.zeros(1)])
    for r in range(c.kernel[0]):
        for s in range(c.kernel[1]):
            if c.op == FORWARD:
                b, p, q, o = index
                h, w = place(p, r, 0), place(q, s, 1)
                first = o // groups_outputs * per_group
                if 0 <= h < c.input[1] and 0 <= w < c.input[2]:
                    terms.append(x[b, h, w, first:first + per_group] * k[r, s, :, o])
            else:
                b, h, w, i = index
                (p, p_rest), (q, q_rest) = (divmod(at - place(0, tap, d), c.strides[d])
                                            for d, (at, tap) in enumerate([(h, r), (w, s)]))
                first = i // per_group * groups_outputs
                outputs = slice(first, first + groups_outputs)
                if not p_rest and not q_rest and 0 <= p < ho and 0 <= q < wo:
                    terms.append(dy[b, p, q, outputs] * k[r, s, i % per_group, outputs])
    return np.concatenate(terms or [np.zeros(1)])


def check(c: Convolution, operands: Operands | QuantizedOperands, got: np.ndarray) -> None:
    """Compares corners and random results with plain sums in double. A wrong weight order or padding shows anywhere."""
    rng = np.random.default_rng(2)
    if list(got.shape) != c.result:
        raise WrongNumbers(f"the result is {list(got.shape)}, not {c.result}")
    points = [(0, 0, 0, 0), tuple(extent - 1 for extent in c.result)]
    points += [tuple(int(rng.integers(0, extent)) for extent in c.result) for _ in range(62)]
    for point in points:
        terms = products(c, operands, point)
        if c.quantized:
            if not is_near(float(got[point]), value := expected(operands, terms, point[-1])):
                raise WrongNumbers(f"result{list(point)} is {got[point]}, not {value:.2f}")
            continue
        total, magnitude = terms.sum(), np.abs(terms).sum()
        if operands.bias is not None:
            total += operands.bias[point[-1]]
            magnitude += abs(operands.bias[point[-1]])
        if c.relu:
            total = max(total, 0.0)
        value = float(got[point])
        if not abs(value - total) <= 1e-4 * magnitude + 1e-6:  # also NaN
            raise WrongNumbers(f"result{list(point)} is {value:.7g}, not {total:.7g}")


# Libraries round at other places inside of a quantized network, so its outputs may differ by whole quanta. The conformance suites allow
# no fewer where all of their libraries agree (tests/conformance/networks.json).
MOST_QUANTA = 2
# A sigmoid is exact to the digits of 1 in all libraries, however small its results are: two units of the last digit in f32.
FLOAT_FLOOR = 2**-22


def check_outputs(got: dict[str, np.ndarray], expected: dict[str, np.ndarray], quanta: dict[str, float]) -> str:
    """Rounding grows from layer to layer, and a softmax or a division makes more of it: what counts is whether both computed the same
    network. `quanta` are the steps of outputs that are quantized. Answers how far these are apart, for people."""
    farthest = 0
    for name, ours in expected.items():
        if name not in got:
            raise WrongNumbers(f"there is no output {name}")
        theirs = got[name]
        if theirs.shape != ours.shape:
            raise WrongNumbers(f"output {name} is {list(theirs.shape)}, not {list(ours.shape)}")
        a, b = theirs.astype(float), ours.astype(float)
        scale = np.max(np.abs(b[np.isfinite(b)]), initial=1e-6)
        distance = np.max(np.abs(np.where(a == b, 0, a - b)), initial=0)  # NaN where only one of them is no number
        step = quanta.get(name, 0.0)
        limit = max(1e-3 * scale, FLOAT_FLOOR, (MOST_QUANTA + 0.01) * step)
        if not np.array_equal(np.isnan(a), np.isnan(b)) or np.nan_to_num(distance) > limit:
            apart = f"{distance:.3g} ({distance / step:.1f} quanta)" if step else f"{distance:.3g}"
            raise WrongNumbers(f"output {name} is {apart} from kiln's, whose largest element is {scale:.3g}")
        farthest = max(farthest, round(float(np.nan_to_num(distance)) / step) if step else 0)
    return f"outputs within {farthest} quanta of kiln's" if quanta else ""


def time_calls(call: Callable[[], None], calls: int) -> float:
    start = time.perf_counter_ns()
    for _ in range(calls):
        call()
    return (time.perf_counter_ns() - start) / calls


def warm_up(call: Callable[[], None], budget_ns: float = 30e6) -> float:
    """Answers the fastest call."""
    fastest, start = math.inf, time.perf_counter_ns()
    while time.perf_counter_ns() - start < budget_ns:
        fastest = min(fastest, time_calls(call, 1))
    return max(fastest, 1.0)


def preemptions() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw


def sample(call: Callable[[], None], call_ns: float, budget_ns: float, retake: bool) -> list[float]:
    """Several calls a sample where one is short, at least five samples. `retake`: as in kiln's runner, a sample during
    which the system gave the core to another process is taken again, unless that goes on and on."""
    calls = max(1, math.ceil(50e3 / call_ns))
    samples: list[float] = []
    start = time.perf_counter_ns()
    while (spent := time.perf_counter_ns() - start) < budget_ns or len(samples) < 5:
        before = preemptions()
        ns = time_calls(call, calls)
        if not retake or preemptions() == before or spent > 4 * budget_ns:
            samples.append(ns)
    return samples


@dataclasses.dataclass
class Timed:
    """A layer under the clock."""

    layer: Layer
    call_ns: float  # the fastest while warming up
    retake: bool

    def sample(self, budget_ns: float) -> list[float]:
        warm_up(self.layer.call, budget_ns / 5)  # others used the core and its caches meanwhile
        return sample(self.layer.call, self.call_ns, budget_ns, self.retake)


class Server:
    """Answers the requests, one at a time."""

    def __init__(self, peer: Peer):
        self.peer = peer
        self.timed: Timed | None = None
        self.profiled: tuple[Network, NodeNames] | None = None
        self.empty: dict[tuple[str, bool, int], Timed] = {}  # by operation, whether quantized, and threads

    def timed_layer(self, c: Convolution, threads: int) -> Timed:
        if c.quantized:
            operands = QuantizedOperands.random(c.input, c.kernel, c.bias)
            layer = self.peer.prepare_quantized(c, operands, threads)
        else:
            operands = Operands.random(c)
            layer = self.peer.prepare(c, operands, threads)
        layer.call()
        check(c, operands, layer.output())
        return Timed(layer, warm_up(layer.call), threads == 1 and self.peer.works_in_calling_thread)

    def prepare(self, request: dict) -> dict:
        self.timed = self.profiled = None  # frees the ones before
        c, threads = Convolution.of(request["workload"]), int(request["threads"])
        if c.op not in self.peer.operations:
            raise Unsupported(f"no operation {c.op}")
        self.overhead = (c.op, c.quantized, threads)
        if self.overhead not in self.empty:
            self.empty[self.overhead] = self.timed_layer(empty_call(c.op, c.quantized), threads)
        self.timed = self.timed_layer(c, threads)
        return {"about": self.timed.layer.about}

    def prepare_network(self, request: dict) -> dict:
        self.timed = self.profiled = None
        threads = int(request["threads"])
        inputs, outputs = ({t["name"]: np.load(t["file"]) for t in request[what]} for what in ("inputs", "outputs"))
        network = self.peer.prepare_network(request["model"], inputs, threads)
        network.call()
        model = onnx.load(request["model"], load_external_data=False)
        apart = check_outputs(network.outputs(), outputs, output_quanta(model))
        self.profiled = (network, NodeNames(model))
        self.overhead = (FORWARD, False, threads)
        if self.overhead not in self.empty:
            self.empty[self.overhead] = self.timed_layer(empty_call(FORWARD), threads)
        layer = Layer(network.call, lambda: np.zeros(0), network.about)
        self.timed = Timed(layer, warm_up(network.call), threads == 1 and self.peer.works_in_calling_thread)
        return {"about": ", ".join(filter(None, (network.about, apart)))}

    def profile(self, request: dict) -> dict:
        if self.profiled is None:
            return {"error": "profile before prepare_network"}
        network, names = self.profiled
        return {"nodes": [{"names": names.of(spent.labels), "ns": spent.ns} for spent in network.profile()]}

    def round(self, request: dict) -> dict:
        if self.timed is None:
            return {"error": "round before prepare"}
        budget_ns = float(request["budget_ns"])
        overhead_ns = statistics.median(self.empty[self.overhead].sample(budget_ns / 10))
        return {"samples_ns": self.timed.sample(budget_ns), "call_overhead_ns": overhead_ns}

    def answer(self, line: str) -> dict:
        try:
            request = json.loads(line)
            what = {"prepare": self.prepare, "prepare_network": self.prepare_network, "round": self.round,
                    "profile": self.profile}[request["do"]]
            return what(request)
        except Unsupported as reason:
            return {"unsupported": str(reason)}
        except WrongNumbers as reason:
            return {"wrong": str(reason)}
        except Exception as error:  # the library's own; kiln prints it
            return {"error": f"{type(error).__name__}: {error}"}


def serve(make_peer: Callable[[], Peer]) -> None:
    protocol = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def say(answer: dict) -> None:
        protocol.write(json.dumps(answer) + "\n")
        protocol.flush()

    try:
        peer = make_peer()
    except Exception as error:
        say({"error": f"{type(error).__name__}: {error}"})
        sys.exit(1)
    say({"peer": peer.name, "version": peer.version})
    server = Server(peer)
    for line in sys.stdin:
        say(server.answer(line))
