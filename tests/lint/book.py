#!/usr/bin/env python3
"""The pages of the book hold together. usage: book.py SOURCE_ROOT

Every page of docs/ begins with three questions and stands in the index, docs/README.md, with all others once. WINDOWS.md
has the keys and defaults of the library's table, in both directions. The README installs what the build needs. Files that RULES.md names exist and have what it names of them. Functions, variables,
options, counters and links of the pages exist, variables of the compiler wrappers stand in ENVIRONMENT.md, and tests run
the commands of each page."""
import os
import re
import sys

MADE = {"ENVIRONMENT.md", "MISUSE.md", "FIGURES.md", "ROADMAP.md"}  # by programs, or about what is not in the tree
OTHER_WORDS = {"accumulate_ordering"}
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
    for name in sorted({name for name in listed if listed.count(name) > 1}):
        yield f"docs/README.md: {name} stands there {listed.count(name)} times"


def packages(root):
    """Packages that the README has a user install and tools/packages does not know, or knows as needed and the README leaves out."""
    named = set(re.search(r"^    apt-get install (.*)", read(root, "README.md"), re.M)[1].split())
    known = set(re.search(r"^hotlane_packages_build='(.*)'", read(root, "tools/packages"), re.M)[1].split())
    optional = {"libmemkind-dev", "libpmix-dev", "libcairo2-dev"}
    for name in sorted(named ^ (known - optional)):
        yield f"README.md: {name} stands only in {'the README' if name in named else 'tools/packages'}"


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


def folder(root, name):
    """All text of a folder's files."""
    return "\n".join(read(root, os.path.relpath(os.path.join(at, one), root)) for at, _, files in os.walk(os.path.join(root, name))
                     for one in files)


def names(root):
    """Functions, variables, options of mpiexec, counters and links of a page that are not there."""
    headers = folder(root, "include") + read(root, "fortran/hotlane.f90")
    variables = headers + read(root, "docs/ENVIRONMENT.md") + read(root, "tools/wrapper.in")
    options, counters, asked = (read(root, file) for file in ("tools/mpiexec/options.c", "lib/stat/stat.h", "tools/info/main.c"))
    for name in [f"docs/{page}" for page in pages(root) if page not in MADE] + ["README.md"]:
        text = read(root, name)
        prose = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
        lost = {word for word in re.findall(r"\b(?:P?MPIX?_[A-Z][a-z]\w*[a-z0-9]|shmemx?_[a-z0-9_]*[a-z0-9])\b(?![*_])", text)
                if not re.search(rf"\b{word}", headers, re.I)}
        lost |= {word for word in re.findall(r"\b(?:HOTLANE|MPICH|SHMEM|SMA)_[A-Z_0-9]*[A-Z]\b(?![*_])", text) if word not in variables}
        lost |= {word for word in re.findall(r"\bmpiexec --([a-z-]+)", text) if f'"{word}"' not in options}
        lost |= {word for word in re.findall(r"\bhotlane-info --([a-z-]+)", text) if f'{{"{word}",' not in asked}
        if name == "docs/TUNING.md":
            lost |= {word for word in re.findall(r"`([a-z]+_[a-z_]+)`", prose) if f"X({word}," not in counters} - OTHER_WORDS
        lost |= {link for link in re.findall(r"\]\(([^)#:]+)\)", prose)
                 if not os.path.exists(os.path.join(root, os.path.dirname(name), link))}
        yield from (f"{name}: {word} is nowhere to be found" for word in sorted(lost))


def wrappers(root):
    """Variables of ours that the compiler wrappers read and the table has not: a program would be told that they have no effect."""
    page = read(root, "docs/ENVIRONMENT.md")
    for name in sorted(set(re.findall(r"\$\{(HOTLANE_\w+)", read(root, "tools/wrapper.in")))):
        if f"`{name}`" not in page:
            yield f"docs/ENVIRONMENT.md: {name}, which tools/wrapper.in reads, is missing"


def commands(root):
    """Pages with commands behind "$ " that no test runs: tests/install/book.py does, and tests/info/page.py those of MEMORY.md."""
    run = read(root, "tests/install/meson.build")
    for name in [f"docs/{page}" for page in pages(root) if page != "MEMORY.md"] + ["README.md"]:
        if re.search(r"^ *\$ ", read(root, name), re.M) and f"'{name}'" not in run:
            yield f"{name}: its commands are run by no test (tests/install/meson.build)"


def main():
    root = os.path.abspath(sys.argv[1])
    wrong = [line for check in (questions, index, packages, windows, rules, names, wrappers, commands) for line in check(root)]
    print("\n".join(wrong) if wrong else f"{len(pages(root))} pages hold together")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
