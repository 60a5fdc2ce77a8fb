#!/usr/bin/env python3
"""hotlane-info --check: each thing that can be wrong with a machine is told, with the command; right ones are not complained about.

usage: check.py PROGRAM MPIEXEC SOURCE_ROOT CAGE
"""
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile

from expect import close, expect

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import clean_env  # noqa: E402  pylint: disable=wrong-import-position

PROGRAM, MPIEXEC, SOURCE, CAGE = (os.path.abspath(path) for path in sys.argv[1:5])
CLEAN = clean_env.environment("PMI", "SLURM_", "OMP_", "PALS_")
CLEAN["HOTLANE_CONF"] = ""


class Report:
    """One run: exit code, lines by topic."""

    def __init__(self, *args, limits=(), before=(), network=False, **env):
        def lower():
            for which, value in limits:
                resource.setrlimit(which, (value, value))
        quick = () if network else ("--no-network",)
        done = subprocess.run([*before, PROGRAM, "--check", "--json", *quick, *args], env={**CLEAN, **env}, preexec_fn=lower,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, cwd=SOURCE)
        self.code, self.error = done.returncode, done.stderr
        self.parsed = json.loads(done.stdout)
        self.lines = {}
        for line in self.parsed["check"]:
            self.lines.setdefault(line["topic"], line)

    def level(self, topic):
        return self.lines[topic]["level"] if topic in self.lines else "not there"

    def says(self, what, topic, level, text="", fix=""):
        line = self.lines.get(topic, {"level": "not there", "text": "", "fix": ""})
        expect(f"{what}: {topic} is {level}", line["level"] == level, line)
        expect(f"{what}: {topic}: {text}", text in line["text"] and fix in line["fix"], line)
        expect(f"{what}: what is not ok has a command", line["level"] == "ok" or line["fix"] or topic in ("variables", "launcher"), line)
        broken = sum(entry["level"] == "broken" for entry in self.parsed["check"])
        expect(f"{what}: exit code", self.code == (1 if broken else 0) and self.parsed["broken"] == broken, self.code)


def machine(folder, without="", **files):
    """A folder with the kernel's files; names have : for /. Those not named are a healthy machine's. `without`: a folder of it."""
    pool = "sys:kernel:mm:hugepages:hugepages-2048kB:"
    healthy = {"proc:sys:kernel:yama:ptrace_scope": "0", "proc:sys:vm:max_map_count": "65530", "proc:self:cgroup": "0::/",
               "sys:kernel:mm:transparent_hugepage:enabled": "always [madvise] never",
               "sys:kernel:mm:transparent_hugepage:shmem_enabled": "always within_size advise [never] deny force",
               pool + "nr_hugepages": "512", pool + "free_hugepages": "500", pool + "nr_overcommit_hugepages": "0"}
    root = tempfile.mkdtemp(dir=folder)
    for name, text in {**healthy, **files}.items():
        path = os.path.join(root, *name.split(":"))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if text is not None:
            with open(path, "w", encoding="ascii") as f:
                f.write(text + "\n")
    if without:
        shutil.rmtree(os.path.join(root, *without.split(":")))
    return "--root", root


def saved(name):
    return "--machine", os.path.join(SOURCE, "tests", "data", name + ".xml")


