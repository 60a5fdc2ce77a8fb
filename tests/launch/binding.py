#!/usr/bin/env python3
"""CPUs: binding, order of ranks, what a confined launcher may use. usage: binding.py all|CASE[,CASE] MPIEXEC PROGRAM [PRELOAD]"""
import contextlib
import os
import sys
import tempfile

from harness import PRELOAD, PYTHON, RANK, Skip, holds, on_terminal, refused, rest_of, run, run_cases, same, until, write


def cpus_of(rank_text="import os; print(os.environ['PMI_RANK'], sorted(os.sched_getaffinity(0)))"):
    return [PYTHON, "-c", rank_text]


def two_cpus():
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        raise Skip("needs two CPUs")
    return cpus[:2]


def ranks_are_bound_to_cores_nodes_and_sockets():
    a, b = two_cpus()
    both = {"preexec_fn": lambda: os.sched_setaffinity(0, {a, b})}  # where there are more, ranks are spread over all
    with tempfile.TemporaryDirectory() as d:
        for node, cpu in ((0, a), (3, b)):
            os.makedirs(f"{d}/devices/system/node/node{node}")
            with open(f"{d}/devices/system/node/node{node}/cpulist", "w", encoding="ascii") as f:
                f.write(f"{cpu},100000\n")
        job = run("--sysfs", d, "--bind-to", "numa", "--report-bindings", "-n", 4, *cpus_of(), **both)
        same(sorted(job.out.splitlines()), [f"0 [{a}]", f"1 [{a}]", f"2 [{b}]", f"3 [{b}]"])
        same(job.err.splitlines(), [f"mpiexec: rank {r}: bound to NUMA node {3 * (r // 2)}, CPU {(a, b)[r // 2]}, shared with 1 other"
                                    for r in range(4)])
        job = run("--sysfs", d, "--bind-to", "core", "-n", 2, *cpus_of(), **both)  # no topology: each CPU is a core
        same(sorted(job.out.splitlines()), [f"0 [{a}]", f"1 [{b}]"])
        os.makedirs(f"{d}/devices/system/cpu/cpu{a}/topology")
        with open(f"{d}/devices/system/cpu/cpu{a}/topology/thread_siblings_list", "w", encoding="ascii") as f:
            f.write(f"{a}-{b}\n")
        job = run("--sysfs", d, "--bind-to", "core", "-n", 1, *cpus_of(), **both)
        holds(job.out, f"{a}, {b}")
        for cpu, text in ((a, a), (b, f"{b},100000")):
            os.makedirs(f"{d}/devices/system/cpu/cpu{cpu}/topology", exist_ok=True)
            with open(f"{d}/devices/system/cpu/cpu{cpu}/topology/package_cpus_list", "w", encoding="ascii") as f:
                f.write(f"{text}\n")
        job = run("--sysfs", d, "--bind-to", "socket", "--report-bindings", "-n", 2, *cpus_of(), **both)
        same(sorted(job.out.splitlines()), [f"0 [{a}]", f"1 [{b}]"])
        same(job.err.splitlines(), [f"mpiexec: rank {r}: bound to socket {r}, CPU {(a, b)[r]}" for r in range(2)])
    job = run("--bind-to", "none", "--report-bindings", *cpus_of(), **both)
    holds(job.err, "rank 0: not bound, CPUs")
    same(len(job.err.splitlines()), 1)


def eight_cpus(folder):
    """Four cores of two threads, three of them on socket 0; NUMA nodes of two cores."""
    for cpu in range(8):
        core = cpu % 4
        at = f"{folder}/devices/system/cpu/cpu{cpu}/topology"
        write(f"{at}/core_cpus_list", f"{core},{core + 4}\n")
        write(f"{at}/package_cpus_list", "3,7\n" if core == 3 else "0-2,4-6\n")
    for node in (0, 1):
        write(f"{folder}/devices/system/node/node{node}/cpulist", f"{2 * node}-{2 * node + 1},{2 * node + 4}-{2 * node + 5}\n")


