"""The check of names in unnamed namespaces against small folders, and against kiln's own."""

import importlib.util
import pathlib
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
spec = importlib.util.spec_from_file_location("check_names", ROOT / "tools" / "check_names.py")
check_names = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check_names)

HEADER = "namespace kiln {\ninline const int size = 1;\nstruct Row {\n    int size;\n};\nint area(int x);\n}  // namespace kiln\n"
USER = '#include "folder/header.h"\nnamespace kiln {\nint twice() { return 2 * area(size) + int(sizeof(Row)); }\n}\n'


def unnamed(declaration):
    return "namespace kiln {\nnamespace {\n" + declaration + "\n}  // namespace\n}  // namespace kiln\n"


# What an unnamed namespace of another source has, and the name of the header that it hides; none: nothing.
ROWS = [
    ("constexpr int size = 2;", "size"),
    ("const std::vector<std::pair<int, int>> other{{1, 2}}, size{};", "size"),
    ("constexpr int sizes[] = {1}, size = 2;", "size"),
    ("class Row : public Table<int> {};", "Row"),
    ("using Row = int;", "Row"),
    ("enum class Row { area };", "Row"),
    ("template<typename T>\nT area(T x) {\n    return x;\n}", "area"),
    ("std::map<int, std::string> area(int x, int size) { return {}; }", "area"),
    ("int inner(int size) {\n    int area = size;\n    return area;\n}", None),
    ("struct Other {\n    int size, area;\n};", None),
    ('// int size;\nconst char *text = "int area(";', None),
    ("int Type::area(int x) { return x; }", None),
]


class CheckNames(unittest.TestCase):
    def problems(self, files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = pathlib.Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return check_names.check(pathlib.Path(folder))

    def test_names_that_hide_others(self):
        for declaration, hidden in ROWS:
            with self.subTest(declaration):
                found = self.problems(
                    {"folder/header.h": HEADER, "folder/user.cpp": USER, "folder/a.cpp": unnamed(declaration)}
                )
                expected = [f"folder/a.cpp: `{hidden}` hides that of folder/header.h from folder/user.cpp"]
                self.assertEqual(found, expected if hidden else [])

    def test_sources_that_are_compiled_alone(self):
        files = {"folder/header.h": HEADER, "folder/user.cpp": USER, "folder/a.cpp": unnamed("const int size = 2;")}
        for alone in ("kiln_compile_alone(a.cpp)", "kiln_optimize(user.cpp a.cpp) # fast"):
            self.assertEqual(self.problems({**files, "folder/CMakeLists.txt": alone + "\n"}), [])

    def test_other_folders_and_own_names_do_not_matter(self):
        other = {"folder/header.h": HEADER, "other/user.cpp": USER, "folder/a.cpp": unnamed("const int size = 2;")}
        self.assertEqual(self.problems(other), [])
        own = USER + unnamed("const int size = 3;")
        self.assertEqual(self.problems({**other, "folder/user.cpp": own}), [])

    def test_kiln(self):
        self.assertEqual(check_names.check(ROOT), [])


if __name__ == "__main__":
    unittest.main()
