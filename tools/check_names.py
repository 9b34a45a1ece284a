#!/usr/bin/env python3
"""Checks that sources compiled together do not hide names of headers from each other.

The sources of a target are compiled several at a time (CMAKE_UNITY_BUILD). A name in an unnamed namespace of one of them
is nearer than the same name in a header, so that a later source which means the header's would silently take the other
one. The compiler says nothing; equal names in two unnamed namespaces are its errors. Sources of `kiln_compile_alone` and
`kiln_optimize` are not compiled with others.

usage: check_names.py [ROOT]; prints one line a name, exit status 1 where there is one.
"""

import pathlib
import re
import sys

COMMENT_OR_TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.DOTALL)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
ALONE = re.compile(r"kiln_(?:compile_alone|optimize)\(([^)]*)\)")
USE = re.compile(r"(?<![\w.:>])([A-Za-z_]\w*)")


def without_brackets(text, brackets):
    """The text without what stands in such brackets, nested ones included."""
    kept, depth = [], 0
    for c in text:
        depth += c == brackets[0]
        if depth == 0:
            kept.append(c)
        depth -= c == brackets[1] and depth > 0
    return "".join(kept)


def declared(head):
    """Names that a declaration at namespace scope introduces: its text in front of the body, or up to the semicolon."""
    head = re.sub(r"^\s*template\s*<[^{]*?>\s*(?=\w)", "", head.strip())
    if match := re.match(r"using (\w+) =|(?:struct|class|union|enum(?: class)?) (?:\[\[\w+\]\] )?(\w+)(?!.*\()", head):
        return [match.group(1) or match.group(2)]
    if re.match(r"(using|namespace|static_assert|extern|friend)\b", head):
        return []
    head = without_brackets(head, "<>")
    if "(" in head.split("=")[0]:  # a function
        match = re.search(r"(\w+)\s*\(", head)
        return [match.group(1)] if match and "::" + match.group(1) not in head else []
    names = []
    for declarator in without_brackets(head, "()").split(","):
        if match := re.search(r"(\w+)\s*(?:\[[^\]]*\]\s*)*(?:=.*)?$", declarator, re.DOTALL):
            names.append(match.group(1))
    return names


class Source:
    def __init__(self, path):
        text = path.read_text()
        self.includes = INCLUDE.findall(text)
        self.code = DIRECTIVE.sub("", COMMENT_OR_TEXT.sub(lambda m: " " if m[0][0] == "/" else '""', text))
        self.unnamed, self.named = set(), set()
        scopes, head = [], ""  # scopes: "" of an unnamed namespace, a name, or None within anything else
        for c in self.code:
            at_namespace = None not in scopes
            if c == "{":
                if at_namespace:
                    if match := re.search(r"\bnamespace(?: ([\w:]+))?\s*$", head):
                        scopes.append(match.group(1) or "")
                    else:
                        self.declare(head, scopes)
                        scopes.append(None)
                    head = ""
                else:
                    scopes.append(None)
            elif c == "}":
                if scopes:
                    scopes.pop()
                head = ""
            elif at_namespace and c == ";":
                self.declare(head, scopes)
                head = ""
            elif at_namespace:
                head += c

    def declare(self, head, scopes):
        (self.unnamed if "" in scopes else self.named).update(declared(head))


def check(root):
    paths = [p for p in root.rglob("*") if p.suffix in (".h", ".cpp") and p.relative_to(root).parts[0][:5] not in ("build", ".venv")]
    sources = {str(p.relative_to(root)): Source(p) for p in paths if ".venv" not in p.parts}
    reached = {}

    def closure(name):  # names in the headers that it includes
        if name not in reached:
            reached[name] = set()
            for header in sources[name].includes:
                if header in sources:
                    reached[name] |= {(n, header) for n in sources[header].named} | closure(header)
        return reached[name]

    folders = {}
    for name in sources:
        if name.endswith(".cpp"):
            folders.setdefault(str(pathlib.PurePath(name).parent), []).append(name)
    problems = []
    for folder, names in sorted(folders.items()):
        lists = root / folder / "CMakeLists.txt"
        alone = set(" ".join(ALONE.findall(lists.read_text())).split()) if lists.exists() else set()
        together = [n for n in sorted(names) if pathlib.PurePath(n).name not in alone]
        uses = {n: set(USE.findall(sources[n].code)) for n in together}
        for hiding in together:
            for user in together:
                if user == hiding:
                    continue
                meant = {n: header for n, header in closure(user)}
                for name in sources[hiding].unnamed & uses[user] & set(meant) - sources[user].unnamed:
                    problems.append(f"{hiding}: `{name}` hides that of {meant[name]} from {user}")
    return problems


if __name__ == "__main__":
    found = check(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent).resolve())
    print("\n".join(found), end="\n" if found else "")
    sys.exit(1 if found else 0)
