#!/usr/bin/env python3
"""Counts what is to be read from a public call to the wire: functions, files and lines.

usage: path.py SOURCE_ROOT BUILD_ROOT

The library is compiled again by gcc, without any inlining (always_inline is taken out), with -fcallgraph-info. A way is the
shortest chain of calls through the functions that WAYS names. Functions of the library count, and of libfabric the one in its
header with which a way ends; of a function that a macro makes, the whole macro counts. The fourth number adds the lines of all functions of the
library that those of the chain call, so that a body which moves into a helper beside the chain still counts. Fails where a way is longer
than its bar (bars only go down, towards the goals of its kind), where a way is not found, and where a function's lines are not.
"""
import os
import re
import shutil
import sys
import tempfile
from collections import defaultdict, deque
from types import SimpleNamespace

from stack import Graph, compile_all

OPTIONS = ("-O0", "-DNDEBUG", "-Dalways_inline=unused")
COUNTED = ("functions", "files", "lines", "lines with direct callees")
GOALS = {"near": (6, None, 120, None), "direct": (12, 5, 250, None), "chained": (20, 8, 400, None)}
# Kind, functions on the way, bars (COUNTED). Behind a | the way goes on through a pointer to a function, or at a later call.
WAYS = [
    ("near", "PMPI_Put hl_move_short hl_near_copy", (3, 3, 57, 110)),
    ("direct", "PMPI_Put hl_move_short | put_unmapped hl_lane_write fi_writemsg", (10, 4, 134, 292)),
    ("chained", "PMPI_Put hl_move_short | put_unmapped hl_lane_write hl_chain_append | PMPI_Win_flush flush_peer hl_chain_send fi_sendmsg", (20, 8, 329, 1082)),
    ("near", "PMPI_Get hl_move_short hl_near_copy", (3, 3, 56, 109)),
    ("direct", "PMPI_Get hl_move_short | get_unmapped hl_lane_read fi_readmsg", (9, 4, 127, 278)),
    ("chained", "PMPI_Get hl_move_short | get_unmapped hl_lane_read hl_chain_append | PMPI_Win_flush flush_peer hl_chain_send fi_sendmsg", (19, 8, 324, 1077)),
    ("near", "PMPI_Win_flush hl_near_fence", (2, 2, 12, 33)),
    ("chained", "PMPI_Win_flush flush_peer hl_chain_send fi_sendmsg", (10, 4, 168, 521)),
    ("near", "pshmem_putmem hl_near_copy", (4, 3, 37, 93)),
    ("direct", "pshmem_putmem hl_lane_write_on fi_writemsg", (9, 4, 107, 269)),
    ("chained", "pshmem_putmem hl_lane_write_on hl_chain_append | pshmem_quiet hl_chain_send fi_sendmsg", (20, 8, 304, 999)),
    ("near", "pshmem_quiet hl_near_fence", (3, 2, 16, 30)),
    ("chained", "pshmem_quiet hl_chain_send fi_sendmsg", (11, 4, 163, 452)),
    ("near", "PMPI_Send hl_ring_publish", (6, 3, 102, 334)),
    ("direct", "PMPI_Send hl_far_eager fi_sendmsg", (11, 5, 151, 434)),
    ("near", "PMPI_Recv hl_req_wait hl_prog_wait_slow hl_prog_poll | hl_matcher_poll hl_inbox_poll hl_recv_deliver", (13, 8, 182, 764)),
    ("direct", "PMPI_Recv hl_req_wait hl_prog_wait_slow hl_prog_poll | hl_matcher_poll hl_net_poll fi_cq_read", (13, 10, 144, 557)),
]


def shortest(graph, starts, goal):
    """The shortest chain of calls from one of `starts` to a function of the name `goal`."""
    ways, seen = deque([s] for s in sorted(starts)), set(starts)
    while ways:
        way = ways.popleft()
        if way[-1].rpartition(":")[2] == goal:
            return way
        for callee in sorted(graph.calls[way[-1]] - seen):
            seen.add(callee)
            ways.append(way + [callee])
    return None


