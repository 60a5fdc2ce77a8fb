#!/usr/bin/env python3
"""Compares docs/BARS.md with the bars of the gates: a bar moves only with a line that says so.

usage: bars.py [--write | --because TEXT] SOURCE_ROOT

A bar is a number past which a gate fails: instructions (perf/icount), cache lines that travel (perf/coherence), KiB that a rank of
a million touches (tests/unit/test_scale.c), functions, files and lines on the way of a call (path.py), the rows of the scoreboard
(lint.py, house.py). Lower is better in all of them. The page has the least that each bar has been, too: a bar above it stands under
"Raised", where the last line that names it goes to as much, so that nobody raises one by changing two numbers.
--write          takes bars that have sunk, and new ones, into the page
--because TEXT   takes bars that have risen, too, each with its line: from, to, and the reason
"""
import argparse
import ast
import datetime
import os
import re
import sys

PAGE = "docs/BARS.md"
IN_FORCE, RAISED = "## In force", "## Raised"
ICOUNT = "perf/icount"
SCALE = "tests/unit/test_scale.c"


def literals(tree, wanted):
    """{name: value} of the module's assignments of literals whose names `wanted` matches."""
    found = {}
    for node in tree.body:
        if isinstance(node, ast.Assign):
            targets = [n for t in node.targets for n in (t.elts if isinstance(t, ast.Tuple) else [t])]
            values = node.value.elts if isinstance(node.value, ast.Tuple) and len(targets) > 1 else [node.value]
            for target, value in zip(targets, values):
                if re.search(wanted, target.id):
                    found[target.id] = ast.literal_eval(value)
    return found


def leaves(name, value):
    """Each number of a tree of dictionaries with its way there."""
    if isinstance(value, dict):
        return [leaf for key, below in value.items() for leaf in leaves(f"{name} {key}", below)]
    return [(name, value)]


def words_of(node):
    """A measure's words; None: it is no literal."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def board_rows(path, tree):
    """The calls of board.add(words, value, BAR, ...) and board.count(words, places, BAR = 0)."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and getattr(node.func.value, "id", "") == "board" \
                and node.func.attr in ("add", "count") and words_of(node.args[0]):
            bar = node.args[2] if len(node.args) > 2 else ast.Constant(0)
            if isinstance(bar, ast.Constant) and isinstance(bar.value, int):
                yield f"{path}: {words_of(node.args[0])}", bar.value


def line_gates(tree):
    """The rows of GATES = [(call, threads, scheduling, what, least, MOST), ...] that are literals."""
    gates = next(node.value for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id == "GATES")
    for row in gates.elts:
        if isinstance(row, ast.Tuple):
            call, threads, by, what, _, most = ast.literal_eval(row)
            yield f"perf/coherence: {call}, {threads} threads by {by}: {what}", most


def bars(root):
    """{bar: number}"""
    def tree(name):
        with open(os.path.join(root, name), encoding="utf-8") as f:
            return ast.parse(f.read())
    found = {}
    for name, value in literals(tree(ICOUNT), r"(TODAY|MOST|MORE)$").items():
        kind = name.lower().replace("_", " ")
        found.update((f"{ICOUNT}: {bar}", n) for bar, n in leaves(kind, value))
    found.update(line_gates(tree("perf/coherence")))
    with open(os.path.join(root, SCALE), encoding="utf-8") as f:
        found.update((f"{SCALE}: {words}, KiB", int(most)) for words, most in re.findall(r'^    \{"([^"]+)", (\d+)\},$', f.read(), re.M))
    for kind, points, most in literals(tree("tests/lint/path.py"), "^WAYS$")["WAYS"]:
        way = points.replace(" | ", " ").split()
        for what, n in zip(("functions", "files", "lines", "lines with direct callees"), most):
            found[f"tests/lint/path.py: {kind}, {way[0]} to {way[-1]}: {what}"] = n
    for name in ("tests/lint/lint.py", "tests/lint/house.py"):
        found.update(board_rows(name, tree(name)))
    return found


def page_parts(text):
    """What stands before the table, {bar: number} and {bar: least} of the table, and what stands from RAISED on."""
    head, _, rest = text.partition(IN_FORCE)
    table, _, raised = rest.partition(RAISED)
    rows = re.findall(r"^\| (.+?) \| ([\d.]+) \|(?: ([\d.]+) \|)?$", table, re.M)
    return head, {bar: float(n) for bar, n, _ in rows}, {bar: float(least) for bar, _, least in rows if least}, raised


def page(head, found, least, raised):
    rows = "\n".join(f"| {bar} | {n} | {min(n, least.get(bar, n)):g} |" for bar, n in found.items())
    return f"{head}{IN_FORCE}\n\n| bar | number | least |\n|---|---|---|\n{rows}\n\n{RAISED}{raised}"


def unexplained(found, least, raised):
    """Sentences about bars above their least without a line that goes so far, and about lines and rows that tell too little."""
    allowed = {bar: float(to) for bar, to in re.findall(r"^\| (.+?) \| [\d.]+ \| ([\d.]+) \|", raised, re.M)}
    wrong = [f"{bar} has no least in {PAGE}: --write enters it" for bar in found if bar not in least]
    wrong += [f"{bar} is {n}, above {least[bar]:g}, its least; its last line under \"Raised\" "
              + (f"goes to {allowed[bar]:g}" if bar in allowed else "is missing") for bar, n in found.items() if n > least.get(bar, n) and n > allowed.get(bar, 0)]
    return wrong + [f"{bar}, a line under \"Raised\", names no single bar" for bar in allowed if re.search(r"\(\w+ rows", bar)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--because", metavar="TEXT")
    parser.add_argument("root")
    options = parser.parse_args()
    path, found = os.path.join(options.root, PAGE), bars(options.root)
    with open(path, encoding="utf-8") as f:
        head, known, least, raised = page_parts(f.read())
    risen = [(bar, known[bar], n) for bar, n in found.items() if n > known.get(bar, n)]
    if options.because:
        day = datetime.date.today().isoformat()
        raised = raised.rstrip("\n") + "".join(f"\n| {bar} | {old:g} | {new} | {day} | {options.because} |" for bar, old, new in risen) + "\n"
    elif risen or not options.write:
        wrong = [f"{bar} is {n}, {PAGE} says {f'{known[bar]:g}' if bar in known else 'nothing of it'}" for bar, n in found.items() if known.get(bar) != n]
        wrong += [f"{bar} stands in {PAGE} and is no bar" for bar in known if bar not in found]
        wrong += unexplained(found, least, raised)
        wrong += ["Write lower bars by tests/lint/bars.py --write .; a bar that rises needs --because TEXT."] if wrong else []
        print("\n".join(wrong) or f"{len(found)} bars, as in {PAGE}")
        return 1 if wrong else 0
    with open(path, "w", encoding="utf-8") as f:
        f.write(page(head, found, least, raised))
    return 0


if __name__ == "__main__":
    sys.exit(main())
