#!/usr/bin/env python3
"""How much stack the deepest calls of the library take, by the compiler's own figures.

usage: stack.py SOURCE_ROOT BUILD_ROOT [FUNCTION...]

Every file of the library is compiled again by gcc with the build's options, -O3 and no LTO, with -fcallgraph-info=su: what the frame of
each function takes after inlining, and whom it calls. Calls through pointers reach what callbacks.py finds. Prints the
deepest public calls (or those named) with their chains, and fails where
- one takes more than HL_STACK_OWN on one node, or over the network so much that libfabric finds less than it takes
  (lib/base/thread.h), unless WIDER has it;
- a frame has no bound (alloca, arrays of variable length);
- functions call themselves and none of them is in TURNS;
- a call through a pointer leads nowhere.
Not counted: what functions of the program take, hwloc, a launcher's library, and the watchdog's words (HOTLANE_WATCHDOG).
tests/shmem/small_stack.c measures the same on a painted stack.
"""
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor

from callbacks import Callbacks, blank

FOLDERS = ("lib", "rma", "shmem")
FABRIC = "@libfabric"
FABRIC_TAKES = 15360  # measured: tcp;ofi_rxm of libfabric 1.17, the first connection and errors included
SHOWN = 3

# Files of the network: on one node their functions return at once.
NETWORK = ("shmem/tree.c:post_far", "lib/lane/", "lib/fab/", "lib/match/far.c", "lib/match/port.c", "lib/match/tail.c", "lib/rx/net.c",
           "lib/rx/answers.c", "lib/rx/mr.c")
# What functions from outside take, as measured on a painted stack with glibc 2.36 and rounded up; the rest: LEAF.
LEAF = 256
ALLOWANCES = {
    2176: "vsnprintf snprintf sprintf vasprintf asprintf strerror strerror_r",
    3072: "fprintf",  # into memory; to a stream without a buffer it takes 10 KiB
    2432: "__isoc99_sscanf __isoc99_fscanf",
    1280: "qsort qsort_r",
}
# What may take more, and why.
WIDER = {
    "drive_queue": (512, "HOTLANE_RMA_MODE=enqueue: whoever waits performs operations of other threads"),
    **{f"PMPIX_{w}_section": (1152, "a section's dimensions; past 8 KiB only where the calls of other threads are performed, too")
       for w in ("Put", "Get", "Accumulate")},
}
# Functions that call themselves: how many frames are counted, and why.
TURNS = {
    "loop.c:hl_loop_unref": (8, "a level for each structure within a structure"),
    "loop.c:hl_loop_merged": (8, "a level for each datatype within another"),
    "external.c:convert_leaves": (8, "the same"),
    "external.c:bytes_of": (8, "the same"),
    "scale.c:scale_type": (4, "the same, for files of another representation"),
    "blocks.c:free_tree": (20, "a level of a balanced tree"),
    "balance.c:split_divisors": (20, "halves"),
    "order.c:span_blocks": (8, "a level for each datatype within another"),
    "circle.c:follow_wait": (1, "the watchdog's search, which is not counted"),
    "comm.c:hl_comm_unref": (2, "an intercommunicator has a local one"),
    "parse.c:hl_conf_parse": (1, "the words of a part are a list of words"),
    "inter.c:hl_build_inter": (1, "its phases are those of intracommunicators"),
    "send.c:hl_chain_send": (2, "a message behind which the heartbeat of a way is read takes a slot, for which others are sent"),
}
# Calls that do not happen on a deep way, or not at all, and why.
CUTS = {
    ("hl_prog_sleep", "hl_prog_describe_awaited"): "in a wait that no pass began only, well above the deepest",
    ("wait_until", "hl_prog_answer"): "the same, and only when the library ends",
    ("tell_send", "hl_matcher_peer"): "the peer of a message that is being sent is known",
    ("hl_far_arm", "hl_port_own"): "not patient: it does not wait",
    ("hl_errh_comm", "raise_file_request"): "handlers of one kind do not raise those of another",
    ("hl_errh_comm", "raise_window_request"): "the same",
}
# Pointers to functions of the program, and of a launcher's library.
USER = ("fn", "fn_large", "fn_c", "del", "copy", "extent", "query", "cancel", "free", "done")
# Those that no module sets.
UNSET = ("open", "close", "quiet")
# Tables that macros paste together: the functions that stand in them.
PASTED = {
    "hl_op_kernels": r".*/op/kernels\.c:\w+",
    "kernel": r".*/op/kernels\.c:\w+",
    "cpu_fns": r".*/op/near_acc\.c:\w+_(8|16|32|64)",
    "cas_fns": r".*/op/near_acc\.c:cas_(8|16|32|64)",
}


