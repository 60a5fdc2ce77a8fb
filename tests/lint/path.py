#!/usr/bin/env python3
"""Counts the calls from the public puts to libfabric, and the lines to read on that way.

usage: path.py SOURCE_ROOT BUILD_ROOT

The files on the way are compiled again by gcc without inlining but with -fcallgraph-info; the way is the shortest chain of
calls from the entry point to fi_writemsg. Fails past the bars of the scoreboard: 3 calls (small static steps inside one
file count as one with their caller), 120 lines.
"""
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import deque

FOLDERS = ("rma/", "lib/lane/", "shmem/")
ENTRIES = ("PMPI_Put", "pshmem_putmem")
WIRE = "fi_writemsg"
HOPS, LINES = 3, 120


def call_graph(build, work):
    """{function: (callees, file, line)} of all files in FOLDERS. Names of static functions carry their file."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as f:
        commands = json.load(f)
    graph, where = {}, {}
    for number, entry in enumerate(commands):
        path = os.path.normpath(os.path.join(entry["directory"], entry["file"]))
        if not any("/" + folder in path for folder in FOLDERS) or "/tests/" in path:
            continue
        words = [w for w in shlex.split(entry["command"]) if not w.startswith(("-flto", "-W", "-O", "-M"))]
        words = words[os.path.basename(words[0]) == "ccache":]
        words = ["gcc"] + [w for i, w in enumerate(words[1:], 1) if not w.endswith(".d") and words[i - 1] not in ("-o",) and w != "-o"
                           and not w.endswith(".o")]
        target = os.path.join(work, f"{number}.o")
        done = subprocess.run(words + ["-w", "-O1", "-fno-inline", "-fcallgraph-info", "-o", target],
                              cwd=entry["directory"], capture_output=True, text=True, env={**os.environ, "CCACHE_DISABLE": "1"})
        if done.returncode != 0:
            sys.exit(f"cannot compile {path}:\n{done.stderr[-2000:]}")
        read_graph(target[:-2] + ".ci", path, graph, where)
    return graph, where


def read_graph(name, path, graph, where):
    def key(title):
        return f"{path}:{title.split(':')[-1]}" if ":" in title else title

    with open(name, encoding="utf-8") as f:
        for line in f:
            node = re.match(r'node: \{ title: "([^"]+)" label: "[^\\"]+\\n([^"]+?):(\d+):\d+', line)
            edge = re.match(r'edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)"', line)
            if node and "shape : ellipse" in line:
                continue  # only declared in this file
            if node:
                where.setdefault(key(node[1]), (os.path.basename(node[2]), int(node[3]), path, node[2]))
            elif edge:
                graph.setdefault(key(edge[1]), set()).add(key(edge[2]))


def shortest(graph, start, goal):
    ways, seen = deque([[start]]), {start}
    while ways:
        way = ways.popleft()
        if way[-1].split(":")[-1] == goal:
            return way
        for callee in sorted(graph.get(way[-1], ())):
            if callee not in seen:
                seen.add(callee)
                ways.append(way + [callee])
    return None


def length(place, root):
    """Lines of the function that begins at `place`."""
    _, line, unit, shown = place
    for path in (os.path.join(os.path.dirname(unit), os.path.basename(shown)), unit):
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                text = f.read().split("\n")
            for i in range(line - 1, len(text)):
                if text[i].startswith("}"):
                    return i - line + 2
    return 0


def main():
    if shutil.which("gcc") is None:
        print("gcc is not installed: only gcc writes call graphs")
        return 77
    root, build = (os.path.abspath(a) for a in sys.argv[1:3])
    failed = False
    with tempfile.TemporaryDirectory() as work:
        graph, where = call_graph(build, work)
        for entry in ENTRIES:
            if entry.startswith("pshmem") and entry not in where:
                continue  # built without OpenSHMEM
            way = shortest(graph, entry, WIRE)
            if way is None:
                print(f"FAIL: no chain of calls from {entry} to {WIRE}")
                return 1
            lines = sum(length(where[f], root) for f in way[:-1])
            names = [f.split(":")[-1] for f in way]
            files = [where[f][2] for f in way[:-1]]
            hops = 1 + sum(1 for a, b in zip(files, files[1:]) if a != b)
            failed |= hops > HOPS or lines > LINES
            print(" -> ".join(names))
            print(f"{entry}: {hops} calls between files to libfabric (bar {HOPS}), {lines} lines to read (bar {LINES})")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