def kernels(folder):
    good = Report(*machine(folder), *saved("knl-flat"))
    expect("a healthy machine is all right", {line["level"] for line in good.parsed["check"]} == {"ok"} and good.code == 0,
           good.parsed)
    good.says("pools", "huge pages", "ok", "2 MiB: 500 free of 512")
    good.says("kinds", "memory kinds", "ok", "DDR: node 0; fast: node 1")
    pools = {"sys:kernel:mm:hugepages:hugepages-2048kB:" + f: "0" for f in ("nr_hugepages", "free_hugepages")}
    empty = machine(folder, **pools)
    write = "echo 512 | sudo tee /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"
    Report(*empty).says("no pool", "huge pages", "could be better", "none", write)
    asked = {"MPICH_ALLOC_MEM_PG_SZ": "2M"}
    Report(*empty, **asked).says("asked", "huge pages", "could be better", "MPICH_ALLOC_MEM_PG_SZ=2M asks for them", write)
    Report(*empty, MPICH_ALLOC_MEM_POLICY="M", **asked).says("demanded", "huge pages", "broken", "none is free", write)
    gigabyte = {"sys:kernel:mm:hugepages:hugepages-1048576kB:" + f: "0" for f in ("nr_hugepages", "free_hugepages")}
    Report(*machine(folder, **gigabyte), MPICH_ALLOC_MEM_PG_SZ="1G").says(
        "one of 1 GiB, not all memory", "huge pages", "could be better", "none is free",
        "echo 1 | sudo tee /sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages")
    Report(*machine(folder), MPICH_ALLOC_MEM_POLICY="M", **asked).says("demanded and there", "huge pages", "ok")
    thp = "sys:kernel:mm:transparent_hugepage:"
    Report(*machine(folder, **{thp + "enabled": "always madvise [never]"})).says(
        "off", "joined pages", "could be better", "off", "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled")
    Report(*machine(folder, **{thp + "shmem_enabled": "always within_size advise never [deny] force"})).says(
        "denied", "joined pages", "could be better", "denied", "shmem_enabled")
    Report(*machine(folder, **{"proc:sys:kernel:yama:ptrace_scope": "1"})).says(
        "restricted ptrace", "peers' memory", "could be better", "kernel.yama.ptrace_scope is 1", "sudo sysctl kernel.yama.ptrace_scope=0")
    Report(*machine(folder, **{"proc:sys:kernel:yama:ptrace_scope": "1"}), HOTLANE_CMA="0").says("not wanted", "peers' memory", "ok")
    Report(*machine(folder, **{"proc:sys:vm:max_map_count": "1000"})).says(
        "few mappings", "mappings", "could be better", "1000", "sudo sysctl vm.max_map_count=65530")
    Report(*machine(folder, **{"proc:sys:vm:max_map_count": None})).says("no /proc", "/proc", "could be better", "cannot be read")
    Report(*machine(folder, **{"sys:fs:cgroup:memory.max": str(100 << 20), "sys:fs:cgroup:memory.current": "0"})).says(
        "a small group", "memory limit", "could be better", "leaves 100 MiB")
    Report(*machine(folder, **{"sys:fs:cgroup:memory.max": str(4 << 30), "sys:fs:cgroup:memory.current": "0"})).says(
        "a large group", "memory limit", "ok", "leaves 4096 MiB")
    full = {"sys:kernel:mm:hugepages:hugepages-2048kB:free_hugepages": "0"}
    Report(*machine(folder, **full), **asked).says("all in use", "huge pages", "could be better", "0 free of 512",
                                                   write.replace("512", "1024", 1))
    Report(*machine(folder, without="sys:kernel:mm:hugepages")).says("a kernel without", "huge pages", "ok", "offers none")
    Report(*machine(folder, without="sys")).says("no /sys", "joined pages", "ok", "/sys is not there")
    Report(*machine(folder, **{"proc:sys:vm:max_map_count": None, "proc:self:status": "x"})).says(
        "no such limit", "mappings", "ok", "not told")
    Report(*machine(folder, **{"proc:sys:kernel:yama:ptrace_scope": "3"})).says(
        "until the next boot", "peers' memory", "could be better", "ptrace_scope is 3", "sysctl.d")
    small = {"sys:fs:cgroup:memory.max": str(100 << 20), "sys:fs:cgroup:memory.current": "0"}
    Report(*machine(folder, **small), SLURM_JOB_ID="1").says("Slurm's", "memory limit", "could be better", "", "srun --mem")
    inside = machine(folder, **{".dockerenv": "", **small})
    Report(*inside).says("a container's", "memory limit", "could be better", "", "docker run --memory")
    Report(*inside, limits=[(resource.RLIMIT_NOFILE, 60)]).says(
        "a container's", "open files", "broken", "", "docker run --ulimit nofile=1024")