def compile_all(build, work, options=("-O3", "-DNDEBUG")):
    """Compiles the library's files into `work`; a file NAME.ci for each."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as f:
        entries = [e for e in json.load(f) if e["output"].startswith("lib/libhl_")]

    def one(numbered):
        number, entry = numbered
        words = shlex.split(entry["command"])
        words = words[os.path.basename(words[0]) == "ccache":]
        kept = [w for i, w in enumerate(words[1:], 1) if not w.startswith(("-W", "-M", "-flto", "-ffat", "-g", "-o", "-O"))
                and words[i - 1] not in ("-o", "-MF", "-MQ")]
        done = subprocess.run(["gcc"] + kept + ["-w", *options, "-fcallgraph-info=su", "-o", os.path.join(work, f"{number}.o")],
                              cwd=entry["directory"], capture_output=True, text=True, env={**os.environ, "CCACHE_DISABLE": "1"})
        return f"cannot compile {entry['file']}:\n{done.stderr[-2000:]}" if done.returncode != 0 else None
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        errors = [e for e in pool.map(one, enumerate(entries)) if e]
    if errors:
        sys.exit(errors[0])
    return os.path.abspath(entries[0]["directory"])


class Graph:
    """Frames and calls. Static functions are called FILE:NAME."""

    def __init__(self, folder, work, root):
        self.folder, self.root = folder, root
        self.frame, self.place, self.unbound = {}, {}, []
        self.calls, self.pointers = defaultdict(set), defaultdict(set)
        self.of = defaultdict(set)  # name, or FILE:NAME: the nodes that gcc made of it
        for name in sorted(os.listdir(work)):
            if name.endswith(".ci"):
                self.read(os.path.join(work, name))

    def key(self, title):
        path, _, name = title.rpartition(":")
        return f"{os.path.abspath(os.path.join(self.folder, path))}:{name}" if path else name

    def read(self, name):
        node = re.compile(r'node: \{ title: "([^"]+)" label: "[^"\\]*\\n([^"\\]+)\\n(\d+) bytes \(([^)]*)\)')
        edge = re.compile(r'edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)"(?: label: "([^"]*)")?')
        with open(name, encoding="utf-8") as f:
            for line in f:
                m, e = node.match(line), edge.match(line)
                if m:
                    key = self.key(m[1])
                    self.frame[key] = max(self.frame.get(key, 0), int(m[3]))
                    self.place[key] = m[2]
                    plain = re.sub(r"\.(isra|part|constprop|cold)\b.*", "", key)
                    self.of[plain].add(key)
                    self.of[plain.rpartition(":")[2]].add(key)
                    if m[4] == "dynamic":
                        self.unbound.append(key)
                elif e and e[2] == "__indirect_call":
                    self.pointers[self.key(e[1])].add(e[3])
                elif e:
                    self.calls[self.key(e[1])].add(self.key(e[2]))


def names_in_source(root):
    """Functions with a body, those that gcc has put into their callers among them."""
    known = set()
    for folder in FOLDERS:
        for where, _, files in os.walk(os.path.join(root, folder)):
            for name in files:
                if name.endswith((".c", ".h")):
                    with open(os.path.join(where, name), encoding="utf-8") as f:
                        text = blank(f.read())
                    known |= set(re.findall(r"^(?:[A-Za-z_][^;{}#=\n]*?[\s*])?(\w+)\([^;{}#]*\)[^;{}#=]*\n\{", text, re.M))
    return known


class Stack:
    """Depths. A wait calls the conditions of the call that waits; a pass of polling happens once at a time."""

    def __init__(self, graph, callbacks, near):
        self.g, self.c = graph, callbacks
        self.lost, self.turns, self.done, self.way = [], set(), {}, []
        self.reached = set()
        self.near = near
        self.inline = {key.rpartition(":")[2] for key in callbacks.types if ".h:" in key}
        self.targets = {}

    def follow(self, node):
        """What a node calls through pointers: (functions, whether the condition of a wait is among them)."""
        if node in self.targets:
            return self.targets[node]
        found, waits = set(), False
        for place in self.g.pointers.get(node, ()):
            path, line, column = place.rsplit(":", 2)
            path = os.path.abspath(os.path.join(self.g.folder, path))
            names = self.c.called_at(path, int(line), int(column))
            if names is None:
                found.add(FABRIC if "/rdma/" in path else "@" + os.path.basename(path))
                continue
            for name in names:
                if name[1] == "cond":
                    waits = True
                    continue
                at = self.nodes(self.c.functions_of(name))
                if name[0] == "outside":
                    found.add(FABRIC if name[1] == "hl_fab_lib" else "@" + name[1])
                elif not at and name[1] not in USER + UNSET:
                    self.lost.append((place, name))
                found |= at
            if not names:
                self.lost.append((place, "?"))
        self.targets[node] = found, waits
        return found, waits

    def file_of(self, node):
        path = os.path.abspath(os.path.join(self.g.folder, self.g.place[node].rsplit(":", 2)[0]))
        return os.path.relpath(path, self.g.root) + ":" + plain(node)

    def at(self, node):
        return f"{os.path.basename(self.g.place[node].split(':')[0])}:{plain(node)}"

    def nodes(self, functions):
        return {n for f in functions for n in self.g.of.get(f) or self.g.of.get(f.rpartition(":")[2], ())}

    def leaf(self, name):
        if name.startswith("@"):
            return 0
        return next((n for n, names in ALLOWANCES.items() if name.lstrip("*") in names.split()), LEAF)

    # ---- waits ----

    def conditions(self, node):
        """What the calls of hl_prog_wait in a node wait for: those in its text, and in that of functions put into it."""
        found = self.in_text(node, self.c.conditions)
        functions = {f for f in found if isinstance(f, str)}
        for name in found:
            if not isinstance(name, str) and name[0] not in ("hl_prog_wait", "hl_prog_wait_rung"):
                functions |= self.c.functions_of(name)
        at = frozenset(self.nodes(functions))
        return at or self.every

    def in_text(self, node, table):
        """What a table has of the function of a node, and of those of its file and of headers that it calls."""
        path, _, name = node.rpartition(":")
        path = path or os.path.abspath(os.path.join(self.g.folder, self.g.place[node].rsplit(":", 2)[0]))
        todo, seen, found = [re.sub(r"\..*", "", name)], set(), set()
        while todo:
            name = todo.pop()
            if name not in seen:
                seen.add(name)
                found |= table.get(name, set())
                todo += [g for g in self.c.called.get(name, ()) if f"{path}:{g}" in self.c.types or g in self.inline]
        return found

    def tell_callers_apart(self):
        """Of functions that call what they are handed: one node for each caller, with what that hands over."""
        for name in APART:
            table = self.c.steps if name == START else self.c.passed[name]
            for node in [n for n in self.g.frame if name in self.g.calls[n]]:
                given = {f for f in self.in_text(node, table) if isinstance(f, str)}
                if not given:
                    continue  # handed on: whatever comes there
                own = f"{name}:{node}"
                self.g.calls[node].remove(name)
                self.g.calls[node].add(own)
                self.g.frame[own], self.g.place[own] = self.g.frame[name], self.g.place[name]
                self.g.calls[own] = self.g.calls[name] | self.nodes(given)
                self.targets[own] = set(), False

    def find_waiting(self):
        """Nodes that may call the condition of a wait that is under way above them."""
        callers = defaultdict(set)
        for node in self.g.frame:
            for callee in self.g.calls[node] | self.follow(node)[0]:
                callers[callee].add(node)
        todo = [n for n in self.g.frame if self.follow(n)[1]]
        self.every = frozenset(self.nodes(self.c.functions_of(("field", "cond"))
                                          | {f for v in self.c.conditions.values() for f in v if isinstance(f, str)}))
        self.within = set()
        while todo:
            node = todo.pop()
            if node not in self.within:
                self.within.add(node)
                todo += [c for c in callers[node] if node != WAIT]

    # ---- depths ----

    def next_of(self, node, conditions, polled):
        """[(callee, its conditions, within a pass)] of a node."""
        if self.near and self.file_of(node).startswith(NETWORK):
            return []
        found, waits = self.follow(node)
        out = []
        for callee in sorted(self.g.calls[node] | found):
            if plain(callee) in polled or plain(callee) == LOOK or (plain(node), plain(callee)) in CUTS:
                continue
            inner = self.conditions(node) if callee == WAIT else conditions
            inside = polled | ({plain(callee)} & ONCE)
            out.append((callee, inner if callee in self.within or callee == WAIT else frozenset(), inside))
        if waits:
            out += [(c, frozenset(), polled) for c in sorted(conditions)]
        return out

    def depth(self, node, conditions=frozenset(), polled=frozenset()):
        """(bytes, chain, bytes above libfabric, chain to it) of the deepest ways down from a node."""
        if node not in self.g.frame:
            return (0, (), 0, (FABRIC,)) if node == FABRIC else (self.leaf(node), (node,), -1, ())
        state = (node, conditions, polled)
        if state in self.done:
            return self.done[state]
        if state in self.way:
            self.turns.add(tuple(s[0] for s in self.way[self.way.index(state):]))
            return 0, (), -1, ()
        self.reached.add(node)
        self.way.append(state)
        most, chain, far, chain_far = 0, (), -1, ()
        for callee in self.next_of(node, conditions, polled):
            d = self.depth(*callee)
            if d[0] > most:
                most, chain = d[0], d[1]
            if d[2] > far:
                far, chain_far = d[2], d[3]
        self.way.pop()
        times = TURNS.get(self.at(node), (1,))[0]
        mine = self.g.frame[node] * times
        result = most + mine, (node,) + chain, far + mine if far >= 0 else -1, (node,) + chain_far
        self.done[state] = result
        return result


POLL, WAIT, START, LOOK = "hl_prog_poll", "hl_prog_wait_slow", "hl_flight_start", "hl_hang_look"
ONCE = {POLL, "hl_hang_look"}  # which return at once within themselves
APART = (START, "hl_conf_with_env", "hl_hang_look", "hl_inbox_visit", "hl_net_visit", "hl_win_table_with", "hl_rx_run")


def plain(node):
    return re.sub(r"\..*", "", node.split(":")[0] if node.split(":")[0] in APART else node.rpartition(":")[2])


def show(graph, chain):
    return " > ".join(f"{plain(n)} {graph.frame.get(n, '')}".strip() for n in chain)


def entries(root, graph):
    """The public functions."""
    names = set()
    for table in ("mpi", "hotlane", "shmem"):
        with open(os.path.join(root, "tests", "abi", table + ".sym"), encoding="utf-8") as f:
            names |= {line.split()[0] for line in f if line.strip() and not line.startswith("#")}
    return sorted(n for n in graph.frame if n in names or n[1:] in names)


def promised(root):
    """HL_STACK_OWN and HL_STACK_FABRIC."""
    with open(os.path.join(root, "lib", "base", "thread.h"), encoding="utf-8") as f:
        text = f.read()
    return tuple(int(re.search(rf"#define HL_STACK_{w} (\d+)", text)[1]) for w in ("OWN", "FABRIC"))


def more(chain):
    return sum(extra for name, (extra, _) in WIDER.items() if any(plain(n) == name for n in chain))


def judge(title, rows, graph, names, bar):
    """Rows: (bytes, chain). Prints the deepest and returns how many are above the bar."""
    rows = sorted(rows, key=lambda r: -r[0])
    above = [r for r in rows if r[0] > bar + more(r[1])]
    print(f"{title}: {rows[0][0]} bytes at most (bar {bar}), {len(above)} of {len(rows)} above")
    for depth, chain in above[:10] + ([r for r in rows if plain(r[1][0]) in names] if names else rows[:SHOWN]):
        print(f"  {depth}: {show(graph, chain)}")
    return len(above)


def check(root, graph, callbacks, names):
    own, fabric = promised(root)
    bad = [f"{show(graph, [n])} has no bound" for n in graph.unbound]
    above = 0
    for near in (True, False):
        stack = Stack(graph, callbacks, near)
        stack.tell_callers_apart()
        stack.find_waiting()
        rows = [stack.depth(e) for e in entries(root, graph)]
        if near:
            above += judge("on one node", [r[:2] for r in rows], graph, names, own)
        else:
            above += judge("over the network", [r[:2] for r in rows], graph, names, own + fabric)
            above += judge("when libfabric is called", [r[2:] for r in rows], graph, names, own + fabric - FABRIC_TAKES)
        bad += [f"calls itself: {show(graph, t)}" for t in stack.turns if not any(stack.at(n) in TURNS for n in t)]
        bad += [f"{place}: nobody knows whom this calls ({name})" for place, name in set(stack.lost)]
    print(*sorted(set(bad)), sep="\n", end="\n" if bad else "")
    return 1 if bad or above else 0


def main():
    sys.setrecursionlimit(20000)
    root, build = (os.path.abspath(a) for a in sys.argv[1:3])
    if shutil.which("gcc") is None:
        print("gcc is not installed: only gcc writes call graphs")
        return 77
    with tempfile.TemporaryDirectory() as work:
        graph = Graph(compile_all(build, work), work, root)
    pasted = {t: {k for k in graph.of if re.fullmatch(pattern, k)} for t, pattern in PASTED.items()}
    callbacks = Callbacks(root, FOLDERS, names_in_source(root), pasted)
    return check(root, graph, callbacks, sys.argv[3:])


if __name__ == "__main__":
    sys.exit(main())
