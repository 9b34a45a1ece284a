"""docs/threat_model.md names tests that exist, each row has one, and each fuzz target and file of abuse has a row."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ROWS = [line for line in (ROOT / "docs" / "threat_model.md").read_text(encoding="utf-8").splitlines() if line.startswith("| ")][2:]


class ThreatModel(unittest.TestCase):
    def test_each_row_names_tests_that_exist(self):
        self.assertGreater(len(ROWS), 10)
        for row in ROWS:
            with self.subTest(row=row[:40]):
                tests = re.findall(r"`(tests/[^`]+)`", row)
                self.assertTrue(tests)
                for test in tests:
                    self.assertTrue((ROOT / test).is_file(), test)

    def test_each_fuzz_target_and_each_file_of_abuse_is_named(self):
        for path in sorted([*ROOT.glob("tests/fuzz/*_fuzz.cpp"), *ROOT.glob("tests/abuse/*_test.py")]):
            name = path.relative_to(ROOT).as_posix()
            self.assertTrue(any(f"`{name}`" in row for row in ROWS), f"{name} has no row in docs/threat_model.md")


if __name__ == "__main__":
    unittest.main()
