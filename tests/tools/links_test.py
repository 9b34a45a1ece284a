"""Links of the pages lead to files and headings that exist."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGES = [
    page
    for pattern in ("*.md", "docs/**/*.md", "bench/*.md", "workloads/*.md", "examples/**/*.md", "tests/abuse/*.md")
    for page in sorted(ROOT.glob(pattern))
]
CODE = re.compile(r"^```.*?^```|`[^`\n]*`|^    [^\n]*", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")


def anchors(page):
    """The names that GitHub gives to the headings of a page."""
    names = set()
    for heading in re.findall(r"^#+ (.*)", page.read_text(encoding="utf-8"), re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        names.add(re.sub(r"[^\w\- ]", "", words).strip().replace(" ", "-"))
    return names


class Links(unittest.TestCase):
    def test_each_link_leads_somewhere(self):
        self.assertGreater(len(PAGES), 10)
        for page in PAGES:
            for link in LINK.findall(CODE.sub("``", page.read_text(encoding="utf-8"))):
                if "://" in link:
                    continue
                with self.subTest(page=page.relative_to(ROOT).as_posix(), link=link):
                    path, _, anchor = link.partition("#")
                    target = (page.parent / path).resolve() if path else page
                    self.assertTrue(target.exists(), "there is no such file")
                    if anchor:
                        self.assertIn(anchor, anchors(target))


if __name__ == "__main__":
    unittest.main()
