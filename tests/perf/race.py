#!/usr/bin/env python3
"""perf/race from the outside: which points it compares, in which order, how it ends; and processes that keep cores busy go with it."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

PERF = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "perf")
RACE = os.path.join(PERF, "race")
BUSY = """
import importlib.machinery, importlib.util, sys, time
sys.path[:0] = [sys.argv[1]]
loader = importlib.machinery.SourceFileLoader("race", sys.argv[1] + "/race")
race = importlib.util.module_from_spec(importlib.util.spec_from_loader("race", loader))
loader.exec_module(race)
with race.busy(2):
    print("busy", flush=True)
    time.sleep(float(sys.argv[2]))
"""


def check(right, words):
    if not right:
        sys.exit(f"race: {words}")


def row(name, values, ours=False, mark=""):
    return {"name": name, "ours": ours, "mark": mark, "cells": [[v] if v else [] for v in values], "paper": []}


def table(title, better, rows, drawn=True):
    return {"title": title, "unit": "u", "x": "threads", "better": better, "rounds": 1, "keys": [1, 2], "drawn": drawn, "rows": rows, "failed": {}}


def race(folder, report, *words):
    path = os.path.join(folder, "report.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(report, file)
    done = subprocess.run([RACE, "--from", path, *words], capture_output=True, text=True, check=False, timeout=60)
    return done.returncode, done.stdout, done.stderr


def points():
    """Rates and times, the worst first; what is no other library's, did other work or did not use the network is left out."""
    rates = table("rates", "more", [row("hotlane", [8, 30], True), row("hotlane, one lane", [99, 99], True), row("openmpi", [10, 10]),
                                    row("mpich, wrong matching", [100, 100]), row("memcpy", [100, 100]), row("mpich", [100, 100], mark="by shared memory")])
    times = table("times", "less", [row("hotlane", [4, 1], True), row("mpich, locks", [1, None]), row("openmpi", [3, 3])])
    counts = table("counts", "less", [row("hotlane", [9, 9], True), row("openmpi", [1, 1])], drawn=False)
    with tempfile.TemporaryDirectory() as folder:
        code, said, _ = race(folder, {"figures": [{"tables": [rates, times, counts]}]})
        check(code == 0 and said == ("  0.25  times, 1 threads: hotlane 4, mpich, locks 1 u\n  0.80  rates, 1 threads: hotlane 8, openmpi 10 u\n"
                                     "2 of 4 points below 1.0; the median is 1.90\n"), f"{code} {said}")
        code, said, _ = race(folder, {"figures": [{"tables": [rates, times]}]}, "--all", "--gate", "--busy", "1")
        check(code == 1 and said.count("\n") == 6 and "  3.00  rates, 2 threads" in said and "1 of 4 points below 0.8: 0 known, 1 new" in said, f"{code} {said}")
        code, said, _ = race(folder, {"figures": [{"tables": [table("alone", "more", [row("hotlane", [1, 1], True)])]}]}, "--gate")
        check(code == 77 and said.startswith("skipped: no other library ran"), f"{code} {said}")
        code, _, said = race(folder, [])
        check(code == 2 and "expected the report.json of perf/report" in said, f"{code} {said}")


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


def is_there(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def busy(seconds, end):
    """Two guards and two loops run, and none is left when the program ends, by itself or killed."""
    with subprocess.Popen([sys.executable, "-c", BUSY, PERF, str(seconds)], stdout=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        begin, below = time.monotonic(), []
        while len(below) < 4 and time.monotonic() - begin < 20:
            guards = children(process.pid)
            below = guards + [child for guard in guards for child in children(guard)]
        check(len(below) == 4, f"{len(below)} processes of 4")
        if end:
            process.send_signal(end)
        process.wait()
    begin = time.monotonic()
    while any(map(is_there, below)) and time.monotonic() - begin < 20:
        time.sleep(0.05)
    check(not any(map(is_there, below)), "processes that compute are left")


def main():
    points()
    busy(1, None)
    busy(100, signal.SIGKILL)


if __name__ == "__main__":
    main()
