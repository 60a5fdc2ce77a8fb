"""Requests of memory and commands, as data: what runs in a guest and how its answers are judged."""
import dataclasses
import re
import shlex

K, M, G = 1 << 10, 1 << 20, 1 << 30


@dataclasses.dataclass
class Ask:
    """One request of the program `placement` and what must come of it; a list of answers is one for each rank.

    `page`: bytes of a page; `given`, `touched`: node -> bytes before and after every page was written ({}: none);
    `on`: the only node touched, `among`: the nodes that all lie on, each of them used; `joined`: bytes at least that the
    kernel maps by larger pages; `refused`: pattern of the error's text; `at_most`: ranks that may get it, the others are
    refused; `info`: what the window answers."""
    text: str
    page: int = None
    given: dict = None
    touched: dict = None
    on: object = None
    among: list = None
    align: int = 1
    joined: int = 0
    refused: str = None
    at_most: int = None
    info: dict = dataclasses.field(default_factory=dict)

    def wrong(self, lines):
        """`lines`: the answer of each rank."""
        served = [" refused " not in line for line in lines]
        if self.refused is not None:
            out = [] if all(re.search(r"refused NO_MEM .*" + self.refused, line) for line in lines) else \
                ["not refused as it should be"]
        elif self.at_most is not None and sum(served) > self.at_most:
            out = [f"{sum(served)} ranks got it, {self.at_most} can"]
        else:
            out = [f"rank {rank}: {w}" for rank, line in enumerate(lines) if self.at_most is None or served[rank]
                   for w in self.differs(rank, line)]
        return [f"{self.text}: {w}" for w in out]

    def differs(self, rank, line):
        def mine(value):
            return value[rank] if isinstance(value, list) else value
        fact = re.match(r"ask \d+ rank \d+ align (\d+) page (\d+) file (\d+) pmd (\d+) "
                        r"given (\S+) touched (\S+) puts (\S+)(.*)", line)
        if fact is None:
            return ["refused"]
        align, page, block, joined = map(int, fact.groups()[:4])
        given, touched = map(by_node, fact.groups()[4:6])
        answers = dict(re.findall(r" (\S+)=(\S*)", fact[8]))
        on = None if self.on is None else [mine(self.on)]
        rows = [("page", page, self.page), ("page of the file", block, page), ("given", given, mine(self.given)),
                ("touched", touched, mine(self.touched)), ("nodes", sorted(touched), self.among or on), ("puts", fact[7], "ok"),
                *((key, by_node(answers.get(key, "")) if isinstance(value, dict) else answers.get(key), value)
                  for key, value in self.info.items())]
        out = [f"{what} {got}, should be {wanted}" for what, got, wanted in rows if wanted is not None and got != wanted]
        if align < self.align:
            out.append(f"aligned to {align}, should be {self.align}")
        if joined < self.joined:
            out.append(f"{joined} bytes are mapped by larger pages, should be {self.joined}")
        return out


def by_node(text):
    """{node: bytes} of "1:48M,3:16M" or "-"."""
    unit = {"": 1, "K": K, "M": M, "G": G}
    return {int(n): int(b) * unit[u] for n, b, u in re.findall(r"(\d+):(\d+)([KMG]?)", text)}


@dataclasses.dataclass
class Step:
    """One command in a guest. Either `asks` (of placement, on `ranks` ranks) or `command`.

    `pools`: node -> huge pages of 2M there before it; `overcommit`: pages on demand beyond; `limit`: file
    of a control group and its value; `says`: patterns that the output must have; `silent`: the
    output has nothing but the answers to the asks; `code`: how it ends (None: not with 0)."""
    name: str
    asks: list = dataclasses.field(default_factory=list)
    command: str = None
    ranks: int = 1
    pools: dict = dataclasses.field(default_factory=dict)
    overcommit: int = 0
    env: dict = dataclasses.field(default_factory=dict)
    says: list = dataclasses.field(default_factory=list)
    silent: bool = False
    limit: tuple = ()
    fatal: bool = False
    code: int = 0
    same: object = None  # whether the output is what it should be
    needs: str = "tests/guest/placement"  # a program of the build folder

    def line(self):
        env = ["env"] + [f"{k}={v}" for k, v in self.env.items()] if self.env else []
        run = shlex.split(self.command) if self.command else \
            ["mpiexec", "-n", str(self.ranks), "--timeout", "150", "/hotlane/placement"] + ["fatal"] * self.fatal + \
            [a.text for a in self.asks]
        limit = ["limited", *self.limit] if self.limit else []
        return shlex.join(["step", self.name] + limit + env + run)

    def check(self, text, code):
        wrong = []
        if self.same and not self.same(text):
            wrong.append("prints something else (guest.py --page writes it anew)")
        if "@@ core of " in text:
            wrong.append("a program crashed")
        if self.code is not None and (code == 0) != (self.code == 0):
            wrong.append(f"ends with {code}")
        for pattern in self.says:
            if not re.search(pattern, text):
                wrong.append(f"does not say /{pattern}/")
        answers = {(int(m[1]), int(m[2])): m[0] for m in re.finditer(r"^ask (\d+) rank (\d+) .*$", text, re.M)}
        for i, ask in enumerate(self.asks if self.code == 0 else []):
            missing = [rank for rank in range(self.ranks) if (i, rank) not in answers]
            wrong += [f"{ask.text}: no answer of ranks {missing}"] if missing else \
                ask.wrong([answers[i, rank] for rank in range(self.ranks)])
        extra = [line for line in text.strip().split("\n") if line and not line.startswith("ask ")]
        if self.silent and extra:
            wrong.append(f"says more than it should: {extra[0]}")
        return wrong


def script(layout, steps):
    """The shell script for `steps` in a guest."""
    lines, pools, overcommit = [layout.prepare], {i: 0 for i in range(len(layout.nodes))}, 0
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
        if step.overcommit != overcommit:
            overcommit = step.overcommit
            lines.append(f"echo {overcommit} >/proc/sys/vm/nr_overcommit_hugepages")
        lines.append(step.line())
    return "\n".join(lines) + "\n"
