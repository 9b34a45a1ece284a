"""The layer check against small trees that are right or wrong in one way each."""

import importlib.util
import pathlib
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
spec = importlib.util.spec_from_file_location("check_layers", ROOT / "tools" / "check_layers.py")
check_layers = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check_layers)

# A tree that is right; every row of BAD adds to it or replaces a file.
GOOD = {
    "runtime/workload.h": "#include <vector>\n",
    "runtime/halide_runtime.cpp": "#include <HalideRuntime.h>\n",
    "schedules/candidate.h": '#include "runtime/workload.h"\n',
    "schedules/cpu_tile.h": "#include <Halide.h>\n",
    "generators/catalog.h": '#include "schedules/candidate.h"\n',
    "generators/direct_conv.cpp": '#include "schedules/cpu_tile.h"\n',
    "database/trial.h": '#include "schedules/candidate.h"\n',
    "database/connection.h": "#include <sqlite3.h>\n",
    "tuner/search.h": '#include "generators/catalog.h"\n// #include <Halide.h>\n',
    "tuner/runner_main.cpp": "#include <HalideRuntime.h>\n",
    "tuner/package.cpp": 'const char *header = R"(\n#include "NAME/kiln.h"\n)";\n',
    "cli/main.cpp": '#include <CLI/CLI.hpp>\n#include "tuner/search.h"\n',
    "tests/any_test.cpp": "#include <Halide.h>\n#include <sqlite3.h>\n",
    "runtime/CMakeLists.txt": "add_library(kiln_values STATIC workload.cpp)\n",
    "generators/CMakeLists.txt": "add_executable(kiln-generator direct_conv.cpp)\n"
    "target_link_libraries(kiln-generator PRIVATE Halide::Generator kiln_values)\n",
    "database/CMakeLists.txt": "add_library(kiln_database connection.cpp)\n"
    "target_link_libraries(kiln_database PUBLIC kiln_values PRIVATE SQLite::SQLite3)\n",
    "tuner/CMakeLists.txt": "add_library(kiln_tuner search.cpp) # never Halide::Halide\n"
    "target_link_libraries(kiln_tuner PUBLIC kiln_database)\n",
}

# file, its text, what the complaint names
BAD = [
    ("runtime/a.cpp", '#include "schedules/candidate.h"\n', "runtime/ may include only itself, std"),
    ("runtime/a.cpp", "#include <fmt/format.h>\n", "includes fmt/format.h"),
    ("schedules/a.h", '#include "generators/catalog.h"\n', "includes generators/catalog.h"),
    ("generators/a.h", '#include "database/trial.h"\n', "includes database/trial.h"),
    ("generators/catalog.cpp", '#include "schedules/cpu_tile.h"\n', "reaches Halide.h through schedules/cpu_tile.h"),
    ("database/a.cpp", '#include "generators/catalog.h"\n', "includes generators/catalog.h"),
    ("database/a.cpp", '#include "schedules/cpu_tile.h"\n', "includes schedules/cpu_tile.h"),
    ("tuner/a.cpp", "  #  include <Halide.h>\n", "includes Halide.h"),
    ("tuner/a.cpp", '#include "Halide.h"\n', "includes Halide.h"),
    ("tuner/a.cpp", '#include "schedules/cpu_tile.h"\n', "reaches Halide.h"),
    ("tuner/a.cpp", '#include "database/connection.h"\n', "reaches sqlite3.h through database/connection.h"),
    ("tuner/tune.cpp", "#include <HalideRuntime.h>\n", "includes HalideRuntime.h"),
    ("tuner/a.cpp", '#include "cli/command.h"\n', "no file"),
    ("tuner/a.cpp", '#include "search.h"\n', "from the root"),
    ("graph/a.cpp", '#include "database/trial.h"\n', "includes database/trial.h"),
    ("cli/a.cpp", "#include <sqlite3.h>\n", "includes sqlite3.h"),
    ("tuner/a.h", "#include <CLI/CLI.hpp>\n", "includes CLI/CLI.hpp"),
    ("cli/a.cpp", "#include <gtest/gtest.h>\n", "includes gtest/gtest.h"),
    ("tuner/CMakeLists.txt", "target_link_libraries(kiln_tuner PRIVATE Halide::Halide)\n", "links Halide::Halide"),
    ("tuner/CMakeLists.txt", "target_link_libraries(t\n  PUBLIC SQLite::SQLite3\n)\n", "links SQLite::SQLite3"),
    (
        "runtime/CMakeLists.txt",
        "target_link_libraries(r PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,kiln_database>)\n",
        "links kiln_database of database/",
    ),
    ("database/CMakeLists.txt", "target_link_libraries(kiln_database PUBLIC kiln_tuner)\n", "links kiln_tuner of"),
    ("runtime/CMakeLists.txt", "target_link_libraries(kiln_values PUBLIC kiln_database)\n", "links kiln_database of"),
]


def problems_of(tree):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in tree.items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return check_layers.check(folder)


class CheckLayersTest(unittest.TestCase):
    def test_good_tree(self):
        self.assertEqual(problems_of(GOOD), [])

    def test_bad_files(self):
        for file, text, complaint in BAD:
            with self.subTest(file=file, text=text):
                problems = [p for p in problems_of({**GOOD, file: text}) if p.startswith(file + ": ")]
                self.assertTrue(any(complaint in problem for problem in problems), problems)

    def test_this_repository(self):
        self.assertEqual(check_layers.check(ROOT), [])


if __name__ == "__main__":
    unittest.main()