def the_order_of_ranks_is_chosen():
    """By --map-by, or by the variable that Cray's users set; without a binding neither has a meaning."""
    if not PRELOAD:
        raise Skip("a sanitizer must be loaded first")
    core = lambda r: f"{r},{r + 4}"  # noqa: E731
    nodes, cores = ["0-1,4-5", "2-3,6-7"], [core(r) for r in range(4)]
    sockets = ["0-2,4-6", "3,7"]
    with tempfile.TemporaryDirectory() as d:
        eight_cpus(d)
        for words, method, got in (("--bind-to numa", None, [0, 0, 1, 1]), ("--bind-to numa --map-by numa", None, [0, 1, 0, 1]),
                                   ("--bind-to numa", "0", [0, 1, 0, 1]), ("--bind-to numa", "1", [0, 0, 1, 1]),
                                   ("--bind-to numa", "2", [0, 1, 1, 0]), ("--bind-to numa --map-by slot", "0", [0, 0, 1, 1]),
                                   ("--bind-to socket --map-by socket", None, [0, 1, 0, 1]), ("--bind-to package --map-by core", None, [0, 0, 1, 1]),
                                   ("--bind-to core", None, [0, 1, 2, 3]), ("--bind-to core --map-by numa", None, [0, 2, 1, 3]),
                                   ("--bind-to core", "2", [0, 2, 3, 1]), ("--bind-to core --map-by socket", None, [0, 3, 1, 2])):
            place = cores if "core " in words + " " and "package" not in words else sockets if "socket" in words or "package" in words else nodes
            env = {"LD_PRELOAD": PRELOAD, **({"MPICH_RANK_REORDER_METHOD": method} if method else {})}
            job = run("--sysfs", d, *words.split(), "--report-bindings", "-n", 4, "true", env=env)
            at = [line.split("CPUs ")[1].split(", shared")[0] for line in job.err.splitlines()]
            same((words, method, job.code, at), (words, method, 0, [place[i] for i in got]))
        env = {"LD_PRELOAD": PRELOAD}
        job = run("--sysfs", d, "--bind-to", "hwthread", "--report-bindings", "-n", 3, "true", env=env)
        same(job.err.splitlines(), [f"mpiexec: rank {r}: bound to one hwthread, CPU {r}" for r in range(3)])
        job = run("--sysfs", d, "--bind-to", "core", "--map-by", "numa", "--report-bindings", "-n", 6, "true", env=env)
        same([line.split("CPUs ")[1].split(", shared")[0] for line in job.err.splitlines()], [cores[i] for i in (0, 2, 1, 3, 0, 2)])
        refused("--bind-to", "core", "true", env={"MPICH_RANK_REORDER_METHOD": "3"}, words=["MPICH_RANK_REORDER_METHOD=3", "must be 0, 1 or 2", "--bind-to 0-3"])
        same(run("true", env={"MPICH_RANK_REORDER_METHOD": "3"}).err, "")
        holds(run("--map-by", "numa", "true").err, "without effect here: --map-by without --bind-to (")
    for wrong in ("core:2", "socket:x"):
        refused("--bind-to", wrong, "true", words=[f"--bind-to {wrong}", "a set of CPUs for each, as in 0-3:4-7"])
    refused("--map-by", "slot:PE=4", "true", words=["no PE=4 here", "--bind-to 0-3:4-7"])
    refused("--map-by", "l3cache", "true", words=["must be slot, core"])


def ranks_are_bound_to_the_sets_of_a_list():
    a, b = two_cpus()
    job = run("--bind-to", f"{b}:{a},{b}:{a}", "--report-bindings", "-n", 2, *cpus_of(), ":", *cpus_of())
    same(sorted(job.out.splitlines()), [f"0 [{b}]", f"1 [{a}, {b}]", f"2 [{a}]"])
    holds(job.err, f"rank 0: bound, CPU {b}\n", f"rank 2: bound, CPU {a}\n")
    for text in ("", "x", "0-", "1-0", "0::1", "0,", "0:", "cores", "-1"):
        refused(f"--bind-to={text}", "-n", 2, "true", words=["none, core, hwthread, numa, socket, or a set of CPUs for each rank"])
    refused("--bind-to", f"{a}:{b}", "-n", 3, "true", words=["2 sets of CPUs for 3 ranks"])
    refused("--bind-to", f"{a}:1023", "-n", 2, "true", words=["set 2 is CPU 1023", "this launcher may use"])
    every_other = ",".join(str(cpu) for cpu in range(0, 1024, 2))  # the longest of sets is said whole
    refused("--bind-to", every_other, "true", words=[f"--bind-to {every_other}: set 1 is CPUs {every_other}, but this launcher may use"])


