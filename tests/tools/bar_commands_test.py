"""Every source of bench/bars with a kiln that answers at once: the real one's --help knows each command line, and each bar gets a
value. Usage: bar_commands_test.py KILN [unittest's arguments]"""

import contextlib
import importlib.util
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "bench"), str(HERE)]

from bar_sources import house, memory, networks, search, soft_core  # noqa: E402
from bar_sources.job import Job  # noqa: E402
from kiln_commands import Command, Kiln  # noqa: E402

MODEL = networks.SMALL_MODELS / "face_detection_short_range.onnx"


def bars_module() -> types.ModuleType:
    loader = importlib.machinery.SourceFileLoader("bars", str(ROOT / "bench" / "bars"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("bars", loader))
    sys.modules["bars"] = module
    loader.exec_module(module)
    return module


def after(arguments: list[str], option: str) -> str:
    return arguments[arguments.index(option) + 1] if option in arguments else ""


def layers_of(arguments: tuple[str, ...]) -> list[str]:
    lists = [json.loads(pathlib.Path(word).read_text()) for word in arguments if word.endswith(".json")]
    return [entry["name"] for workloads in lists for entry in workloads.get("workloads", [])]


class Answers(Job):
    """In place of kiln and the programs beside it: numbers that are in the right places."""

    def __init__(self, kiln: Kiln, folder: str):
        super().__init__(kiln.path, f"{folder}/bars.db", pathlib.Path(folder), None, 1, before=folder)
        self.real, self.problems = kiln, []

    def run(self, *arguments: str) -> str:
        self.problems += [f"kiln {' '.join(arguments)}: {problem}" for problem in self.real.problems(list(arguments))]
        answer = getattr(self, arguments[0])(list(arguments))
        return answer if isinstance(answer, str) else json.dumps(answer)

    def tune(self, arguments):
        pathlib.Path(after(arguments, "--db")).touch()
        return ""

    def build(self, arguments):
        lib = pathlib.Path(after(arguments, "-o")) / "lib"
        lib.mkdir(parents=True)
        (lib / f"lib{after(arguments, '--name')}.a").write_bytes(bytes(1000))
        return ""

    def bench(self, arguments):
        peers = [name for name in after(arguments, "--against").split(",") if name]
        peer = {"median_us": 20, "median_ms": 20, "ratio": 2, "ratio_lo": 2, "ratio_hi": 2}
        layer = {"median_us": 10, "default_us": 10, "gflops": 50, "roofline_gflops": 60, "algorithm": "direct", "reason": None,
                 "round_medians_us": [10, 10], "default_round_medians_us": [10, 10], "of_copy": 1, "of_copy_lo": 1,
                 "of_copy_hi": 1, "copy_us": 10, "peers": dict.fromkeys(peers, peer)}  # fmt: skip
        if "--network" in arguments:
            return {"networks": [{"median_ms": 10, "reason": None, "peers": layer["peers"]}]}
        return {"peak_gflops": 60, "layers": [{**layer, "name": name} for name in layers_of(arguments)]}

    def explain(self, arguments):
        if after(arguments, "--pass") == "plan":
            return "memory between steps 79.6 KiB, 1.000 times the lower bound of 79.6 KiB\n"
        return [{"alteration": "space_to_depth", "chosen": "yes", "costs": "measured", "gain_us": 1}]

    def query(self, arguments):
        if arguments[1] == "pareto":
            return [{"text_bytes": 10000, "cycles": 10e6}]
        return [{"trial": "a1b2", "name": "layer", "layers": 20, "valid": 20}]

    def repro(self, arguments):
        return [{"fact": "median", "recorded": "1 us", "now": "1 us", "agrees": "yes"}]

    def program(self, name: str, *arguments: str) -> dict:
        ratio = {"ratio": 1, "ratio_lo": 1, "ratio_hi": 1}
        return {
            "search-trials": {arguments[0]: {"valid": 600, "trials": {"random": 300, "evolutionary": 100}}},
            "race-winners": dict.fromkeys(layers_of(arguments), ratio),
            "race-package": {"layer": ratio},
            "race-generators": {"layer": [{"what": "default", "same": False, **ratio}]},
            "package-lookup": {"find_ns": 100, "find_and_run_ns": 100, "direct_ns": 50},
            "network-loading": {"ms": 40, "bytes": 100e6},
        }[name]


class Scripts:
    """In place of the module subprocess: of bench/rtl's scripts the options are checked, of others the environment is kept."""

    DEVNULL, PIPE = subprocess.DEVNULL, subprocess.PIPE

    def __init__(self):
        self.problems, self.ran = [], []

    def Popen(self, command: list[str]) -> mock.Mock:
        return mock.Mock()

    def run(self, command: list[str], **options) -> types.SimpleNamespace:
        self.ran.append((command, options.get("env", {})))
        answer = ""
        if command[0] == sys.executable:
            script, arguments = pathlib.Path(command[1]), command[2:]
            told = subprocess.run([sys.executable, "-B", str(script), "--help"], capture_output=True, text=True).stdout
            self.problems += [f"{script.name}: {p}" for p in Command(told.replace(", --", ",--")).problems(arguments)]
            counts = {who: {"cycles": 100, "load_misses": 10} for who in ("kiln", "cmsis-nn")}
            row = {"sums": {**counts, "rtl": 100}, "layers": [{"name": "layer", "counts": counts}], "code_bytes": 1000}
            answer = json.dumps([row] if script.name == "beside.py" else row)
        elif command[0] == "git":
            pathlib.Path(command[-1]).mkdir()
        return types.SimpleNamespace(returncode=0, stdout=answer)


class Commands(unittest.TestCase):
    def setUp(self):
        self.kiln = Kiln(KILN, MODEL)
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)
        self.folder = self.stack.enter_context(tempfile.TemporaryDirectory())
        self.scripts = Scripts()
        models = pathlib.Path(self.folder) / "models"
        models.mkdir()
        for name in networks.TUNED:
            (models / f"{name}.onnx").touch()
        patches = [(module, {"subprocess": self.scripts}) for module in (house, memory, search, soft_core)]
        for module, attributes in [*patches, (networks, {"MODELS": models, "stem_model": lambda job, stem: str(MODEL)})]:
            self.stack.enter_context(mock.patch.multiple(module, **attributes))
        self.stack.enter_context(contextlib.redirect_stderr(io.StringIO()))

    def rows(self, glob: str = "*") -> list:
        bars = bars_module()
        with mock.patch.object(sys, "argv", ["bars", "--only", glob, "--before", self.folder]):
            chosen = bars.parse_arguments(bars.read_bars()).bars
        with tempfile.TemporaryDirectory() as folder:
            job = Answers(self.kiln, folder)
            rows = list(bars.measure(chosen, job))
        self.assertEqual(job.problems + self.scripts.problems, [])
        self.assertEqual([f"{row.bar}: {row.note}" for row in rows if row.value is None], [])
        return rows

    def test_every_source_gives_a_value_by_commands_that_there_are(self):
        self.assertGreater(len(self.rows()), 140)

    def test_soft_cores_say_where_they_were_counted(self):
        for is_on_rtl, where in ((True, "on the Verilog"), (False, "in simulation")):
            with self.subTest(where), mock.patch.multiple(soft_core, IS_ON_RTL=is_on_rtl, WHERE=where):
                for row in self.rows("soft-core/*"):
                    self.assertIn(where, row.note, row)
                    self.assertEqual("--rtl" in row.command or "compare.py" in row.command, is_on_rtl, row)
                    self.assertIn("--trials 60", row.command)

    def test_clones_are_built_without_a_compiler_cache(self):
        for row in self.rows("house/*-time"):
            self.assertIn("; CCACHE_DISABLE=1 ", row.command)
        environments = {command[0]: environment for command, environment in self.scripts.ran if command[0] != "git"}
        self.assertEqual(set(environments), {"./quickstart", ".ci/run"})
        for environment in environments.values():
            self.assertEqual(environment["CCACHE_DISABLE"], "1")

    def test_shapes_that_models_leave_open_are_given(self):
        for model in sorted(networks.SMALL_MODELS.glob("*.onnx")):
            shapes = [word for shape in networks.OPEN_SHAPES.get(model.stem, []) for word in ("--shape", shape)]
            told = self.kiln.said("explain", "--network", str(model), "--pass", "import", *shapes)
            self.assertNotIn("kiln: ", told)

    def test_without_a_build_of_before_speeds_kept_are_left_out(self):
        bars = bars_module()
        for only, chosen, left_out in (("house/*", 2, 2), ("*", 146, 2), ("movement/*", 32, 0)):
            with mock.patch.object(sys, "argv", ["bars", "--only", only]):
                arguments = bars.parse_arguments(bars.read_bars())
            self.assertEqual((len(arguments.bars), len(arguments.left_out)), (chosen, left_out))

    def test_bad_command_lines(self):
        network = ["--network", str(MODEL)]
        rows = (
            (["bench", *network, "--without", "fold*", "--steps"], ""),
            (["bench", *network, "--without", "*none*"], "--without *none*: matches no name"),
            (["tune", "--workloads", "none.json", "--db", "a.db"], "--workloads none.json: no such file"),
            (["tune", *network], "--db is missing"),
            (["tune", *network, "--db"], "--db has no value"),
            (["bench", *network, "--format", "csv"], "--format csv: not of table|json"),
            (["bench", *network, "--against", "onednn,other"], "--against onednn,other: not of onednn,"),
            (["bench", *network, "--stepwise"], "--stepwise is no option"),
            (["bench", *network, "word"], "1 words that belong to no option"),
            (["explain", *network, "--pass", "pln"], "--pass pln: not of NAME"),
        )
        for arguments, problem in rows:
            with self.subTest(arguments):
                found = self.kiln.problems(arguments)
                self.assertEqual(len(found), 1 if problem else 0, found)
                self.assertIn(problem, "".join(found))


if __name__ == "__main__":
    KILN = sys.argv.pop(1)
    unittest.main()
