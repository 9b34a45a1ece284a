"""docs/command_line.md has a section for each command, with the options that its --help has and no others. Usage:
command_line_page_test.py PATH_OF_KILN [unittest's arguments]"""

import os
import pathlib
import re
import subprocess
import sys
import unittest

KILN = None
PAGE = pathlib.Path(__file__).resolve().parent.parent.parent / "docs" / "command_line.md"
OPTION = re.compile(r"--[a-z][a-z-]*")


def help_of(*command):
    return subprocess.run([KILN, *command, "--help"], capture_output=True, text=True, timeout=60, check=True).stdout


def sections():
    """Command -> text of its section."""
    return dict(re.findall(r"^## `kiln (\w+)`\n(.*?)(?=^## )", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL))


def options_of_section(text):
    """Those that the section's tables have in their first column, and those that its list of shared options names."""
    first_cells = re.findall(r"^\| (`-[^|]*(?:\\\|[^|]*)*) \|", text, re.MULTILINE)
    shared = re.findall(r"^Shared options: .*?(?=\n\n)", text, re.MULTILINE | re.DOTALL)
    shared = [re.sub(r"\([^)]*\)", "", paragraph).partition(". ")[0] for paragraph in shared]
    return {option for part in first_cells + shared for option in OPTION.findall(part)}


class CommandLinePage(unittest.TestCase):
    def test_a_section_for_each_command(self):
        listed = help_of().split("Subcommands:")[1]
        self.assertEqual(sorted(re.findall(r"^  (\w+) ", listed, re.MULTILINE)), sorted(sections()))

    def test_options_of_each_command(self):
        for command, text in sections().items():
            with self.subTest(command=command):
                known = set(re.findall(r"^  (?:-\w,)?(--[a-z-]+)", help_of(command), re.MULTILINE))
                self.assertEqual(sorted(known - {"--help"}), sorted(options_of_section(text)))

    def test_shared_options_are_explained(self):
        text = PAGE.read_text(encoding="utf-8")
        common = text.partition("## Shared options\n")[2].partition("\n## ")[0]
        explained = options_of_section(common)
        for command, section in sections().items():
            own = options_of_section(re.sub(r"^Shared options: .*?(?=\n\n)", "", section, flags=re.MULTILINE | re.DOTALL))
            with self.subTest(command=command):
                self.assertEqual(sorted(options_of_section(section) - own - explained), [])


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    KILN = os.path.abspath(sys.argv.pop(1))
    unittest.main()