def cards(folder):
    """A card that is not used: the first condition that does not hold is told, and no other."""
    def tells(what, text, fix, files, not_fix="ibverbs-providers", **env):
        report = Report(*machine(folder, **files), network=True, **env)
        report.says(what, "network", "could be better", text, fix)
        expect(f"{what}: nothing else is advised", not_fix not in report.lines["network"]["fix"], report.lines["network"])
    port = "sys:class:infiniband:mlx5_0:ports:1:state"
    verbs = {port: "4: ACTIVE", "sys:class:infiniband_verbs:uverbs0:ibdev": "mlx5_0"}
    device = {**verbs, "dev:infiniband:uverbs0": ""}
    tells("no module", "no device of ib_uverbs", "sudo modprobe ib_uverbs", {"sys:class:infiniband:mlx5_0:x": "1"})
    tells("no cable", "no port is active (port 1: DOWN)", "rdma link", {port: "1: DOWN"})
    tells("the second one", "the card mlx5_1", "modprobe", {port: "1: DOWN", "sys:class:infiniband:mlx5_1:ports:1:state": "4: ACTIVE"})
    tells("no device", "/dev/infiniband/uverbs0 is not there", "--device=/dev/infiniband", verbs)
    tells("no driver", "libibverbs has no driver for it", "ibverbs-providers", {**device, "ibv_devices": "mlx4_0"}, "nothing")
    tells("a driver", "libfabric", "fi_info", {**device, "ibv_devices": "mlx5_0"})
    tells("another network", "no provider cxi", "fi_info -l", {"sys:class:cxi:cxi0:x": "1"})
    tells("named", "HOTLANE_PROVIDER=tcp;ofi_rxm says so", "unset HOTLANE_PROVIDER", device, HOTLANE_PROVIDER="tcp;ofi_rxm")
    tells("libfabric's variable", "with FI_PROVIDER=tcp;ofi_rxm", "unset FI_PROVIDER", device, FI_PROVIDER="tcp;ofi_rxm")
    conf = os.path.join(folder, "named.conf")
    with open(conf, "w", encoding="ascii") as file:
        file.write("HOTLANE_PROVIDER=tcp;ofi_rxm\n")
    tells("named in a file", "HOTLANE_PROVIDER=tcp", f"sed -i '/^HOTLANE_PROVIDER=/d' {conf}", device, "unset", HOTLANE_CONF=conf)
    none = Report(*machine(folder), network=True)
    none.says("no card", "network", "ok", "usable: ")
    with open(os.path.join(folder, "libfabric.so.1"), "w", encoding="ascii") as file:
        file.write("no library\n")
    broken = Report(network=True, LD_LIBRARY_PATH=folder)
    broken.says("a libfabric that is there", "network", "broken", "cannot be loaded", "ldconfig -p")
    expect("it is not to be installed", "apt-get" not in broken.lines["network"]["fix"], broken.lines["network"])


def kinds(folder):
    Report(*machine(folder), *saved("knl-nohmat-generic")).says(
        "unknown nodes", "memory kinds", "could be better", "", "export HOTLANE_FASTMEM_NODES=1")
    want = {"MPICH_ALLOC_MEM_AFFINITY": "HBM", "MPICH_ALLOC_MEM_PG_SZ": "2M"}
    Report(*machine(folder), *saved("ddr-cxl"), **want).says("no HBM", "memory kinds", "could be better", "fast memory is asked for")
    Report(*machine(folder), *saved("ddr-cxl"), MPICH_ALLOC_MEM_POLICY="M", **want).says(
        "no HBM and demanded", "memory kinds", "broken", "fast memory is asked for", "unset MPICH_ALLOC_MEM_AFFINITY")
    Report(*machine(folder), *saved("xeonmax-2s"), **want).says("HBM", "memory kinds", "ok", "fast: node 8-15")


def no_such_node():
    report = Report(HOTLANE_FASTMEM_NODES="63")
    report.says("no such node", "memory kinds", "broken", "HOTLANE_FASTMEM_NODES=63: there is no node 63", "unset HOTLANE_FASTMEM_NODES")


def process(folder):
    for which, value, topic, level, option in (
            (resource.RLIMIT_NOFILE, 60, "open files", "broken", "-n"), (resource.RLIMIT_NOFILE, 200, "open files", "could be better", "-n"),
            (resource.RLIMIT_AS, 400 << 20, "address space", "broken", "-v"),
            (resource.RLIMIT_AS, 2 << 30, "address space", "could be better", "-v"),
            (resource.RLIMIT_DATA, 100 << 20, "private memory", "broken", "-d"),
            (resource.RLIMIT_DATA, 1 << 30, "private memory", "could be better", "-d"),
            (resource.RLIMIT_FSIZE, 1 << 20, "file size", "broken", "-f"),
            (resource.RLIMIT_FSIZE, 1 << 30, "file size", "could be better", "-f"),
            (resource.RLIMIT_STACK, 512 << 10, "stack", "could be better", "-s")):
        Report(*machine(folder), limits=[(which, value)]).says(f"ulimit {option}", topic, level, f"(ulimit {option})", "tee -a /etc/security/limits.d/hotlane.conf")
    Report(limits=[(resource.RLIMIT_NOFILE, 4096)]).says("enough", "open files", "ok", "4096")
    for denied, topic, level in (("memfd_create", "shared memory", "broken"), ("process_vm_readv", "peers' memory", "could be better")):
        Report(before=(CAGE, "--deny", denied)).says(f"{denied} is forbidden", topic, level, "Operation not permitted", "docker run")
    plain = Report(network=True)
    plain.says("here", "shared memory", "ok", "/dev/shm is not used")
    plain.says("here", "launcher", "ok", "one rank", "mpiexec -n 4 hotlane-info --check")
    plain.says("here", "network", "ok", "usable: ")
    if "network start" in plain.lines:
        plain.says("a slow libfabric", "network start", "could be better", "libfabric 1.", "libfabric 2.x")
    Report(network=True, HOTLANE_PROVIDER="no-such").says("no provider", "network", "broken", "HOTLANE_PROVIDER=no-such",
                                                          "unset HOTLANE_PROVIDER")
    Report(network=True, FI_PROVIDER="no-such").says("libfabric is told so", "network", "broken", "FI_PROVIDER=no-such", "unset FI_PROVIDER")
    Report(network=True, HOTLANE_PROVIDER="shm").says("of one node", "network", "broken", "HOTLANE_PROVIDER=shm", "unset HOTLANE_PROVIDER")
    Report(network=True, HOTLANE_PROVIDER="sockets", limits=[(resource.RLIMIT_MEMLOCK, 1 << 20)]).says(
        "no card", "locked memory", "ok", "locks none")