def walk(graph, points):
    """The functions of the library on a way, each once, in their order; where a leg leads nowhere, None and its ends."""
    found = []
    for leg in points.split("|"):
        at, names = None, leg.split()
        for start, goal in zip(names, names[1:]):
            way = shortest(graph, {at} if at else graph.of[start], goal)
            if way is None:
                return None, (start, goal)
            found += [f for f in way if f in graph.frame and f not in found]
            at = way[-1]
    return found, None


def macro_lines(text, last, use):
    """The lines of the macros that a line before which they stand uses to make functions."""
    total = 0
    for name in re.findall(r"\w+", use):
        begin = next((i for i in range(last, -1, -1) if re.match(rf"#define {name}\(", text[i])), None)
        if begin is not None:
            total += next(i for i in range(begin, len(text)) if not text[i].endswith("\\")) - begin + 1
    return total


def lines_of(graph, function):
    """(file, lines) of a function."""
    path, line, _ = graph.place[function].rsplit(":", 2)
    path = os.path.abspath(os.path.join(graph.folder, path))
    with open(path, encoding="utf-8") as f:
        text = f.read().split("\n")
    first = int(line) - 1
    if function.rpartition(":")[2] not in text[first]:
        return path, macro_lines(text, first, text[first])
    return path, next(i for i in range(first, len(text)) if text[i].startswith("}")) - first + 1


def beside(graph, way):
    """The functions of the library that those of a way call and that are not on it."""
    return sorted({callee for f in way for callee in graph.calls[f] if callee in graph.frame} - set(way))


def measure(graph, way):
    """The numbers of a way, and the functions whose lines were not found."""
    sizes = {f: lines_of(graph, f) for f in way + beside(graph, way)}
    lines = sum(sizes[f][1] for f in way)
    return ((len(way), len({sizes[f][0] for f in way}), lines, sum(n for _, n in sizes.values())),
            [f for f, (_, n) in sizes.items() if n == 0])


def prove(work):
    """What is not seen when it is planted: a helper beside a way, and a function that no text has."""
    source = os.path.join(work, "plant.c")
    with open(source, "w", encoding="utf-8") as f:
        f.write("int start(void)\n{\n    return 0;\n}\nint helper(void)\n{\n}\nUNKNOWN(lost)\n")
    graph = SimpleNamespace(folder=work, frame={"start": 0, "helper": 0, "made_lost": 0}, calls=defaultdict(set, start={"helper", "puts"}),
                            place={"start": source + ":1:5", "helper": source + ":5:5", "made_lost": source + ":8:1"})
    wrong = [] if measure(graph, ["start"]) == ((1, 1, 4, 7), []) else ["a helper beside the chain"]
    return wrong + ([] if measure(graph, ["made_lost"])[1] == ["made_lost"] else ["a function without lines"])


def main():
    if shutil.which("gcc") is None:
        print("gcc is not installed: only gcc writes call graphs")
        return 77
    root, build = (os.path.abspath(a) for a in sys.argv[1:3])
    failed = False
    with tempfile.TemporaryDirectory() as work:
        graph = Graph(compile_all(build, work, OPTIONS), work, root)
        for what in prove(work):
            print(f"FAIL: not seen when planted: {what}")
            failed = True
    with_shmem = any("/shmem/" in place for place in graph.place.values())
    for kind, points, bars in WAYS:
        if points.startswith("pshmem") and not with_shmem:
            print(f"left out, since the build is without OpenSHMEM: {points}")
            continue
        way, gap = walk(graph, points)
        if way is None:
            print(f"FAIL: no chain of calls from {gap[0]} to {gap[1]}")
            failed = True
            continue
        counts, unread = measure(graph, way)
        for f in unread:
            print(f"FAIL: the lines of {f} are not found")
            failed = True
        above = any(n > bar for n, bar in zip(counts, bars))
        failed |= above
        said = ", ".join(f"{n} {what} (bar {bar}{'' if goal is None else f', goal {goal}'})"
                         for n, what, bar, goal in zip(counts, COUNTED, bars, GOALS[kind]))
        print(f"{'FAIL: ' if above else ''}{kind}: {points}: {said}")
        print("    " + " > ".join(f.rpartition(":")[2] for f in way))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
