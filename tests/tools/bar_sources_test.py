"""What the sources of bench/bars make of answers: what has no time never raises a value, and notes say what one leaves out.
Usage: bar_sources_test.py [unittest's arguments]"""

import array
import importlib
import json
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "bench"))

from bar_sources import memory, networks, reports  # noqa: E402
from bar_sources.direct import random_layers  # noqa: E402
from bar_sources.job import CommandFailed  # noqa: E402


class Reports(unittest.TestCase):
    def layer(self, name, us, default_us, peers):
        return {"name": name, "median_us": us, "default_us": default_us, "gflops": 50.0, "reason": "crash",
                "round_medians_us": [us, us] if us else None, "peers": peers}

    def peer(self, us, ratio):
        return {"median_us": us, "ratio": ratio, "ratio_lo": ratio, "ratio_hi": ratio}

    def test_the_fastest_peer_counts_and_a_missing_time_is_zero(self):
        report = {"layers": [self.layer("a", 10.0, 20.0, {"x": self.peer(11.0, 1.1), "y": self.peer(9.0, 0.9)}),
                             self.layer("b", None, None, {})], "peak_gflops": 100}
        values = reports.peer_ratios(report)
        self.assertEqual((values["a"].value, values["a"].note), (0.9, "fastest peer y"))
        self.assertEqual(values["b"].value, 0)
        self.assertEqual(reports.times_of(report["layers"]), "of 2 layers: times of x 1, y 1")
        self.assertEqual(reports.default_of_tuned(report).value, 0)
        self.assertEqual(reports.share_of_peak(report, "round_medians_us").value, 0)
        report["layers"].pop()
        self.assertAlmostEqual(reports.default_of_tuned(report).value, 50)
        self.assertAlmostEqual(reports.share_of_peak(report, "round_medians_us").value, 50)

    def test_a_peer_with_wrong_numbers_is_named(self):
        layers = [self.layer("a", 10.0, 10.0, {"x": self.peer(11.0, 1.1), "y": {"median_us": None, "reason": "wrong at 3"}})]
        self.assertEqual(reports.peer_ratios({"layers": layers})["a"].note, "fastest peer x; y has no time: wrong at 3")
        self.assertEqual(reports.times_of(layers), "of 1 layers: times of x 1, y 0")

    def test_a_layer_too_short_for_every_peer_is_left_out_and_counted(self):
        def short(name="x"):
            return {name: {"median_us": None, "reason": "too short to be told from its call (6.7 us)"}}

        layers = [self.layer("timed", 10.0, 10.0, {"x": self.peer(11.0, 1.1)}), self.layer("short", 0.3, 0.3, short()),
                  self.layer("slower", 3.4, 3.4, short()), self.layer("wrong too", 0.3, 0.3, short() | {"y": {"median_us": None, "reason": "wrong at 3"}}),
                  self.layer("crash", None, None, short()), self.layer("no peer", 0.3, 0.3, {})]
        self.assertEqual(reports.fastest_ratios({"layers": layers}),
                         {"timed": 1.1, "slower": 0.01, "wrong too": 0.01, "crash": 0.01, "no peer": 0.01})
        self.assertEqual(reports.times_of(layers), "of 6 layers: times of x 1, y 0; 1 too short for any peer")

    def test_random_layers_are_those_of_their_seed(self):
        self.assertEqual(random_layers(1, 5), random_layers(1, 5))
        self.assertNotEqual(random_layers(1, 5), random_layers(2, 5))


