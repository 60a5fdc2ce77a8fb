"""Made-up machines: memory layouts as data, and the arguments that make QEMU build them.

A node is (MiB, CPUs, CPU node it belongs to, latency ns, bandwidth in GB/s): a node without CPUs belongs to one that
has some. Latency and bandwidth go into the firmware's table (HMAT); None: this firmware has no such table.
"""
import dataclasses

import rdma


@dataclasses.dataclass
class Node:
    mib: int
    cpus: str = ""
    of: int = None
    ns: int = None
    gbs: int = None


@dataclasses.dataclass
class Layout:
    what: str
    nodes: list
    distance: object = None  # (i, j) -> SLIT value; None: the firmware gives none
    cpu: str = "max"
    kernel: str = ""  # more words for the kernel's command line
    pools: dict = dataclasses.field(default_factory=dict)  # node: 2M pages reserved at the start
    cpuset: tuple = None  # (CPUs, nodes) of the control group that the tests run in
    image: str = "linux-image-cloud-amd64"  # Debian's package that depends on the kernel
    modules: tuple = ()  # modules of it that are loaded
    own: bool = False  # it reads this machine's files, at their paths; what it writes lies in its memory
    seconds: int = 280  # in which all is done
    prepare: str = ""  # shell commands before the first step


def by_table(table):
    return lambda i, j: table[min(i, j), max(i, j)]


def knl_snc4(i, j):
    """As on a Knights Landing in SNC-4 flat: 0-3 DDR with CPUs, 4-7 MCDRAM."""
    if i < 4 and j < 4:
        return 21
    return 31 if abs(i - j) == 4 else 41


def xeon_max(cpu_nodes, sockets):
    """Xeon Max in SNC-4 flat: nodes without CPUs follow those with CPUs."""
    def distance(i, j):
        a, b = i % cpu_nodes, j % cpu_nodes
        across = 0 if a * sockets // cpu_nodes == b * sockets // cpu_nodes else 9
        return (12 if a != b else 10) + across + (i >= cpu_nodes) + (j >= cpu_nodes) + (2 if a == b else 0)
    return distance


def clusters(count, ordinary, fast, cpus=1):
    return [dataclasses.replace(ordinary, cpus=f"{i * cpus}-{i * cpus + cpus - 1}", of=i) for i in range(count)] + \
           [dataclasses.replace(fast, of=i) for i in range(count)]


KNL_FLAT = [Node(960, "0-3", 0, 130, 90), Node(320, "", 0, 150, 400)]
KNL_SNC4 = clusters(4, Node(256, "", None, 130, 22), Node(160, "", None, 150, 100))


def without_hmat(nodes):
    return [dataclasses.replace(n, ns=None, gbs=None) for n in nodes]


LAYOUTS = {
    "ddr": Layout("one node: a laptop or a plain server", [Node(1024, "0-1")]),
    "knl-flat": Layout("Knights Landing, quadrant/flat: node 1 is MCDRAM", KNL_FLAT, by_table({(0, 1): 31})),
    "knl-snc4": Layout("Knights Landing, SNC-4/flat: nodes 4-7 are MCDRAM", KNL_SNC4, knl_snc4),
    "knl-nohmat": Layout("Knights Mill without HMAT, as its firmware was: only the CPU's model tells", without_hmat(KNL_FLAT),
                         by_table({(0, 1): 31}), cpu="KnightsMill"),
    "nohmat": Layout("a node without CPUs that nothing describes: the user must say what it is", without_hmat(KNL_FLAT),
                     by_table({(0, 1): 31})),
    "knl-1g": Layout("as knl-flat with more MCDRAM and a page of 1G on each node",
                     [Node(3584, "0-3", 0, 130, 90), Node(2304, "", 0, 150, 400)], by_table({(0, 1): 31}),
                     kernel="hugepagesz=1G hugepages=0:1,1:1"),
    "xeonmax-snc4": Layout("one socket of Xeon Max, SNC-4/flat: nodes 4-7 are HBM",
                           clusters(4, Node(256, "", None, 110, 65), Node(160, "", None, 130, 250), cpus=2), xeon_max(4, 1)),
    "xeonmax-2s": Layout("two sockets of Xeon Max, SNC-4/flat: nodes 8-15 are HBM",
                         clusters(8, Node(192, "", None, 110, 65), Node(128, "", None, 130, 250)), xeon_max(8, 2)),
    "ddr-cxl": Layout("DDR and a slow memory expander without CPUs: nothing is fast",
                      [Node(960, "0-1", 0, 110, 200), Node(320, "", 0, 300, 30)], by_table({(0, 1): 24})),
    "cpuset": Layout("Knights Landing, SNC-4/flat, in a container that may use CPUs 0-1 and nodes 0, 1, 4, 5",
                     KNL_SNC4, knl_snc4, cpuset=("0-1", "0-1,4-5")),
}


# The cloud kernel has no RDMA.
ROCE = Layout("soft RoCE: RDMA as network cards do it, by two CPUs", [Node(3072, "0-1")], image="linux-image-amd64", own=True,
              modules=("crc32_generic", "rdma_rxe", "rdma_ucm", "dummy", "veth", "9p", "9pnet_virtio", "virtio_pci"))
LAYOUTS |= {name: dataclasses.replace(ROCE, **more) for name, more in rdma.BOOTS.items()}


def last_cpu(layout):
    return max(int(n.cpus.split("-")[-1]) for n in layout.nodes if n.cpus)


def qemu_arguments(layout):
    """The machine: processors, memory nodes, distances, latencies and bandwidths; and the files of this one."""
    hmat = any(n.gbs for n in layout.nodes)
    share = ["-virtfs", "local,path=/,mount_tag=own,security_model=none,readonly=on,multidevs=remap"] if layout.own else []
    # String instructions that are fast on silicon are emulated byte by byte.
    args = share + ["-machine", "q35" + (",hmat=on" if hmat else ""), "-cpu", layout.cpu + ",-erms,-fsrm", "-smp",
            str(last_cpu(layout) + 1), "-m", f"{sum(n.mib for n in layout.nodes)}M"]
    if len(layout.nodes) == 1:
        return args
    for i, node in enumerate(layout.nodes):
        args += ["-object", f"memory-backend-ram,id=m{i},size={node.mib}M"]
    for i, node in enumerate(layout.nodes):
        own = f",cpus={node.cpus}" if node.cpus else ""
        args += ["-numa", f"node,nodeid={i},memdev=m{i}{own}" + (f",initiator={node.of}" if hmat and not own else "")]
    for i in range(len(layout.nodes)):
        for j in range(i + 1, len(layout.nodes)):
            args += ["-numa", f"dist,src={i},dst={j},val={layout.distance(i, j)}"]
    for i, node in enumerate(layout.nodes):
        for kind, value in (("latency,latency", node.ns), ("bandwidth,bandwidth", f"{node.gbs}G")) if hmat else ():
            args += ["-numa", f"hmat-lb,initiator={node.of},target={i},hierarchy=memory,data-type=access-{kind}={value}"]
    return args
