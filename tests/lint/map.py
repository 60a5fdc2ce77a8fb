#!/usr/bin/env python3
"""Draws the floors of the house into docs/design/MAP.md, and proves what the pages of docs/design say of the code.

usage: map.py SOURCE_ROOT [--write]

The picture comes from the tables of lib/meson.build and the includes of the modules. Without --write the page must have it as
it is now; each `name` (file) on the map, in the history, in the glossary and in CONTRIBUTING.md must be a name that stands in that file, and
each other `folder/file` must exist, but for patterns as tests/unit/test_NAME.c. Functions that CONTRIBUTING.md names (`hl_...`) must stand in
the sources.

Each module has a page docs/design/NAME.md of at most 1,200 words, and each page a module (or a program of ours, below). The page
names each source file of its folder and the folders in it; `file.c` on it is one of those, other files are named with theirs. Any other `word`,
on the page of history, too, must stand somewhere in the sources, so that a page cannot speak of a function or constant that is
gone. Each file in C or Python that these pages and docs/PROOFS.md name stands somewhere in the tree, but for those that the
history speaks of. The map has at most 1,300 words and the glossary 25 entries. Each of these refusals is proved on a planted fault.
"""
import os
import re
import sys

import house
import lint

PAGE = "docs/design/MAP.md"
BEGIN, END = "<!-- drawn by tests/lint/map.py --write -->\n", "<!-- end of what is drawn -->\n"
WIDTH = 118
FOLDER = "docs/design/"
HISTORY = FOLDER + "HISTORY.md"
GLOSSARY = "docs/GLOSSARY.md"
PROOFS = "docs/PROOFS.md"
RECIPES = "CONTRIBUTING.md"
PAGES = (PAGE, HISTORY, GLOSSARY, RECIPES)
# Names in the recipes that stand for others.
PLACEHOLDER = re.compile(r"NAME|PAGE\.md|(?:^|/)(?:hello|name)\.c$")
WORDS, WORDS_OF_HISTORY = 1200, 4000
# With its picture and table the map is some three printed pages, and our own words fit on one.
WORDS_OF_MAP, OWN_WORDS = 1300, 25
# What has a page and is no module: its folder.
PROGRAMS = {"mpiexec": "tools/mpiexec"}
SOURCE = re.compile(r"\.(c|h|S|py|sh|txt|build|f90|pml|map|sym|tsv)$")


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


def defines(text, name):
    """Whether a file has the function's body, the macro, or (of what is never called there) the word."""
    if re.search(rf"^\s*#\s*define {name}\b", text, re.M) or not re.search(rf"\b{name}\(", text):
        return bool(re.search(rf"\b{name}\b", text))
    for found in re.finditer(rf"^(?![\s*#/])[^;={{}}()\n]*\b{name}\(", text, re.M):
        depth, at = 1, found.end()
        while depth > 0 and at < len(text):
            depth += {"(": 1, ")": -1}.get(text[at], 0)
            at += 1
        if re.match(r"[\s\w(),*&>\[\]-]*\{", text[at:at + 200]):
            return True
    return False


def places(root, page, whole):
    """What the page names and the tree has not."""
    wrong = []
    for name, path in re.findall(r"`(\w+)`\s+\(([\w./]+)\)", whole):
        full = os.path.join(root, path)
        if not os.path.isfile(full):
            wrong.append(f"{page}: {path} does not exist")
            continue
        with open(full, encoding="utf-8") as f:
            if not defines(f.read(), name):
                wrong.append(f"{page}: {path} does not define {name}")
    for path in re.findall(r"`([\w.]+/[\w./]*)`", whole):
        if not os.path.exists(os.path.join(root, path)) and not PLACEHOLDER.search(path):
            wrong.append(f"{page}: {path} does not exist")
    return wrong


def source_words(text):
    """Every word that stands in the sources, and the names of their files."""
    words = {os.path.basename(name).split(".")[0] for name in text if SOURCE.search(name)}
    for name, whole in text.items():
        if SOURCE.search(name) or name == "meson_options.txt" or name.startswith(("tools/", "perf/")):
            words.update(re.findall(r"\w+", whole))
    return words


def page_of(name, home, text, words, exists):
    """What is wrong with the page of a module or program whose folder is `home`."""
    page = f"{FOLDER}{name}.md"
    if page not in text:
        return [f"{page}: there is none: each module has a page (CONTRIBUTING.md, Add a module)"]
    whole, wrong = text[page], []
    own = {os.path.basename(n): n for n in text if n.startswith(home + "/")}
    if len(whole.split()) > WORDS:
        wrong.append(f"{page}: {len(whole.split())} words, at most {WORDS}")
    named = set()
    for token in re.findall(r"`([^`\n]+)`", whole):
        if re.fullmatch(r"[\w.]+\.(c|h)", token):
            named.add(token.rsplit(".", 1)[0])
            if token not in own:
                wrong.append(f"{page}: {token} is not in {home}")
        elif re.fullmatch(r"[\w.]+/[\w./-]*", token):
            if not exists(token):
                wrong.append(f"{page}: {token} does not exist")
        elif re.fullmatch(r"\w+(\(\))?", token) and token.rstrip("()") not in words:
            wrong.append(f"{page}: {token} stands nowhere in the sources")
    for file in sorted(n for n in own.values() if n.endswith((".c", ".h"))):
        if os.path.basename(file).rsplit(".", 1)[0] not in named:
            wrong.append(f"{page}: has no line for {file}")
    return wrong


