#!/usr/bin/env python3
"""Floods, many ranks, random talk. usage: crowds.py all|CASE[,CASE] MPIEXEC PROGRAM [PRELOAD]"""
import re
import resource
import shutil
import subprocess
import sys
import tempfile

from harness import PRELOAD, PYTHON, RANK, TALK, Job, Skip, check_talk, groups, holds, killed_but_traced, raw, run, run_cases, same, sh


def who_does_not_go_when_killed_is_named():
    job, pid = killed_but_traced(30)
    same((job.code, len(job.err.splitlines())), (143, 2))
    holds(job.err, "mpiexec: rank ", f" (pid {pid}) has not ended 5 s after SIGKILL and is left behind")
    assert 5 <= job.seconds < 20, job.seconds
    job.must_leave_nothing()


HELLO = """
#include <mpi.h>
#include <stdio.h>
int main(void)
{
    int rank, sum;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("sum %d\\n", sum);
    return MPI_Finalize();
}
"""


def programs_of_mpich_start_under_our_launcher():
    if not shutil.which("mpicc.mpich"):
        raise Skip("mpicc.mpich is not installed")
    with tempfile.TemporaryDirectory() as d:
        with open(f"{d}/hello.c", "w", encoding="ascii") as f:
            f.write(HELLO)
        made = subprocess.run(["mpicc.mpich", f"{d}/hello.c", "-o", f"{d}/hello"], check=False, capture_output=True, timeout=60)
        if b"mpi.h" in made.stderr:
            raise Skip("libmpich-dev is not installed")
        same((made.returncode, made.stderr), (0, b""))
        job = run("-n", 3, f"{d}/hello")
    same((job.code, job.out), (0, "sum 3\n" * 3))


def floods_of_node_messages_lose_none():
    for n, count in ((2, 5000), (16, 100)):
        same(run("-n", n, RANK, "flood", count).code, 0)


def many_ranks_meet():
    for n in (64, 200):
        same(groups(run("-n", n, RANK, "all")), [",".join(map(str, range(n)))] * n)


def many_ranks_talk():
    job = run("-n", 32, PYTHON, "-c", TALK % (1000, 0))
    check_talk(job.out, 32, 1000)


def too_many_ranks_are_refused_before_the_start():
    job = run("-n", 30, *sh("exit 9"), preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100)))
    same(job.code, 1)
    holds(job.err, "122 descriptors", "100")


def a_low_soft_limit_of_descriptors_is_raised():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    for soft in (5, 8):
        job = run("-n", 2, *sh("ulimit -n"), preexec_fn=lambda n=soft: resource.setrlimit(resource.RLIMIT_NOFILE, (n, hard)))
        same((job.code, job.out), (0, f"{soft}\n" * 2))


def deaths_in_a_crowd_are_looked_for_now_and_then():
    """Each look asks for each rank, and ranks die one by one, as they were started: a look for each death would cost n * n."""
    n, hard = 1000, resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if not PRELOAD or hard < 3 * n + 32:
        raise Skip(f"{hard} descriptors are too few" if PRELOAD else "a sanitizer must be loaded first")
    job = run("-n", 1, "sleep", 4, ":", "-n", n - 1, "sleep", 2, env={"LD_PRELOAD": PRELOAD, "LAUNCH_COUNT": "1"})
    found = re.fullmatch(r"(\d+) calls of waitid for one process in (\d+) ms\n", job.err)
    assert job.code == 0 and found, job.err
    looks, ms = map(int, found.groups())
    assert looks <= ms // (n // 200) + 2, f"{looks} looks in {ms} ms"


def deaths_in_a_crowd_leave_nothing():
    for mode, arg, code in (("signal", 9, 137), ("abort", 3, 3), ("exit", 0, 1)):
        same(run("-n", 48, RANK, mode, arg).code, code)


def killing_the_launcher_at_any_moment_leaves_nothing():
    for delay in range(0, 60, 3):
        job = Job("-n", 8, RANK, "all")
        try:
            job.process.wait(delay / 1000)
        except subprocess.TimeoutExpired:
            pass
        job.process.kill()
        job.end()
        job.must_leave_nothing()


def random_talk_never_breaks_the_server():
    text = r"""
import random, time
random.seed(%d + rank)
words = [b"init pmi_version=1", b"get ", b"put ", b"barrier_in", b"get_maxes", b" ", b"\ncmd=", b"\ncmd=", b" key=", b" value=",
         b" kvsname=", b"k", b"=", b"x" * 70, b"y" * 1100, b"\xff", b"get key=k\ncmd=", b"get_appnum\ncmd=", b"finalize\ncmd="]
s.sendall(b"cmd="); s.setblocking(False)
for i in range(3000):
    try: s.send(random.choice(words)); s.recv(65536)
    except OSError: pass
"""
    ends = set()
    for seed in range(0, 24, 2):
        job = raw(text % seed, n=1 + seed % 4 // 2)
        assert 0 <= job.code < 128, job.code
        ends.add(job.err.strip().split(": ", 1)[-1])
    print(f"    {len(ends)} different ends: {ends}")


CASES = [floods_of_node_messages_lose_none, programs_of_mpich_start_under_our_launcher, random_talk_never_breaks_the_server,
         too_many_ranks_are_refused_before_the_start, a_low_soft_limit_of_descriptors_is_raised, many_ranks_meet, many_ranks_talk,
         deaths_in_a_crowd_are_looked_for_now_and_then, deaths_in_a_crowd_leave_nothing,
         killing_the_launcher_at_any_moment_leaves_nothing, who_does_not_go_when_killed_is_named]

if __name__ == "__main__":
    sys.exit(run_cases(CASES, sys.argv[1]))