def only(cpu):
    return lambda: os.sched_setaffinity(0, {cpu})


def only_the_launchers_own_cpus_are_given():
    """As taskset, a control group or a batch system's step leave them."""
    a, b = two_cpus()
    for place in ("core", "numa", "socket", str(b)):
        job = run("--bind-to", place, "-n", 1, *cpus_of(), preexec_fn=only(b))
        same((job.code, job.out), (0, f"0 [{b}]\n"))
    job = run("--report-bindings", "-n", 1, "true", preexec_fn=only(b))
    holds(job.err, f"rank 0: not bound, CPU {b}\n")
    refused("--bind-to", str(a), "-n", 1, "true", words=[f"set 1 is CPU {a}, but this launcher may use CPU {b} only"], preexec_fn=only(b))
    refused("--bind-to", "core", "-n", 2, "true", words=["2 ranks, but this launcher may use 1 core (CPU", "--oversubscribe"],
            preexec_fn=only(b), share=False)
    job = run("--bind-to", "core", "-n", 2, *cpus_of(), preexec_fn=only(b))
    same(sorted(job.out.splitlines()), [f"0 [{b}]", f"1 [{b}]"])


def threads_that_take_turns_are_told_in_one_line():
    a, b = two_cpus()
    both = {"preexec_fn": lambda: os.sched_setaffinity(0, {a, b}), "share": False}
    for words, env, line in ((["-n", 2, "true"], {}, ""),
                             (["-n", 3, "true"], {}, "3 ranks have 3 threads, which take turns on 2 CPUs"),
                             (["-n", 1, "true"], {"OMP_NUM_THREADS": "2"}, ""),
                             (["-n", 2, "true"], {"OMP_NUM_THREADS": "2,4"}, "2 ranks have 4 threads (OMP_NUM_THREADS), which"),
                             (["-n", 2, "true"], {"OMP_NUM_THREADS": "nonsense"}, ""),
                             (["-genv", "OMP_NUM_THREADS", 1, "-n", 2, "true"], {"OMP_NUM_THREADS": "2"}, ""),
                             (["-n", 1, "true", ":", "-x", "OMP_NUM_THREADS=7", "true"], {}, "2 ranks have 8 threads"),
                             (["--bind-to", "core", "-n", 2, "true"], {"OMP_NUM_THREADS": "2"}, f"bound to CPU {a} have 2 threads"),
                             (["--bind-to", f"{a}:{a}", "-n", 2, "true"], {}, f"bound to CPU {a} have 2 threads"),
                             (["--oversubscribe", "-n", 9, "true"], {}, "")):
        job = run("-v", *words, env=env, **both)
        same((job.code, len(job.err.splitlines())), (0, 1 if line else 0))
        holds(job.err, line)
        same(run(*words, env=env, **both).err, "")  # suites that compare output are not disturbed
    many = len(os.sched_getaffinity(0)) + 1
    job, tty = on_terminal("-n", many, "true", share=False)
    holds(rest_of(tty).decode(), f"{many} ranks have {many} threads, which take turns")
    same(job.end().code, 0)


def counted(*words, env=None, **more):
    """The CPUs that each rank says its node has."""
    job = run(*words, RANK, "cpus", env=env, **more)
    same(job.code, 0)
    return [int(line.split()[-2]) for line in job.out.splitlines()]


