"""docs/threat_model.md names tests that exist, and each row has one."""

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


if __name__ == "__main__":
    unittest.main()