class Stems(unittest.TestCase):
    def test_models_of_stems_are_written_without_packages(self):
        stem = {"name": "s", "input": [1, 9, 8, 3], "kernel": [3, 3, 3, 5], "strides": [2, 2], "padding": [[1, 1], [0, 1]]}
        with tempfile.TemporaryDirectory() as folder, mock.patch.dict(sys.modules, {"numpy": None}):
            path = pathlib.Path(networks.stem_model(mock.Mock(folder=pathlib.Path(folder)), stem))
            data = path.read_bytes()
            again = pathlib.Path(networks.stem_model(mock.Mock(folder=pathlib.Path(folder)), stem)).read_bytes()
        onnx_writer = importlib.import_module("onnx_writer")  # the model's writer
        shape_of_weights = b"".join(onnx_writer.field(1, extent) for extent in (5, 3, 3, 3))
        self.assertEqual(data, again)
        self.assertIn(shape_of_weights + onnx_writer.field(2, 1) + onnx_writer.field(8, "w"), data)
        self.assertIn(onnx_writer.value("y", [1, 5, 5, 4]), data)

    def test_tensors_of_buffers(self):
        sys.path.insert(0, str(pathlib.Path(networks.ROOT) / "tests" / "end_to_end"))
        onnx_writer = importlib.import_module("onnx_writer")
        floats = b"\x08\x02\x10\x01\x42\x01t\x4a\x08" + b"\x00\x00\x80\x3f\x00\x00\x00\x40"
        for kind in "fd":
            self.assertEqual(onnx_writer.tensor("t", array.array(kind, [1, 2])), floats)
        self.assertRaises(ValueError, onnx_writer.tensor, "t", memoryview(b"\x01").cast("?"))


class Networks(unittest.TestCase):
    """Two networks that can be had and one that is converted by hand."""

    PEERS = {"onnxruntime": {"ratio": 2.0, "ratio_lo": 2, "ratio_hi": 2, "median_ms": 20},
             "openvino": {"median_ms": None, "reason": "wrong numbers"}}  # fmt: skip

    def measured(self, tuned):
        row = {"median_ms": 10, "reason": None, "peers": self.PEERS}
        with mock.patch.multiple(networks, TUNED=("a", "b", "hand"), CONVERTED=("hand",), MODELS=pathlib.Path("/none"),
                                 tuned_network=mock.Mock(side_effect=[tuned or row, row])):  # fmt: skip
            return networks.tuned_networks(mock.Mock(trials=1), 1)

    def test_a_model_that_is_left_out_is_named(self):
        values = self.measured(None)
        self.assertEqual(values["mean"].value, 2)
        self.assertEqual(values["mean"].note, "of 2 networks: times of onnxruntime 2, openvino 0; left out, as they are not in "
                         ".models: hand")  # fmt: skip
        self.assertIn("openvino has no time: wrong numbers", values["a"].note)
        self.assertIsNone(values["hand"].value)

    def test_a_network_that_fails_is_not_left_out_of_the_mean(self):
        values = self.measured(CommandFailed("exit status 3"))
        self.assertEqual((values["a"].value, values["a"].note, values["b"].value), (None, "exit status 3", 2))
        self.assertIsNone(values["mean"].value)
        self.assertIn("a without a time; of the others the mean is 2.00", values["mean"].note)

    def test_missing_models_end_what_is_of_all_before_it_begins(self):
        with mock.patch.object(networks, "MODELS", pathlib.Path("/none")), self.assertRaisesRegex(CommandFailed, "bench/models/setup"):
            networks.two_threads(mock.Mock(trials=1))


class Memory(unittest.TestCase):
    def test_undecided_times_do_not_count(self):
        for agrees, held, note in ((["yes", None, "no", ""], 50, "4 judged, 2 of them contradicted, 4 undecided"),
                                   ([None] * 4, None, "0 judged, 0 of them contradicted, 8 undecided")):
            with self.subTest(note), mock.patch.object(memory, "Neighbour"):
                facts = [[{"fact": "status", "agrees": "no"},
                          {"fact": "median", "agrees": a, "recorded": "1 us", "now": "2 us"}] for a in agrees]  # fmt: skip
                answers = ["", [{"trial": "a", "name": "layer"}] * 4, *facts] * 2
                job = mock.Mock(trials=1, seed=1, db="db")
                job.run.side_effect = map(json.dumps, answers)
                job.program.return_value = {"layer": {"ratio": 1.0}}
                value = memory.beside_a_neighbour(job)["held"]
                self.assertEqual(value.value, held)
                self.assertIn(f"8 times: {note}", value.note)


if __name__ == "__main__":
    unittest.main()
