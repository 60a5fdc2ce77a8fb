#!/usr/bin/env python3
"""The lists of what is known to be missed (perf/missed.expect, tests/net/fabrics.expect): what is listed fails nothing, whether it is missed
or reached; what is missed and not listed fails, or by more than is listed, and so does a line that names nothing. Every line names a script
or fabric, and why."""
import argparse
import contextlib
import importlib.machinery
import importlib.util
import io
import math
import pathlib
import re
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(SOURCE / "perf"), str(SOURCE / "tests" / "net")]
import fabrics  # noqa: E402
import harness  # noqa: E402
import missed  # noqa: E402


def check(right, words):
    if not right:
        sys.exit(f"missed: {words}")


def said(call):
    """What it returns, and what it prints."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        code = call()
    return code, out.getvalue()


def goals(listed, values, best=()):
    """Ends a script s whose list is `listed` and whose goals, at most 1, have these values; best: its ratios to the others, None: no other."""
    with tempfile.NamedTemporaryFile("w", suffix=".expect", encoding="utf-8") as file:
        file.write("# why\n\ntwo | * | another script's\n" + "".join(f"s | {line}\n" for line in listed))
        file.flush()
        harness.MISSED = file.name

        def run():
            book = harness.Book(argparse.Namespace(json="", gate=True), "s")
            for name, value in values.items():
                book.aim(name, value, 1)
            ratios = harness.Values([harness.Row("ours", None, ours=True), harness.Row("other", None)])
            for key, ratio in dict(best).items():
                ratios["ours"][key] = [ratio or 1]
                ratios["other"][key] = [1] if ratio else []
            book.compare(ratios, list(dict(best)), "ours", goals=dict.fromkeys(dict(best), 2), title="ratio")
            return book.close()
        return said(run)


def scripts():
    """The rules, by a book."""
    code, out = goals([], {"a": 1})
    check(code == 0 and out.endswith("0 of 1 goals missed: 0 known, 0 new\n"), out)
    code, out = goals(["a, [12] t | 3 | no time"], {"a, 1 t": 2, "a, 2 t": 3, "b": 1})
    check(code == 0 and "a, 1 t: missed, as known: no time\n" in out and out.endswith("2 of 3 goals missed: 2 known, 0 new\n"), out)
    code, out = goals(["a | 3 | no time"], {"a": 3.5, "b": 1})
    check(code == 1 and "a: missed, by 3.50 times, and listed with at most 3: no time\n" in out and
          out.endswith("1 of 2 goals missed: 0 known, 1 new\n"), out)
    code, out = goals(["a | no time"], {"a": 2, "b": 2})
    check(code == 1 and "b: missed, and not listed\n" in out and out.endswith("2 of 2 goals missed: 1 known, 1 new\n"), out)
    code, out = goals(["a | no time"], {"a": 1})
    check(code == 0 and "a: reached here; listed as missed\n" in out and out.endswith("0 of 1 goals missed: 0 known, 0 new\n"), out)
    code, out = goals(["a | no time", "c* | gone"], {"a": 2})
    check(code == 1 and "c*: listed as missed, but nothing has this name here" in out, out)
    for ratio, code in ((1, 0), (0.5, 1)):  # the goal is 2
        found, out = goals(["ratio, k | 2.5 | slow"], {}, {"k": ratio})
        check(found == code and out.endswith(f"1 of 1 goals missed: {1 - code} known, {code} new\n"), out)
    check([missed.times(*case) for case in ((1, 2), (3, 2), (1, 0), (0, 0), (1, 2, "more"), (0, 2, "more"), (3, 2, "more"))] ==
          [1 / 2, 3 / 2, math.inf, 1, 2, math.inf, 2 / 3], "by how many times")
    code, out = goals(["ratio, k | slow"], {}, {"k": None})
    check(code == 77 and "skipped: no goal can be judged here" in out, f"no other library: {code} {out}")


def race():
    """A whole run of perf/race must have all that is listed; one that reads a report has some of it."""
    loader = importlib.machinery.SourceFileLoader("race", str(SOURCE / "perf" / "race"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("race", loader))
    loader.exec_module(module)
    for only, given, stale in ((module.FIGURES, None, 1), (module.FIGURES, "report.json", 0), (["rates"], None, 0)):
        with tempfile.NamedTemporaryFile("w", suffix=".expect", encoding="utf-8") as file:
            file.write("race | a | 2 | slow\nrace | b | 2 | slow\nrace | c | 2 | slow\n")
            file.flush()
            harness.MISSED = file.name
            options = argparse.Namespace(only=only, given=given, goal=1)
            found, out = said(lambda options=options: module.judge([(0.5, "a", "a: 0.5"), (0.6, "d", "d: 0.6")], ["b"], options))
        check(found == (1, 1, stale), f"race, {only}, {given}: {found} {out}")


def providers():
    """The rules, by rows that pass (p), run past their time (f), go wrong (c) and skip (s) over a provider."""
    results = {"p": "passed", "f": "hangs", "s": "skipped", "c": "exit code 1"}
    with tempfile.TemporaryDirectory() as folder:
        fabrics.HERE = pathlib.Path(folder)
        fabrics.rows = lambda build, which: ((name, [], {}, 1) for name in names if name != "l" or which == "long")
        fabrics.run_row = lambda row, fabric, build: (results[row[0]], "")
        fabric = argparse.Namespace(name="tcp@here", provider="tcp", source="here", version="9", offer=lambda: [])
        options = argparse.Namespace(drawn=0, build=pathlib.Path(folder), rows="full", jobs=1)
        for names, listed, failed, words in (("pfsl", "f", 0, "f: failed, as known: slow"), ("pfsl", "", 1, "f: failed, and not listed"),
                                             ("pfsl", "fp", 0, "p: passes here; listed as failed"), ("pfsl", "fsl", 0, "1 known, 0 new"),
                                             ("pfsl", "fx", 1, "x: listed as failed, but nothing"),
                                             ("pfcsl", "fc", 1, "c: exit code 1: failed, and not listed")):
            (fabrics.HERE / "fabrics.expect").write_text("udp@here | y | slow\n" + "".join(f"tcp@here | {name} | slow\n" for name in listed))
            count, out = said(lambda: fabrics.run_fabric(fabric, options))
            check(count == failed and words in out, f"fabrics, {listed}: {count} {out}")


def lists():
    """What the tree's own lists say of themselves."""
    headings = re.findall(r"^## (.*?)(?: \(`.*)?$", (SOURCE / "docs" / "FIGURES.md").read_text(encoding="utf-8"), re.M)
    for script, name, most, why in missed.read(SOURCE / "perf" / "missed.expect"):
        place = why.rpartition("(")[2].rstrip(")")
        check((SOURCE / "perf" / script).is_file() and name and 1 < most < math.inf and place in headings,
              f"perf/missed.expect: {script} | {name} | {most:g} | {why}: no such script, by how many times it may be missed is not said, "
              "or no such section in docs/FIGURES.md")
    for fabric, name, _, why in missed.read(SOURCE / "tests" / "net" / "fabrics.expect"):
        check(fabric in fabrics.FABRICS and name and why, f"tests/net/fabrics.expect: {fabric} | {name} | {why}: no such fabric, or no reason")


def main():
    lists()
    scripts()
    race()
    providers()


if __name__ == "__main__":
    main()