def files_named(text):
    """Files in C or Python that a page names, marked as code or not, and that stand nowhere in the tree."""
    names = set(text) | {os.path.basename(name) for name in text}
    wrong = []
    for page in sorted(n for n in text if (n.startswith(FOLDER) or n in (PROOFS, RECIPES)) and n != HISTORY):
        wrong += [f"{page}: there is no file {file}" for file in re.findall(r"(?<![\w/.-])[\w.-]+(?:/[\w.-]+)*\.(?:c|h|py)\b", text[page])
                  if file not in names and not PLACEHOLDER.search(file) and not any(n.endswith("/" + file) for n in names)]
    return wrong


def pages(root, table, text, words):
    """What is wrong with the pages of modules and programs, and with the history."""
    homes = {**table.homes, **PROGRAMS}

    def exists(path):
        return os.path.exists(os.path.join(root, path))
    wrong = [w for name, home in homes.items() for w in page_of(name, home, text, words, exists)]
    names = {os.path.basename(n)[:-3] for n in text if os.path.dirname(n) + "/" == FOLDER and n.endswith(".md")}
    wrong += [f"{FOLDER}{n}.md: no module of lib/meson.build has this name" for n in sorted(names - set(homes) - {"MAP", "HISTORY"})]
    wrong += files_named(text)
    history = text.get(HISTORY, "")
    if len(history.split()) > WORDS_OF_HISTORY:
        wrong.append(f"{HISTORY}: {len(history.split())} words, at most {WORDS_OF_HISTORY}")
    if len(text.get(PAGE, "").split()) > WORDS_OF_MAP:
        wrong.append(f"{PAGE}: {len(text[PAGE].split())} words, at most {WORDS_OF_MAP}")
    entries = re.findall(r"^- \*\*", text.get(GLOSSARY, ""), re.M)
    if len(entries) > OWN_WORDS:
        wrong.append(f"{GLOSSARY}: {len(entries)} words of our own, at most {OWN_WORDS}")
    wrong += [f"{RECIPES}: {token} stands nowhere in the sources" for token in re.findall(r"`(hl_\w+|HL_\w+)`", text.get(RECIPES, "")) if token not in words]
    wrong += [f"{HISTORY}: {token} stands nowhere in the sources" for token in re.findall(r"`(\w+)`", history) if token not in words]
    for page in sorted(n for n in text if n.startswith(FOLDER)):
        wrong += [f"{page}: the link to {link} leads nowhere" for link in re.findall(r"\]\(([^)#:]+)[^)]*\)", text[page])
                  if not exists(os.path.normpath(FOLDER + link))]
    return wrong


def prove(root, table, text, words):
    """What is not said when it is planted in the pages."""
    page, gone = f"{FOLDER}{table.order[0]}.md", "gone" * 3
    home = table.homes[table.order[0]]
    unnamed = re.sub(r"`(\w+\.[ch])`", r"\1", text[page])
    plants = [({page: None}, "there is none"), ({f"{FOLDER}{gone}.md": ""}, "no module of lib/meson.build"),
              ({page: text[page] + " word" * WORDS}, "words, at most"), ({HISTORY: "word " * (WORDS_OF_HISTORY + 1)}, f"{HISTORY}: {WORDS_OF_HISTORY + 1} words, at most"),
              ({PAGE: "word " * (WORDS_OF_MAP + 1)}, f"{PAGE}: {WORDS_OF_MAP + 1} words, at most"),
              ({GLOSSARY: "- **word**: one\n" * (OWN_WORDS + 1)}, f"{OWN_WORDS + 1} words of our own"),
              ({page: f"{text[page]} `{gone}.c`"}, f"{gone}.c is not in {home}"),
              ({page: f"{text[page]} `lib/{gone}.c`"}, f"lib/{gone}.c does not exist"),
              ({page: f"{text[page]} `{gone}`"}, f"{gone} stands nowhere"), ({page: f"{text[page]} [a]({gone}.md)"}, "leads nowhere"),
              ({PROOFS: f"{text[PROOFS]} {gone}.py"}, f"{PROOFS}: there is no file {gone}.py"),
              ({RECIPES: f"{text[RECIPES]} tests/{gone}.py"}, f"{RECIPES}: there is no file tests/{gone}.py"),
              ({RECIPES: f"{text[RECIPES]} `hl_{gone}`"}, f"{RECIPES}: hl_{gone} stands nowhere"),
              ({page: unnamed}, f"has no line for {home}/")]
    missed = [said for plant, said in plants
              if not any(said in w for w in pages(root, table, {n: t for n, t in {**text, **plant}.items() if t is not None}, words))]
    if len(places(root, RECIPES, f"`tests/{gone}.c` `tests/test_NAME.c` `{gone}` (rma/put.c)")) != 2:
        missed.append(f"{RECIPES}: names that are gone, and a pattern")
    return [f"tests/lint/map.py: not said when planted: {said}" for said in missed]


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
    wrong += [f"{PAGE}: module {m} has no row" for m in table.order if f"\n| [{m}]({m}.md) |" not in whole]
    words = source_words(text)
    wrong += pages(root, table, text, words) or prove(root, table, text, words)
    print("\n".join(wrong) if wrong else f"{FOLDER}: as it is")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
