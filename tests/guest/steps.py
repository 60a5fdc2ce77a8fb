"""What runs on each layout, and what must come out: the table of these tests."""
import os
import sys

from cases import G, K, M, Ask, Step

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "info"))
import page
import rdma

SIZES = {"4K": 4 * K, "2M": 2 * M}
KEYS = "hotlane_mem_kind={},hotlane_mem_policy={},hotlane_page_size={}"


def keys(kind, policy, page):
    return KEYS.format(kind, policy, page)


def kinds(fast=(), other=(), nodes=1):
    """hotlane-info names the kind of every node, and obtains memory."""
    def kind(i):
        return "fast" if i in fast else "other" if i in other else "DDR"
    return Step("kinds", command="sh -c 'hotlane-info --no-network && hotlane-info --memory'",
                says=[*(rf"node {i}: {kind(i)}," for i in range(nodes)), r"DDR node 0  fast node \d" if fast else "DDR node 0",
                      r"Obtained\n  1 MiB: pages of 4 KiB, nodes \d:1M"])


def plain():
    """Nothing asked: base pages, taken when touched; windows carry puts."""
    return Step("nothing asked", ranks=2, silent=True,
                asks=[Ask("alloc,4M", page=4 * K, given={}), Ask("win,16M", page=4 * K, given={}),
                      Ask("shared,4M", page=4 * K)])


def environment(fast, policy="M"):
    """The variables govern the three calls; what was met in full is not reported; windows tell what they got."""
    got = {fast: 4 * M}
    told = {"hotlane_mem_kind": "MCDRAM", "hotlane_mem_policy": policy, "hotlane_page_size": "2M", "hotlane_nodes": got}
    return Step(f"environment {policy}", ranks=2, pools={fast: 8}, silent=True,
                env={"MPICH_ALLOC_MEM_AFFINITY": "MCDRAM", "MPICH_ALLOC_MEM_PG_SZ": "2M", "MPICH_ALLOC_MEM_POLICY": policy},
                asks=[Ask("alloc,4M", page=2 * M, given=got), Ask("win,4M,cpu=0", page=2 * M, given=got, info=told),
                      Ask("shared,4M", page=2 * M, on=fast)])


