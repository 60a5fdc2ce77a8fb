#!/usr/bin/env python3
"""Draws the floors of the house into docs/design/MAP.md, and proves what that page says of places in the code.

usage: map.py SOURCE_ROOT [--write]

The picture comes from the tables of lib/meson.build and the includes of the modules. Without --write the page must have it as
it is now; each `name` (file) on the page and in the glossary must be a name that stands in that file, and each other
`folder/file` must exist.
"""
import os
import re
import sys

import house
import lint

PAGE = "docs/design/MAP.md"
PAGES = (PAGE, "docs/GLOSSARY.md")
BEGIN, END = "<!-- drawn by tests/lint/map.py --write -->\n", "<!-- end of what is drawn -->\n"
WIDTH = 118


def picture(table, text):
    """The floors from top to bottom, each module with those whose headers it includes, but for the lowest floor's."""
    found = house.edges(table, text)
    ground = table.floors[0][1]
    lines = []
    for title, modules in reversed(table.floors):
        lines.append(f"+- {title} ".ljust(WIDTH - 1, "-") + "+")
        for module in reversed(modules):
            used = [m for m in reversed(table.order) if m in found[module] and m not in ground]
            row = f"| {module:<6} {table.homes[module] + '/':<10} "
            row += "-> " + " ".join(used) if used else ""
            lines.append(row.ljust(WIDTH - 1) + "|")
    lines.append("+".ljust(WIDTH - 1, "-") + "+")
    return "```\n" + "\n".join(lines) + "\n```\n"


def places(root, page, whole):
    """What the page names and the tree has not."""
    wrong = []
    for name, path in re.findall(r"`(\w+)`\s+\(([\w./]+)\)", whole):
        full = os.path.join(root, path)
        if not os.path.isfile(full):
            wrong.append(f"{page}: {path} does not exist")
            continue
        with open(full, encoding="utf-8") as f:
            if not re.search(rf"\b{name}\b", f.read()):
                wrong.append(f"{page}: {path} has no {name}")
    for path in re.findall(r"`([\w.]+/[\w./]*)`", whole):
        if not os.path.exists(os.path.join(root, path)):
            wrong.append(f"{page}: {path} does not exist")
    return wrong


def main():
    root = os.path.abspath(sys.argv[1])
    text = lint.read_sources(root)
    table = house.Table(text["lib/meson.build"])
    whole = text[PAGE]
    begin, end = whole.index(BEGIN) + len(BEGIN), whole.index(END)
    now = picture(table, text)
    if "--write" in sys.argv:
        with open(os.path.join(root, PAGE), "w", encoding="utf-8") as f:
            f.write(whole[:begin] + now + whole[end:])
        return 0
    wrong = [p for page in PAGES for p in places(root, page, text[page])]
    if whole[begin:end] != now:
        wrong.append(f"{PAGE}: the picture is not that of the tables and includes: tests/lint/map.py . --write draws it")
    wrong += [f"{PAGE}: module {m} has no row" for m in table.order if f"\n| {m} |" not in whole]
    print("\n".join(wrong) if wrong else f"{PAGE}: as it is")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
