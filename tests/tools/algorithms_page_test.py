"""docs/algorithms.md shows the tables of the code: the rules in their order, the kinds of convolutions, the schedule templates."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = (ROOT / "docs" / "algorithms.md").read_text(encoding="utf-8")


def source(path):
    return (ROOT / path).read_text(encoding="utf-8")


def section(heading):
    return PAGE.partition(f"\n{heading}\n")[2].partition("\n## ")[0]


def first_cells(text):
    """Of the first table."""
    rows = re.search(r"(?:^\|.*\n)+", text, re.MULTILINE).group().splitlines()[2:]
    return [row.split("|")[1].strip() for row in rows]


class AlgorithmsPage(unittest.TestCase):
    def test_rules_in_their_order(self):
        table = source("catalog/algorithm_rules.cpp").partition("rules[] = {")[2].partition("\n};")[0]
        rules = re.findall(r'^    \{("?\w+"?), ', table, re.MULTILINE)
        fold = re.search(r'fold_fused = "(\w+)"', source("catalog/fold_algorithm.h")).group(1)
        names = [fold if rule == "fold_fused" else rule.strip('"') for rule in rules]
        self.assertGreater(len(names), 10)
        self.assertEqual(first_cells(section("## Which algorithm")), [f"`{name}`" for name in names])

    def test_kinds_of_convolutions_in_their_order(self):
        cases = re.findall(r'^    \{"([^"]+)",', source("schedules/spaces/cpu_tile_cases.cpp"), re.MULTILINE)
        self.assertGreater(len(cases), 10)
        cells = first_cells(section("### `cpu_tile`"))
        self.assertEqual(len(cells), len(cases))
        for cell, case in zip(cells, cases):
            self.assertTrue(cell.startswith(case), f"{cell!r} is no {case!r}")

    def test_a_heading_for_each_template(self):
        name = re.compile(r'inline constexpr (?:const char \*|std::string_view )\w+_name = "(\w+)"')
        templates = {n for path in (ROOT / "schedules" / "spaces").rglob("*.h") for n in name.findall(path.read_text())}
        self.assertEqual(set(re.findall(r"^### `(\w+)`$", PAGE, re.MULTILINE)), templates)


if __name__ == "__main__":
    unittest.main()