def matrix(ddr, fast):
    """Every kind, policy and size of page, asked by info keys on CPU 0; `ddr`, `fast`: the nodes of the kind, nearest
    first."""
    asks, bytes = [], max(8, 2 * len(fast))
    for kind, nodes in (("DDR", ddr), ("MCDRAM", fast)):
        for policy in "PMI":
            for page, size in SIZES.items():
                spread = nodes if policy == "I" else nodes[:1]
                got = {n: bytes * M // len(spread) for n in sorted(spread)}
                asks.append(Ask(f"alloc,{bytes}M,cpu=0,{keys(kind, policy, page)}", page=size, touched=got))
    asks.append(Ask("alloc,8M,cpu=0,mpich_buf_type=hbm,hotlane_page_size=2M", page=2 * M, touched={fast[0]: 8 * M}))
    return Step("matrix", pools={n: 8 for n in [*ddr, *fast]}, asks=asks, silent=True)


def short(ddr, fast):
    """Too few pages on the fast node: M is refused, with nothing taken and the command that reserves more; P and I go on
    elsewhere with pages of the same size, and say so."""
    got = {ddr: 8 * M, fast: 8 * M}
    return Step("too few pages", pools={fast: 4, ddr: 16}, asks=[
        Ask(f"alloc,16M,cpu=0,{keys('MCDRAM', 'M', '2M')}", refused=refusal(8, fast, 4)),
        Ask(f"alloc,8M,cpu=0,{keys('MCDRAM', 'M', '2M')}", page=2 * M, given={fast: 8 * M}),
        Ask(f"win,16M,cpu=0,{keys('MCDRAM', 'P', '2M')}", page=2 * M, given=got,
            info={"hotlane_mem_kind": "DDR,MCDRAM", "hotlane_page_size": "2M", "hotlane_nodes": got}),
    ], says=[r"hotlane: rank 0 \(guest\): MPI_Win_allocate 16M: asked MCDRAM 2M P; got 2M pages,"
             rf"(?= .*node{fast} 8M)(?= .*node{ddr} 8M).*\(node{fast} pool empty\)"])


def refusal(wanted, node, free):
    return (rf"policy M, fast memory nearest to CPU \d+: {wanted} x 2M pages on node {node}: {free} free of {free}, "
            rf"overcommit 0. Reserve: echo {wanted} > /sys/devices/system/node/node{node}/hugepages/hugepages-2048kB/"
            r"nr_hugepages, or policy P")


def empty(fast):
    """No huge pages at all: P takes base pages on the node and has the kernel join them, M is refused."""
    return Step("no huge pages", asks=[
        Ask(f"alloc,8M,cpu=0,{keys('MCDRAM', 'P', '2M')}", page=4 * K, on=fast, joined=8 * M),
        Ask(f"alloc,8M,cpu=0,{keys('MCDRAM', 'M', '2M')}", refused=refusal(4, fast, 0)),
    ], says=[rf"MPI_Alloc_mem 8M: asked MCDRAM 2M P; got 4K pages .100 % joined to huge ones., node{fast} 8M"])


def full(fast, ddr, mib):
    """Base pages beyond the memory of a node, whose rest the pool holds: refused under M, spilled under P; no process is
    killed."""
    return Step("full node", pools={fast: (mib - 64) // 2}, asks=[
        Ask(f"alloc,96M,cpu=0,{keys('MCDRAM', 'M', '4K')}", refused=r".*"),
        Ask(f"alloc,96M,cpu=0,{keys('MCDRAM', 'P', '4K')}", page=4 * K, among=sorted([fast, ddr])),
    ])


def shared_out(fast):
    """Interleaving when the pools do not share alike: pages of the same size from the others; and when they have too few,
    base pages, whose stretches the kernel joins on the node that has the turn."""
    return Step("uneven pools", pools={fast[0]: 1, **{n: 4 for n in fast[1:]}}, asks=[
        Ask(f"alloc,16M,cpu=0,{keys('MCDRAM', 'I', '2M')}", page=2 * M, among=fast),
        Ask(f"alloc,64M,cpu=0,{keys('MCDRAM', 'I', '2M')}", page=4 * K, joined=64 * M, touched={n: 16 * M for n in fast}),
        Ask(f"alloc,32M,cpu=0,{keys('MCDRAM', 'I', '4K')}", page=4 * K, touched={n: 8 * M for n in fast})],
        says=["MPI_Alloc_mem 64M: asked MCDRAM 2M I; got 4K pages .100 % joined to huge ones."])


def small(fast):
    """Small requests share pages, and leave the rest of the pool to others: 7 of 8 pages are still there."""
    return Step("small requests", pools={fast: 8}, silent=True, asks=[
        *(Ask(f"{call},{size},cpu=0{keep},{keys('MCDRAM', 'M', '2M')}", page=2 * M, given={fast: 2 * M})
          for call, size, keep in (("alloc", "64K", ",keep"), ("alloc", "1000", ",keep"), ("win", "64K", ""))),
        Ask(f"alloc,14M,cpu=0,{keys('MCDRAM', 'M', '2M')}", page=2 * M, given={fast: 14 * M})])


def order(ddr, fast):
    """What P gives up: the node before the page size, and one page size after the other."""
    return Step("order of giving up", pools={ddr: 8}, asks=[
        Ask(f"alloc,8M,cpu=0,{keys('MCDRAM', 'P', '1G')}", page=2 * M, given={ddr: 8 * M}, align=G),
        Ask(f"alloc,8M,cpu=0,{keys('MCDRAM', 'P', '2M')}", page=2 * M, given={ddr: 8 * M}),
        Ask(f"alloc,32M,cpu=0,{keys('MCDRAM', 'P', '2M')}", page=4 * K, joined=32 * M, on=fast),
        Ask(f"alloc,32M,{keys('SYS_DEFAULT', 'M', '2M')}", refused="16 x 2M pages on any node: 8 free of 8"),
        Ask(f"alloc,8M,cpu=0,{keys('MCDRAM', 'M', '1G')}", refused=f"1 x 1G pages on node {fast}: 0 free of 0")],
        says=[rf"asked MCDRAM 1G P; got 2M pages, node{ddr} 8M"])


def sizes(fast):
    """Every size that may be asked: natural pages, addresses aligned to what was asked, lengths rounded to a page."""
    return Step("sizes", pools={fast: 4}, says=[rf"MPI_Alloc_mem 3M: asked MCDRAM 4M M; got 2M pages, node{fast} 4M"], asks=[
        Ask(f"alloc,3M,cpu=0,{keys('MCDRAM', 'M', size)}", page=2 * M, given={fast: 4 * M}, align=int(size[:-1]) * M)
        for size in ("2M", "4M", "8M", "16M", "32M", "64M", "128M", "256M", "512M")])


def together(fast):
    """A window that not all ranks can have is refused to all; the same by the environment ends the job, once."""
    env = {"MPICH_ALLOC_MEM_AFFINITY": "MCDRAM", "MPICH_ALLOC_MEM_PG_SZ": "2M", "MPICH_ALLOC_MEM_POLICY": "M"}
    return [Step("refused to all", ranks=2, pools={fast: 6}, asks=[
                Ask(f"win,8M,cpu=0,{keys('MCDRAM', 'M', '2M')}", refused="MPI_Win_allocate"),
                Ask(f"win,4M,cpu=0,{keys('MCDRAM', 'M', '2M')}", page=2 * M, given={fast: 4 * M})]),
            Step("refusal ends the job", ranks=2, pools={fast: 6}, env=env, fatal=True, code=1, asks=[Ask("win,8M")],
                 says=[r"MPI_Win_allocate.*policy M.*4 x 2M pages on node \d+"])]


def race(fast):
    """Six ranks after pages that two can have: whoever gets memory gets what was asked, the others are refused."""
    return Step("race", ranks=6, pools={fast: 16},
                asks=[Ask(f"alloc,12M,cpu=0,keep,{keys('MCDRAM', 'M', '2M')}", page=2 * M, given={fast: 12 * M}, at_most=2)])


def overcommit(fast):
    """No pool, but pages on demand: they come from the node asked for."""
    return Step("pages on demand", overcommit=8, silent=True,
                asks=[Ask(f"alloc,8M,cpu=0,{keys('MCDRAM', p, '2M')}", page=2 * M, given={fast: 8 * M}) for p in "MP"])


def limited(fast):
    """A control group that allows fewer pages than the pool has: the kernel tells only at the page that is too much."""
    return [Step(f"limited by {file}", pools={fast: 8}, limit=(file, str(4 * M)), asks=[
        Ask(f"alloc,8M,cpu=0,{keys('MCDRAM', 'M', '2M')}", refused=".*policy M"),
        Ask(f"alloc,8M,cpu=0,{keys('MCDRAM', 'P', '2M')}", on=fast),
        Ask(f"alloc,4M,cpu=0,{keys('MCDRAM', 'M', '2M')}", page=2 * M, given={fast: 4 * M}),
    ]) for file in ("hugetlb.2MB.max", "hugetlb.2MB.rsvd.max")]


def forbidden(ordinary, fast):
    """A container without the fast nodes: their memory is not there, and the line says which may be used."""
    return Step("fast nodes forbidden", limit=("cpuset.mems", ordinary), pools={0: 4}, asks=[
        Ask(f"alloc,4M,cpu=0,{keys('MCDRAM', 'M', '2M')}",
            refused=rf".*fast memory is on node {fast}, and this process may use node {ordinary} only"),
        Ask(f"alloc,4M,cpu=0,{keys('MCDRAM', 'P', '2M')}", page=2 * M, on=0),
        Ask(f"alloc,4M,cpu=0,{keys('DDR', 'M', '2M')}", page=2 * M, on=0)])


def system(node):
    """SYS_DEFAULT leaves the process's own policy in charge, as numactl sets it."""
    return Step("own policy", pools={node: 4},
                asks=[Ask("alloc,4M,bind=0,hotlane_mem_kind=MCDRAM,hotlane_mem_policy=M", refused=".*may use"),
                      Ask(f"alloc,4M,bind={node}", page=4 * K, touched={node: 4 * M}),
                      Ask(f"alloc,4M,bind={node},hotlane_page_size=2M", page=2 * M, touched={node: 4 * M})])


def near(ddr, fast, cpus):
    """Each CPU's own node of the kind, whatever the other."""
    asks = []
    for kind, nodes in (("DDR", ddr), ("MCDRAM", fast)):
        for node, cpu in zip(nodes, cpus):
            asks += [Ask(f"alloc,4M,cpu={cpu},{keys(kind, p, page)}", page=SIZES[page], touched={node: 4 * M})
                     for p, page in (("M", "2M"), ("P", "4K"))]
    last = len(cpus) - 1
    asks.append(Ask(f"win,4M,cpu={cpus[last]},{keys('MCDRAM', 'M', '2M')}", page=2 * M, given={fast[last]: 4 * M}))
    return Step("nearest", pools={n: 4 for n in [*ddr, *fast]}, asks=asks, silent=True)


def near_ranks(fast, cpus):
    return Step("nearest of ranks", ranks=2, pools={n: 4 for n in fast}, silent=True,
                asks=[Ask(f"win,4M,cpu={cpus[0]}+{cpus[1]},{keys('MCDRAM', 'M', '2M')}", page=2 * M,
                          given=[{fast[0]: 4 * M}, {fast[1]: 4 * M}])])


def none_fast(ddr, says):
    """A machine without fast memory: M is refused, P and I take ordinary memory and say so; ordinary memory is as ever."""
    return Step("no fast memory", pools={ddr: 8}, asks=[
        Ask(f"alloc,4M,{keys('MCDRAM', 'M', '2M')}", refused="policy M on fast memory: .*" + says),
        Ask(f"alloc,4M,{keys('MCDRAM', 'P', '2M')}", page=2 * M, on=ddr),
        Ask(f"alloc,4M,{keys('MCDRAM', 'I', '2M')}", page=2 * M, on=ddr),
        Ask(f"alloc,4M,{keys('DDR', 'I', '2M')}", page=2 * M, on=ddr),
        Ask(f"alloc,4M,{keys('DDR', 'M', '4K')}", page=4 * K, on=ddr),
        Ask(f"alloc,32M,{keys('DDR', 'M', '2M')}", refused=f"16 x 2M pages on node {ddr}: 8 free of 8"),
        Ask(f"alloc,32M,{keys('DDR', 'P', '2M')}", page=4 * K, on=ddr, joined=32 * M),
    ], says=["MPI_Alloc_mem 4M: asked MCDRAM 2M P; got 2M pages, node0 4M.*no fast memory found"])


def named_fast(value, node):
    """The user says what is fast."""
    return Step("fast by name", pools={node: 4}, env={"HOTLANE_FASTMEM_NODES": value}, silent=True,
                asks=[Ask(f"alloc,4M,cpu=0,{keys('MCDRAM', p, '2M')}", page=2 * M, on=node) for p in "MPI"])


def old_names(fast):
    env = {"MPICH_ALLOC_MEM_AFFINITY": "HBM", "MPICH_ALLOC_MEM_HUGE_PAGES": "1", "MPICH_ALLOC_MEM_POLICY": "mandatory"}
    return Step("old names", pools={fast: 4}, env=env,
                says=["MPICH_ALLOC_MEM_HUGE_PAGES is an old name: write MPICH_ALLOC_MEM_PG_SZ=2M"],
                asks=[Ask("alloc,4M", page=2 * M, given={fast: 4 * M})])


def giant():
    """Pages of 1G; under P the page size is kept and the node given up first; what is left of a page serves small requests."""
    return Step("1G", asks=[
        Ask(f"alloc,64M,cpu=0,keep,{keys('MCDRAM', 'M', '1G')}", page=G, given={1: G}, align=G),
        Ask(f"alloc,64M,cpu=0,{keys('MCDRAM', 'P', '1G')}", page=G, given={0: G}),
        Ask(f"alloc,64M,cpu=0,{keys('DDR', 'M', '1G')}", page=G, given={0: G}),
        Ask(f"alloc,64M,cpu=0,{keys('MCDRAM', 'M', '1G')}", page=G, given={1: G}),
        Ask(f"alloc,600M,cpu=0,{keys('MCDRAM', 'M', '1G')}", refused=r"policy M.*1 x 1G pages on node 1: 0 free of 1"),
    ])


def stencil(fast):
    """The application with its window in fast memory: the answer of the serial run, and the table says where it was."""
    grid = "--zones 32,32 --patch 8 --steps 3"
    return Step("stencil", needs="perf/stencil", pools={fast: 4},
                env={"MPICH_ALLOC_MEM_AFFINITY": "MCDRAM", "MPICH_ALLOC_MEM_PG_SZ": "2M", "MPICH_ALLOC_MEM_POLICY": "M"},
                command=f"sh -c 'stencil {grid} --serial && mpiexec -n 2 --timeout 150 /hotlane/stencil {grid} --threads 4'",
                says=[r"(?s)hash (\w{16})\n.*hash \1\n", rf"windows of ranks 0 to 1: pages of 2M, on nodes {fast}:\w+\n"])


def heaps(name, env, ids, says, pes=2, cpus="0", **more):
    """Partitions of the symmetric heap: `env` by number, `ids` what is taken of them, ID:MIB."""
    return Step(name, needs="tests/guest/partitions", says=says, env={f"SHMEM_SYMMETRIC_PARTITION{i}": v for i, v in env.items()},
                command=f"mpiexec -n {pes} --timeout 150 /hotlane/partitions {cpus} {ids}", **more)


def lies(pes, part, page, nodes):
    """What the kernel says of a partition on each PE, `nodes` by PE or for all."""
    nodes = nodes if isinstance(nodes, list) else [nodes] * pes
    words = [",".join(f"{n}:{mib}M" for n, mib in sorted(on.items())) or "-" for on in nodes]
    return [rf"PE {pe} partition {part}: page {page} nodes {words[pe]}\n" for pe in range(pes)] + \
           [rf"PE {pe} partition {part}: puts ok\n" for pe in range(pes)]


def partitions(ddr, fast, cpus="0", homes=(0, 0)):
    """Kinds, policies and page sizes beside each other, on two PEs that run on nodes `homes`; all or none when a PE has too
    little; what P gives up on one PE is given up on all."""
    bytes, near, own = max(8, 2 * len(fast)), [fast[h] for h in homes], [ddr[h] for h in homes]
    pools = {**{n: 4 for n in ddr}, **{n: 4 + bytes // len(fast) for n in fast}}
    wish = "size=4M:kind={}:policy={}:pgsize={}".format
    spread = {n: bytes // len(fast) for n in fast}
    steps = [
        heaps("partitions", {1: "size=4m", 2: wish("F", "M", "2M"), 3: wish("Normalmem", "Mandatory", "2m"), 127: wish("F", "P", "4K"),
                             9: f"kind=fastmem:policy=Interleaved:pgsize=2M:size={bytes}M"},
              f"1:4 2:4 3:4 127:4 9:{bytes}", cpus=cpus, pools=pools,
              says=lies(2, 1, 4, {}) + lies(2, 2, 2048, [{n: 4} for n in near]) + lies(2, 3, 2048, [{n: 4} for n in own]) +
              lies(2, 127, 4, [{n: 4} for n in near]) + lies(2, 9, 2048, spread)),
        heaps("partition that one PE lacks", {1: "size=4M", 5: wish("F", "M", "2M")}, "1:4", cpus="0", pools={fast[0]: 3}, code=1,
              says=[r"PE [01] .*shmem_init: partition 5: 4M, policy M, fast memory nearest to CPU 0: 2 x 2M pages on node "
                    rf"{fast[0]}: [12] free of 3"]),
        heaps("pages that one PE lacks", {1: "size=4M", 5: wish("F", "P", "2M")}, "1:4 5:4", cpus="0", pools={fast[0]: 3},
              says=["partition 5: pages of 4K on all PEs, as PE [01] could not get it in pages of 2M"] +
              lies(2, 1, 4, {}) + lies(2, 5, 4, {fast[0]: 4})),
    ]
    return steps


KNL4 = dict(ddr=[0, 1, 2, 3], fast=[4, 5, 6, 7])
STEPS = {
    "ddr": [kinds(), plain(), none_fast(0, "no fast memory found"), named_fast("all", 0)],
    "knl-flat": [kinds(fast=[1], nodes=2), plain(), environment(1), matrix([0], [1]), short(0, 1), empty(1), order(0, 1),
                 full(1, 0, 314), small(1),
                 sizes(1), *together(1), race(1), overcommit(1), system(1), named_fast("0", 0), old_names(1), *limited(1),
                 stencil(1), *partitions([0], [1])],
    "knl-snc4": [kinds(fast=KNL4["fast"], nodes=8), plain(), matrix(**KNL4), near(**KNL4, cpus=[0, 1, 2, 3]), short(0, 4),
                 shared_out([4, 5, 6, 7]), near_ranks([5, 7], [1, 3]), forbidden("0-1", "4-7"),
                 *partitions(**KNL4, cpus="1+3", homes=(1, 3))],
    "knl-nohmat": [kinds(fast=[1], nodes=2), plain(), environment(1), matrix([0], [1]), short(0, 1)],
    "nohmat": [kinds(other=[1], nodes=2), plain(), none_fast(0, "HOTLANE_FASTMEM_NODES=1"), named_fast("1", 1)],
    "knl-1g": [kinds(fast=[1], nodes=2), plain(), giant()],
    "xeonmax-snc4": [kinds(fast=KNL4["fast"], nodes=8), plain(), matrix(**KNL4), near(**KNL4, cpus=[0, 2, 5, 7]), short(0, 4),
                     *partitions(**KNL4, cpus="2+7", homes=(1, 3))],
    "xeonmax-2s": [kinds(fast=range(8, 16), nodes=16), plain(), matrix([*range(8)], [*range(8, 16)]),
                   near([*range(8)], [*range(8, 16)], [*range(8)]), near_ranks([9, 14], [1, 6]), short(0, 8)],
    "ddr-cxl": [kinds(other=[1], nodes=2), plain(), none_fast(0, "no fast memory found")],
    "cpuset": [Step("kinds", command="sh -c 'hotlane-info --no-network && hotlane-info --memory'", says=["node 4: fast", "node 5: fast", "CPUs +2 of", "may use node 0-1,4-5"]),
               plain(), matrix([0, 1], [4, 5]), near([0, 1], [4, 5], [0, 1]), short(0, 4)],
}

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "MEMORY.md")
EXAMPLES = page.blocks(PAGE)


def of(layout, build):
    """The steps of a layout that this build has the programs for."""
    found = rdma.steps(layout, build) if layout in rdma.BOOTS else STEPS[layout] + examples(layout)
    return [s for s in found if os.path.exists(os.path.join(build, s.needs))]


def example_name(i):
    return f"example {i + 1} of MEMORY.md"


def examples(layout):
    """The documentation's examples on a layout, as steps."""
    return [Step(example_name(i), command=b.command, env=b.env, pools=b.pools, code=None, same=b.same)
            for i, b in enumerate(EXAMPLES) if b.guest == layout]
