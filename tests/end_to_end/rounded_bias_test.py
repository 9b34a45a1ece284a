"""The bias of a depthwise layer is added to the sum that the layer has without one. A compiler that joins both reorders all addends:
they round in another way, and have no room in the registers."""

import json
import sys
import unittest

import numpy
from kiln_job import ROOT, KilnJob, seed

sys.path.insert(0, str(ROOT / "examples"))

import kiln_package  # noqa: E402

NCHW = "/input_layout:NCHW/output_layout:NCHW"
KEYS = {  # the layer, but for its bias, and the algorithm
    "conv2d/input:1x40x40x32/kernel:3x3x1x32/padding:1,1x1,1/feature_group_count:32" + NCHW: "depthwise_rows",
    "conv2d/input:1x30x61x5/kernel:5x5x1x5/padding:2,2x2,2/feature_group_count:5" + NCHW: "depthwise_rows",
    "conv2d/input:1x30x61x40/kernel:5x5x1x40/padding:2,2x2,2/feature_group_count:40": "direct",
}


def entry(name, key, epilogue):
    """Of a workload list."""
    fields = dict(field.split(":") for field in key.split("/")[1:])
    sizes = {name: [int(size) for size in fields[name].split("x")] for name in ("input", "kernel")}
    padding = [[int(side) for side in sides.split(",")] for sides in fields["padding"].split("x")]
    layouts = {name: fields[name] for name in ("input_layout", "output_layout") if name in fields}
    return {"name": name, "op": "conv2d", **sizes, "padding": padding, **layouts, "epilogue": epilogue,
            "feature_group_count": int(fields["feature_group_count"])}  # fmt: skip


class RoundedBias(unittest.TestCase):
    def answers(self, key, algorithm):
        """Without the bias and with it, and the bias."""
        random = numpy.random.default_rng(seed())
        layers = [entry("without", key, []), entry("with", key, ["bias"])]
        _, height, width, channels = layers[0]["input"]
        is_nchw = "input_layout" in layers[0]
        shape = (1, channels, height, width) if is_nchw else (1, height, width, channels)
        x, w = random.normal(size=shape).astype("f4"), random.normal(size=layers[0]["kernel"]).astype("f4")
        bias = random.normal(size=channels).astype("f4")
        with KilnJob() as job:
            layer_list = job.folder / "layers.json"
            layer_list.write_text(json.dumps({"format": "workloads/1", "name": "both", "workloads": layers}))
            job.run("build", "--workloads", layer_list, "--algorithm", algorithm, "--name", "both", "-o", job.folder / "dist")
            package = kiln_package.Package(job.folder / "dist" / "lib" / "libboth.so")
            found = []
            for of_layer, operands in ((key, {}), (key + "/epilogue:bias", {"bias": bias})):
                layer = kiln_package.Layer(package.find(of_layer))
                layer.pack(w)
                found.append(layer.run(x, numpy.empty(shape, "f4"), **operands))
        return *found, bias[:, None, None] if is_nchw else bias

    def test_it_is_added_last(self):  # where the addends are reordered, 33 to 40 % are equal
        for key, algorithm in KEYS.items():
            with self.subTest(key):
                without, with_bias, bias = self.answers(key, algorithm)
                equal = numpy.mean(with_bias == without + bias)  # tiles at an edge may have another order in each
                self.assertGreater(equal, 0.8)


if __name__ == "__main__":
    unittest.main()
