#!/usr/bin/env python3
"""Who shares memory. usage: node.py all|CASE[,CASE] MPIEXEC PROGRAM"""
import os
import re
import shutil
import signal
import socket
import subprocess
import sys

from harness import PYTHON, RANK, Skip, groups, holds, run, run_cases, same, sh, sleepers


def everything_works_at_any_size():
    for n in (1, 2, 5, 16):
        same(groups(run("-n", n, RANK, "all")), [",".join(map(str, range(n)))] * n)


def near_0_gives_groups_of_one():
    for value in ("0", "none"):
        same(groups(run("-n", 3, RANK, "all", env={"HOTLANE_NEAR": value})), ["0", "1", "2"])


def cliques_split_the_node():
    same(groups(run("-n", 5, RANK, "all", env={"HOTLANE_CLIQUES": "2"})), ["0,2,4"] * 3 + ["1,3"] * 2)
    same(groups(run("-n", 2, RANK, "all", env={"HOTLANE_CLIQUES": "7"})), ["0", "1"])


def counts_of(job):
    """What ranks asked of the launcher, and what they found in their nodes' caches."""
    same(job.code, 0)
    return [sum(int(line.split()[at]) for line in job.out.splitlines()) for at in (3, 5)]


def a_node_asks_for_each_value_once():
    """Values of 1500 bytes are three pieces in PMI-1."""
    for ranks, nodes in ((4, 2), (8, 2), (9, 3)):
        far = ranks * (nodes - 1)  # each value is fetched once by each node but its own
        same(counts_of(run("-n", ranks, RANK, "kvs_cache", env={"HOTLANE_CLIQUES": str(nodes)})), [3 * far, ranks * ranks - far])
    same(counts_of(run("-n", 3, RANK, "kvs_cache", env={"HOTLANE_NEAR": "0"})), [3 * 9, 0])


def ranks_of_different_networks_do_not_share():
    if subprocess.run(["unshare", "-n", "true"], capture_output=True, check=False).returncode:
        raise Skip("no right to make network namespaces")
    same(groups(run("-n", 4, *sh(f"test $PMI_RANK = 2 && exec unshare -n {RANK} all; exec {RANK} all"))),
         ["0,1,3"] * 3 + ["2"])


def names_in_public():
    return {n for folder in ("/dev/shm", "/tmp") for n in os.listdir(folder) if "hotlane" in n}


def nothing_gets_a_name():
    for _ in range(5):  # others' tests may make a file meanwhile; ours would make one each time
        before = names_in_public()
        job, _ = sleepers(3)
        with open("/proc/net/unix", encoding="ascii", errors="replace") as f:
            assert "@hotlane/" in f.read()
        new = names_in_public() - before
        job.process.kill()
        job.end()
        job.must_leave_nothing()
        if not new:
            break
    same(new, set())


def strangers_on_the_socket_are_ignored():
    job, _ = sleepers(2)
    with open("/proc/net/unix", encoding="ascii", errors="replace") as f:
        rows = [line.split() for line in f]
    own = job.sockets()  # others' jobs may come and go meanwhile
    names = [row[7][1:] for row in rows if row[6] in own and re.fullmatch(r"@hotlane/\S+/rank/\d+", row[-1])]
    same(len(names), 2)
    s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    for name in names:
        s.sendto(b"junk", "\0" + name)
    job.process.send_signal(signal.SIGTERM)
    same(job.end(soon=True).code, 143)


def alone(variables):
    """A rank without launcher in an environment that has these variables."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PMI", "OMPI_", "HOTLANE_", "SLURM_", "PALS_"))}
    return subprocess.run([RANK, "facts"], env={**kept, **variables}, capture_output=True, timeout=20, check=False)


def a_launcher_without_server_is_refused():
    for variables in ({"SLURM_STEP_NUM_TASKS": "2"}, {"PMI_SIZE": "2", "PMI_FD": "999", "PMI_RANK": "0"},
                      {"OMPI_COMM_WORLD_SIZE": "2"}, {"PMIX_NAMESPACE": "gone", "PMIX_RANK": "0"}, {"PMI_PORT": "host:1"},
                      {"OMPI_COMM_WORLD_SIZE": "2", "PMIX_NAMESPACE": "gone", "PMIX_RANK": "1"}, {"PALS_RANKID": "0"},
                      {"HOTLANE_BOOT": "pmi1"}, {"HOTLANE_BOOT": "pmix"}):
        done = alone(variables)
        same(done.returncode, 42)
        holds(done.stderr.decode(), "refused", "mpiexec", next(iter(variables)))


def a_batch_script_is_no_launcher():
    for variables in ({"SLURM_NTASKS": "64", "SLURM_JOB_ID": "1"}, {"SLURM_STEP_NUM_TASKS": "1"}, {"OMPI_COMM_WORLD_SIZE": "1"},
                      {"PMIX_NAMESPACE": "gone", "PMIX_RANK": "0", "OMPI_COMM_WORLD_SIZE": "1"},
                      {"OMPI_COMM_WORLD_SIZE": "2", "HOTLANE_BOOT": "self"}):
        done = alone(variables)
        same((done.returncode, done.stdout), (0, b"rank 0 of 1 by self node 0 of 1: 0\n"))


def what_a_rank_starts_runs_alone():
    job = run("-n", 2, PYTHON, "-c", f"""
import os, subprocess
os.environ["HL_INSIDE_RANK"] = ":2:::::"
for v in ("PMI_FD", "PMI_RANK", "PMI_SIZE"): del os.environ[v]
subprocess.run(["{RANK}", "facts"])""", env={"SLURM_STEP_NUM_TASKS": "2"})
    same(job.out, "rank 0 of 1 by self node 0 of 1: 0\n" * 2)


def the_override_makes_singletons():
    same(run("-n", 2, RANK, "facts", env={"HOTLANE_BOOT": "self"}).out, "rank 0 of 1 by self node 0 of 1: 0\n" * 2)


def foreign_launchers_serve_as_well():
    hydra = shutil.which("mpiexec.hydra")
    if not hydra:
        raise Skip("mpiexec.hydra is not installed")
    done = subprocess.run([hydra, "-n", "4", RANK, "all"], capture_output=True, timeout=30, check=False)
    same((done.returncode, len(done.stdout.splitlines())), (0, 4))


CASES = [everything_works_at_any_size, near_0_gives_groups_of_one, cliques_split_the_node, a_node_asks_for_each_value_once,
         ranks_of_different_networks_do_not_share, nothing_gets_a_name, strangers_on_the_socket_are_ignored, a_launcher_without_server_is_refused,
         a_batch_script_is_no_launcher, what_a_rank_starts_runs_alone, the_override_makes_singletons, foreign_launchers_serve_as_well]

if __name__ == "__main__":
    sys.exit(run_cases(CASES, sys.argv[1]))
