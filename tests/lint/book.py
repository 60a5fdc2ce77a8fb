#!/usr/bin/env python3
"""The pages of the book hold together. usage: book.py SOURCE_ROOT

Every page of docs/ begins with three questions and stands in the index, docs/README.md, with all others once. WINDOWS.md
has the keys and defaults of the library's table, in both directions. Files that RULES.md names exist and have what it names of them."""
import os
import re
import sys

NO_QUESTIONS = {"README.md", "ROADMAP.md"}  # the index itself, and a list


def read(root, name):
    with open(os.path.join(root, name), encoding="utf-8") as f:
        return f.read()


def pages(root):
    return sorted(name for name in os.listdir(os.path.join(root, "docs")) if name.endswith(".md"))


def questions(root):
    """Pages whose first paragraph is not three questions."""
    for name in pages(root):
        first = re.match(r"# .*\n\n((?:.+\n)+)", read(root, f"docs/{name}"))
        asked = re.match(r"Three questions: ([^?]+\?\s+){2}[^?]+\?$", first[1].strip()) if first else None
        if name not in NO_QUESTIONS and not asked:
            yield f"docs/{name}: does not begin with 'Three questions: ...? ...? ...?'"


def index(root):
    """Pages that the index has not, or twice."""
    listed = re.findall(r"^\d+\. \[[^]]*\]\(([\w./-]+\.md)\)", read(root, "docs/README.md"), re.M)
    wanted = set(pages(root)) - {"README.md"} | {"design/MAP.md"}
    for name in sorted(wanted - set(listed)):
        yield f"docs/README.md: {name} is missing"
    for name in sorted(set(listed) - wanted):
        yield f"docs/README.md: there is no {name}"
    for name in sorted({name for name in listed if listed.count(name) > 1}):
        yield f"docs/README.md: {name} stands there {listed.count(name)} times"


def keys_of_library(root):
    """Key -> default of rma/hints.c's table, None where it has none; and the keys that are only told."""
    text = read(root, "rma/hints.c")
    rows = re.findall(r'^    \{"(\w+)",\s*(?:"([^"]*)"|NULL),', text, re.M)
    told = re.findall(r'hl_info_set\(\w+, "(\w+)"', text)
    return {**{key: None for key in told}, **{key: default or None for key, default in rows}}


def windows(root):
    """Where page and table of keys differ."""
    rows = re.findall(r"^\| `(\w+)` \| (?:`([^`]*)`|none) \|", read(root, "docs/WINDOWS.md"), re.M)
    page, library = {key: default or None for key, default in rows}, keys_of_library(root)
    for key in sorted(page.keys() | library.keys()):
        if key not in page or key not in library:
            yield f"docs/WINDOWS.md: {key} stands only in {'the page' if key in page else 'rma/hints.c'}"
        elif page[key] != library[key]:
            yield f"docs/WINDOWS.md: default of {key} is {library[key]}, not {page[key]}"
    if len(library) < 10 or len(page) != len(rows):
        yield "docs/WINDOWS.md: its rows, or those of rma/hints.c, are not read as they should be"


def rules(root):
    """Proofs that RULES.md names and the tree has not: `path`, or `name` (path)."""
    text = read(root, "docs/RULES.md")
    named = [(None, path) for path in re.findall(r"`(tests/[\w./]+)`", text)] + re.findall(r"`(\w+)` \((tests/[\w./]+)\)", text)
    for name, path in named:
        if not os.path.isfile(os.path.join(root, path)):
            yield f"docs/RULES.md: {path} does not exist"
        elif name and not re.search(rf"\b{name}\b", read(root, path)):
            yield f"docs/RULES.md: {path} has no {name}"
    if not named:
        yield "docs/RULES.md: names no proof"


def main():
    root = os.path.abspath(sys.argv[1])
    wrong = [line for check in (questions, index, windows, rules) for line in check(root)]
    print("\n".join(wrong) if wrong else f"{len(pages(root))} pages hold together")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