def ranks_count_the_cpus_that_they_may_use():
    """All of a node's ranks together: a rank with a core of its own still shares nothing."""
    a, b = two_cpus()
    both = {"preexec_fn": lambda: os.sched_setaffinity(0, {a, b})}
    for words, each in ((["-n", 3], [2] * 3), (["--bind-to", f"{a}:{b}", "-n", 2], [2] * 2), (["--bind-to", f"{a}:{a}", "-n", 2], [1] * 2),
                        (["--bind-to", f"{a}:{a},{b}:{a}", "-n", 3], [2] * 3), (["-n", 1], [2])):
        same(counted(*words, **both), each)
    same(counted("--bind-to", f"{a}:{b}", "-n", 2, env={"HOTLANE_NEAR": "0"}, **both), [1, 1])
    same(counted("--bind-to", f"{a}:{b}:{a}:{b}", "-n", 4, env={"HOTLANE_CLIQUES": "2"}, **both), [1] * 4)


def make_group(folder, cpu):
    """A control group that has this CPU alone, of version 2 or 1; OSError where it cannot be had."""
    above = os.path.dirname(folder)
    first = os.path.exists(f"{above}/cpuset.mems")
    if not first:
        with open(f"{above}/cgroup.subtree_control", encoding="ascii") as f:
            if "cpuset" not in f.read().split():
                raise OSError("control groups of version 2 give no cpuset here")
    os.mkdir(folder)
    with open(f"{folder}/cpuset.cpus", "w", encoding="ascii") as f:
        f.write(str(cpu))
    if first:
        with open(f"{above}/cpuset.mems", encoding="ascii") as f, open(f"{folder}/cpuset.mems", "w", encoding="ascii") as g:
            g.write(f.read())


@contextlib.contextmanager
def control_group(cpu):
    """A preexec_fn that enters a group which has this CPU alone."""
    tried = []
    for root in ("/sys/fs/cgroup", "/sys/fs/cgroup/cpuset"):
        folder = f"{root}/hotlane-{os.getpid()}"
        try:
            make_group(folder, cpu)
            break
        except OSError as reason:
            tried.append(str(reason))
            with contextlib.suppress(OSError):
                os.rmdir(folder)
    else:
        raise Skip("; ".join(tried))

    def members(mode="r", text=""):
        with open(f"{folder}/cgroup.procs", mode, encoding="ascii") as f:
            return f.write(text) if text else f.read()

    try:
        yield lambda: members("w", "0")
    finally:
        until(lambda: not members(), "the group is empty")
        os.rmdir(folder)


def confined_to_one_cpu(cpu, enter):
    confined = {"preexec_fn": enter, "share": False}
    holds(run("--report-bindings", "-n", 1, "true", **confined).err, f"rank 0: not bound, CPU {cpu}\n")
    for place in ("core", "numa", "socket"):
        same(run("--bind-to", place, "-n", 1, *cpus_of(), **confined).out, f"0 [{cpu}]\n")
    refused("--bind-to", "core", "-n", 2, "true", words=["2 ranks, but this launcher may use 1 core (CPU"], **confined)
    holds(run("-v", "-n", 2, "true", **confined).err, "2 ranks have 2 threads, which take turns on 1 CPU (")
    same(run("-n", 1, "true", **confined).err, "")
    same(counted("-n", 2, preexec_fn=enter), [1, 1])


def a_launcher_that_is_confined_counts_what_it_may_use():
    _, b = two_cpus()
    confined_to_one_cpu(b, only(b))


def a_control_group_confines_as_well():
    _, b = two_cpus()
    with control_group(b) as enter:
        confined_to_one_cpu(b, enter)


CASES = [ranks_are_bound_to_cores_nodes_and_sockets, ranks_are_bound_to_the_sets_of_a_list, the_order_of_ranks_is_chosen,
         only_the_launchers_own_cpus_are_given, threads_that_take_turns_are_told_in_one_line, ranks_count_the_cpus_that_they_may_use,
         a_launcher_that_is_confined_counts_what_it_may_use, a_control_group_confines_as_well]

if __name__ == "__main__":
    sys.exit(run_cases(CASES, sys.argv[1]))
