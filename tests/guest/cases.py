"""What runs in each guest and what must come out."""
import dataclasses
import re
import shlex

K, M, G = 1 << 10, 1 << 20, 1 << 30
EXAMPLE_POOLS = {"knl-flat": {0: 16, 1: 64}, "knl-snc4": {0: 16, 4: 32, 5: 32, 6: 32, 7: 32},
                 "xeonmax-2s": {n: 16 for n in range(8, 16)}}


@dataclasses.dataclass
class Ask:
    """One request of the program `placement` and what must come of it; a list of answers is one for each rank.

    `page`: bytes of a page; `given`, `touched`: node -> bytes before and after every page was written ({}: none;
    None: not looked at; `on`: all of the touched bytes lie on this node); `refused`: pattern of the error's text."""
    text: str
    page: int = None
    given: dict = None
    touched: dict = None
    on: object = None
    align: int = None
    refused: str = None
    info: dict = dataclasses.field(default_factory=dict)

    def wrong(self, rank, line):
        def mine(value):
            return value[rank] if isinstance(value, list) else value
        if self.refused is not None:
            return [] if re.search(r"refused NO_MEM .*" + self.refused, line) else [f"{self.text}: not refused as it should be"]
        fact = re.match(r"ask \d+ rank \d+ align (\d+) page (\d+) pmd (\d+) given (\S+) touched (\S+) puts (\S+)(.*)", line)
        if fact is None:
            return [f"{self.text}: refused"]
        align, page, _, given, touched, puts, info = fact.groups()
        given, touched = by_node(given), by_node(touched)
        answers = dict(re.findall(r" (\S+)=(\S*)", info))
        out = []
        for what, got, wanted in (("page", int(page), self.page), ("given", given, mine(self.given)),
                                  ("touched", touched, mine(self.touched)), ("puts", puts, "ok"),
                                  ("nodes", list(touched), None if self.on is None else [mine(self.on)]),
                                  *((key, answers.get(key), mine(value)) for key, value in self.info.items())):
            if wanted is not None and got != wanted:
                out.append(f"{self.text}: rank {rank}: {what} {got}, should be {wanted}")
        if self.align and int(align) < self.align:
            out.append(f"{self.text}: rank {rank}: aligned to {align}, should be {self.align}")
        return out


def by_node(text):
    """{node: bytes} of "1:48M,3:16M" or "-"."""
    unit = {"": 1, "K": K, "M": M, "G": G}
    return {int(n): int(b) * unit[u] for n, b, u in re.findall(r"(\d+):(\d+)([KMG]?)", text)}


@dataclasses.dataclass
class Step:
    """One command in a guest. Either `asks` (of placement, on `ranks` ranks) or `command`.

    `pools`: node -> huge pages of 2M there before it; `says`: patterns that the output must have; `silent`: the
    output has nothing but the answers to the asks; `code`: how it ends (None: not with 0)."""
    name: str
    asks: list = dataclasses.field(default_factory=list)
    command: str = None
    ranks: int = 1
    pools: dict = dataclasses.field(default_factory=dict)
    env: dict = dataclasses.field(default_factory=dict)
    says: list = dataclasses.field(default_factory=list)
    silent: bool = False
    fatal: bool = False
    code: int = 0

    def line(self):
        env = ["env"] + [f"{k}={v}" for k, v in self.env.items()] if self.env else []
        run = shlex.split(self.command) if self.command else \
            ["mpiexec", "-n", str(self.ranks), "--timeout", "60", "/hotlane/placement"] + ["fatal"] * self.fatal + \
            [a.text for a in self.asks]
        run[0] = "/hotlane/" + run[0]
        return shlex.join(["step", self.name] + env + run)

    def check(self, text, code):
        wrong = []
        if (code == 0) != (self.code == 0):
            wrong.append(f"ends with {code}")
        for pattern in self.says:
            if not re.search(pattern, text):
                wrong.append(f"does not say /{pattern}/")
        answers = {(int(m[1]), int(m[2])): m[0] for m in re.finditer(r"^ask (\d+) rank (\d+) .*$", text, re.M)}
        for i, ask in enumerate(self.asks if self.code == 0 else []):
            for rank in range(self.ranks):
                wrong += ask.wrong(rank, answers[i, rank]) if (i, rank) in answers else [f"{ask.text}: no answer of rank {rank}"]
        extra = [line for line in text.strip().split("\n") if line and not line.startswith("ask ")]
        if self.silent and extra:
            wrong.append(f"says more than it should: {extra[0]}")
        return wrong


def script(layout, steps):
    """The shell script for `steps` in a guest."""
    lines, pools = [], {i: 0 for i in range(len(layout.nodes))}
    if layout.cpuset:
        group = "/sys/fs/cgroup/tests"
        lines += ["echo +cpuset >/sys/fs/cgroup/cgroup.subtree_control", f"mkdir {group}",
                  f"echo {layout.cpuset[0]} >{group}/cpuset.cpus", f"echo {layout.cpuset[1]} >{group}/cpuset.mems",
                  f"echo $$ >{group}/cgroup.procs"]
    for step in steps:
        for node in pools:
            wanted = step.pools.get(node, 0)
            if wanted != pools[node]:
                lines.append(f"pages {node} {wanted}")
                pools[node] = wanted
        lines.append(step.line())
    return "\n".join(lines) + "\n"


def kinds(**nodes):
    """hotlane-info names the kind of every node."""
    return Step("kinds", command="hotlane-info --no-network",
                says=[rf"node {n[1:]}: {kind}," for n, kind in nodes.items()])


def plain(ranks=2):
    """Nothing asked: base pages, taken when touched; windows carry puts."""
    return Step("nothing asked", ranks=ranks, silent=True,
                asks=[Ask("alloc,4M", page=4 * K, given={}), Ask("win,16M", page=4 * K, given={}), Ask("shared,4M", page=4 * K)])


def fast(*nodes, count):
    return {f"n{i}": "fast" if i in nodes else "DDR" for i in range(count)}


STEPS = {
    "ddr": [kinds(n0="DDR"), plain()],
    "knl-flat": [kinds(**fast(1, count=2)), plain()],
    "knl-snc4": [kinds(**fast(4, 5, 6, 7, count=8)), plain()],
    "knl-nohmat": [kinds(**fast(1, count=2)), plain()],
    "nohmat": [kinds(n0="DDR", n1="other"), plain()],
    "knl-1g": [kinds(**fast(1, count=2)), plain()],
    "xeonmax-snc4": [kinds(**fast(4, 5, 6, 7, count=8)), plain()],
    "xeonmax-2s": [kinds(**fast(*range(8, 16), count=16)), plain()],
    "ddr-cxl": [kinds(n0="DDR", n1="other"), plain()],
    "cpuset": [Step("kinds", command="hotlane-info --no-network",
                    says=[r"node 0: DDR", r"node 4: fast", r"node 5: fast", r"CPUs +2 of"]), plain()],
}


def of_layout(name):
    return STEPS[name]
