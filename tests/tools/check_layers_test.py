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
    "workload/workload.h": "#include <vector>\n",
    "runtime/halide_runtime.cpp": "#include <HalideRuntime.h>\n",
    "schedules/candidate.h": '#include "workload/workload.h"\n',
    "schedules/apply/cpu_tile.h": "#include <Halide.h>\n",
    "catalog/catalog.h": '#include "schedules/candidate.h"\n',
    "generators/direct_conv.cpp": '#include "schedules/apply/cpu_tile.h"\n',
    "records/trial.h": '#include "workload/workload.h"\n',
    "database/connection.h": "#include <sqlite3.h>\n",
    "tuner/search/search.h": '#include "schedules/candidate.h"\n// #include <Halide.h>\n',
    "tuner/runner/main.cpp": "#include <HalideRuntime.h>\n",
    "package/package.cpp": 'const char *header = R"(\n#include "NAME/kiln.h"\n)";\n',
    "cli/main.cpp": '#include <CLI/CLI.hpp>\n#include "tuner/search/search.h"\n',
    "tests/any_test.cpp": "#include <Halide.h>\n#include <sqlite3.h>\n",
    "workload/CMakeLists.txt": "add_library(kiln_workload STATIC workload.cpp)\n",
    "generators/CMakeLists.txt": "add_executable(kiln-generator direct_conv.cpp)\n"
    "target_link_libraries(kiln-generator PRIVATE Halide::Generator kiln_workload)\n",
    "database/CMakeLists.txt": "add_library(kiln_database connection.cpp)\n"
    "target_link_libraries(kiln_database PUBLIC kiln_workload PRIVATE SQLite::SQLite3)\n",
    "tuner/search/CMakeLists.txt": "add_library(kiln_search search.cpp) # never Halide::Halide\n"
    "target_link_libraries(kiln_search PUBLIC kiln_workload)\n",
}

# file, its text, what the complaint names
BAD = [
    ("workload/a.cpp", '#include "schedules/candidate.h"\n', "includes schedules/candidate.h, but workload/ may include only itself"),
    ("runtime/a.cpp", '#include "workload/workload.h"\n', "runtime/ may include only itself, std"),
    ("runtime/a.cpp", "#include <fmt/format.h>\n", "includes fmt/format.h"),
    ("schedules/a.h", '#include "catalog/catalog.h"\n', "includes catalog/catalog.h"),
    ("schedules/a.h", '#include "schedules/apply/cpu_tile.h"\n', "reaches Halide.h through schedules/apply/cpu_tile.h"),
    ("generators/a.h", '#include "records/trial.h"\n', "includes records/trial.h"),
    ("catalog/catalog.cpp", '#include "schedules/apply/cpu_tile.h"\n', "reaches Halide.h"),
    ("catalog/catalog.cpp", '#include "generators/direct_conv.cpp"\n', "includes generators/direct_conv.cpp"),
    ("records/a.cpp", '#include "database/connection.h"\n', "reaches sqlite3.h through database/connection.h"),
    ("database/a.cpp", '#include "catalog/catalog.h"\n', "includes catalog/catalog.h"),
    ("tuner/search/a.cpp", "  #  include <Halide.h>\n", "includes Halide.h"),
    ("tuner/search/a.cpp", '#include "Halide.h"\n', "includes Halide.h"),
    ("tuner/search/a.cpp", '#include "records/trial.h"\n', "includes records/trial.h"),
    ("tuner/runner/a.cpp", '#include "database/connection.h"\n', "reaches sqlite3.h through database/connection.h"),
    ("tuner/job/tune.cpp", "#include <HalideRuntime.h>\n", "includes HalideRuntime.h"),
    ("tuner/job/a.cpp", '#include "cli/command.h"\n', "no file"),
    ("tuner/job/a.cpp", '#include "search.h"\n', "from the root"),
    ("tuner/a.cpp", "\n", "tuner/ has no row in the table of folders"),
    ("graph/a.cpp", '#include "records/trial.h"\n', "includes records/trial.h"),
    ("cli/a.cpp", "#include <sqlite3.h>\n", "includes sqlite3.h"),
    ("tuner/job/a.h", "#include <CLI/CLI.hpp>\n", "includes CLI/CLI.hpp"),
    ("cli/a.cpp", "#include <gtest/gtest.h>\n", "includes gtest/gtest.h"),
    ("cli/a.cpp", 'void f() { fmt::print(stderr, "kiln: {}\\n", name); }\n', "prints: what people see"),
    ("cli/a.cpp", "void f() { std::cerr << name; }\n", "prints: what people see"),
    ("compare/a.cpp", 'void f() { std::fprintf(stderr, "%s", name); }\n', "prints: what people see"),
    ("tuner/job/CMakeLists.txt", "target_link_libraries(kiln_job PRIVATE Halide::Halide)\n", "links Halide::Halide"),
    ("tuner/job/CMakeLists.txt", "target_link_libraries(t\n  PUBLIC SQLite::SQLite3\n)\n", "links SQLite::SQLite3"),
    (
        "runtime/CMakeLists.txt",
        "target_link_libraries(r PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,kiln_database>)\n",
        "links kiln_database of database/",
    ),
    ("database/CMakeLists.txt", "target_link_libraries(kiln_database PUBLIC kiln_search)\n", "links kiln_search of"),
    ("catalog/CMakeLists.txt", "add_library(c ../schedules/a.cpp)\n", "names ../schedules/a.cpp"),
]

# text of docs/architecture.md, what stands there instead, the complaint
BAD_PAGES = [
    ("| `digest/` |", "| |", "digest/ has no row"),
    ("`catalog/matrix/`, ", "", "catalog/matrix/ has no row"),
    ("| `digest/` |", "| `digest/`, `json/` |", "json/ has more than one row"),
    ("| `digest/` |", "| `digest/`, `tuner/luck/` |", "tuner/luck/ is not in FOLDERS"),
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

    def test_circle_of_headers(self):
        tree = {**GOOD, "workload/a.h": '#include "workload/b.h"\n', "workload/b.h": '#include "workload/a.h"\n'}
        circle = "workload/a.h: includes itself, workload/a.h -> workload/b.h -> workload/a.h"
        self.assertEqual(problems_of(tree), [circle])

    def test_crowded_folder(self):
        tree = {**GOOD, **{f"records/a{i}.h": "" for i in range(check_layers.MOST_FILES)}}
        self.assertEqual(problems_of(tree), ["records/: 26 files; make rooms of at most 25"])

    def test_page(self):
        page = (ROOT / check_layers.PAGE).read_text(encoding="utf-8")
        for old, new, complaint in BAD_PAGES:
            with self.subTest(old=old, new=new):
                self.assertIn(old, page)
                problems = problems_of({**GOOD, check_layers.PAGE: page.replace(old, new)})
                self.assertIn(f"{check_layers.PAGE}: {complaint}", problems)
        json, lists = "| `json/` |", "| `workload/lists/` |"
        swapped = page.replace(json, "| @ |").replace(lists, json).replace("| @ |", lists)
        problems = problems_of({**GOOD, check_layers.PAGE: swapped})
        self.assertEqual(problems, [f"{check_layers.PAGE}: workload/lists/ stands above json/, which it uses"])

    def test_this_repository(self):
        self.assertEqual(check_layers.check(ROOT), [])


if __name__ == "__main__":
    unittest.main()