def environment():
    Report(HOTLANE_LANES="lots").says("a bad value", "variables", "broken", "HOTLANE_LANES=lots: expected", "hotlane-info --env")
    Report(HOTLANE_LANES="lots").says("what was left out", "variables", "broken", "network and memory are not examined")
    Report(HOTLANE_LANE="3").says("a wrong name", "variables", "could be better", "did you mean HOTLANE_LANES?")
    Report(PMI_SIZE="4", PMI_RANK="0").says("a lost socket", "launcher", "broken", "PMI_SIZE=4")
    Report(SLURM_STEP_NUM_TASKS="4").says("Slurm without PMI", "launcher", "broken", "srun --mpi")
    Report(SLURM_JOB_ID="17").says("a batch script", "launcher", "ok", "SLURM_JOB_ID", "srun")
    cpus = len(os.sched_getaffinity(0))
    Report(OMP_NUM_THREADS=str(cpus)).says("a thread a core", "cores", "ok")
    Report(OMP_NUM_THREADS=str(cpus + 1)).says("too many threads", "cores", "could be better", f"{cpus + 1} threads",
                                               f"export OMP_NUM_THREADS={cpus}")
    many = Report(OMP_NUM_THREADS=str(cpus + 1)).lines["cores"]
    expect("a rank that has all CPUs cannot get more", "--bind-to" not in many["fix"], many)
    Report(OMP_NUM_THREADS="many").says("no number", "cores", "could be better", "OMP_NUM_THREADS=many")
    Report(OMP_NUM_THREADS="1,4").says("levels", "cores", "ok", "1 x 1 thread on")
    ranks = (MPIEXEC, "-n", str(cpus + 1))
    job = Report(before=ranks, OMP_NUM_THREADS="1")
    job.says("a job", "launcher", "ok", f"{cpus + 1} ranks, {cpus + 1} on this node")
    one = ("taskset", "-c", str(min(os.sched_getaffinity(0))))
    Report(before=(*one, *ranks), OMP_NUM_THREADS="1").says(
        "a job on one CPU", "cores", "could be better", f"{cpus + 1} ranks x 1 thread on 1 CPU:", "export OMP_NUM_THREADS=1")
    bound = Report(before=(MPIEXEC, "--bind-to", "core", "-n", str(cpus)), OMP_NUM_THREADS="1")
    bound.says("ranks with a core each", "cores", "ok", f"{cpus} x 1 thread on {cpus} CPU{'s' * (cpus > 1)}, of which a rank may use 1")
    expect("a node speaks once", len({line["topic"] for line in job.parsed["check"]}) == len(job.parsed["check"]), job.parsed)


def words():
    done = subprocess.run([PROGRAM, "--check", "--no-network"], env={**CLEAN, "HOTLANE_LANES": "lots"}, capture_output=True, text=True,
                          timeout=60)
    expect("for people", done.returncode == 1 and done.stdout.startswith("broken ") and
           done.stdout.splitlines()[-1] == "0 ok, 0 could be better, 1 broken", done.stdout)
    expect("a command is on a line of its own", any(line.startswith(" " * 20) and "hotlane-info --env" in line
                                                    for line in done.stdout.splitlines()), done.stdout)


with tempfile.TemporaryDirectory() as scratch:
    kernels(scratch)
    kinds(scratch)
    cards(scratch)
    process(scratch)
no_such_node()
environment()
words()
close()
