#!/usr/bin/env python3
"""Who is taken as node peer, whatever the machine says about itself; and programs give the right results there, and on
several hosts. usage: nodes.py GROUP BUILD"""
import os
import re
import shutil
import subprocess
import sys
import time

import hosts
from job import Job, main, program
from harness import Skip, same

UNSHARE = ["unshare", "--fork", "--kill-child"]


def nodes(place, ranks=4, env=None):
    """The node groups that the ranks found, as a set of tuples; all data arrived."""
    out = Job(ranks, place, [program("hosts/hosts_peers")], env=env).good()
    found = re.findall(r"rank (\d+): node of \d+:((?: \d+)+)", out)
    assert len(found) == ranks, out
    groups = {tuple(map(int, ranks_there.split())) for _, ranks_there in found}
    assert sorted(r for g in groups for r in g) == list(range(ranks)), out
    return groups, out


# ---- a job's output is waited for ----

def no_longer_than_said():
    """Also where the line that does not end holds the words."""
    for said, words in (("nothing", "words"), ("words", "words")):
        job = Job(1, [], ["sh", "-c", f"printf {said}; exec sleep 60"])
        begin = time.monotonic()
        try:
            came = job.until(words, 0.2)
        except AssertionError as reason:
            came = str(reason)
        assert "within" in came, came
        assert job.process.poll() is None and time.monotonic() - begin < 30, job.show()
        job.process.terminate()
        job.end()


def and_none_of_it_is_lost():
    job = Job(1, [], ["sh", "-c", "printf 'one\\ntwo\\ntwo\\nthree\\n'"])
    same([job.until("o") for _ in range(2)], ["one\n", "two\n"])
    same(job.good(), "one\ntwo\ntwo\nthree\n")


# ---- who is a node peer ----

def two_hosts():
    with hosts.Hosts(2) as there:
        same(nodes(there.place(2))[0], {(0, 1), (2, 3)})


def three_hosts_in_turn():
    with hosts.Hosts(3) as there:
        place = hosts.by_rank([there.at(1 + r % 3) for r in range(5)])
        same(nodes(place, 5)[0], {(0, 3), (1, 4), (2,)})


def hosts_of_one_name():
    with hosts.Hosts(2, ["twin", "twin"]) as there:
        same(nodes(there.place(2))[0], {(0, 1), (2, 3)})


def process_namespaces():
    """Every rank is process 1 of its namespace: numbers of processes say nothing about who is who."""
    same(nodes(UNSHARE + ["--pid", "--mount-proc"])[0], {(0, 1, 2, 3)})
    same(nodes(UNSHARE + ["--pid", "--mount-proc"], env={"HOTLANE_CMA": "0"})[0], {(0, 1, 2, 3)})


def one_process_namespace_apart():
    place = hosts.by_rank([["env"], UNSHARE + ["--pid", "--mount-proc"], ["env"]])
    same(nodes(place)[0], {(0, 1, 2, 3)})


def user_namespaces():
    place = UNSHARE + ["--user", "--map-root-user"]
    same(nodes(place)[0], {(0, 1, 2, 3)})


def one_user_namespace_without_names():
    """In there every user looks like nobody; all are the same one, and the job's nonce says so."""
    same(nodes(hosts.by_rank([["env"], ["unshare", "--user"], ["env"]]))[0], {(0, 1, 2, 3)})


def another_user():
    """Processes of one job, but another user's: nothing is shared with them. Data goes by the network. The stranger
    comes late: all look at who has come first, and would meet nobody if that were the stranger."""
    stranger = ["env", "HOME=/", "XDG_CONFIG_HOME=/", "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    tried = subprocess.run(stranger + ["test", "-x", program("hosts/hosts_peers")], capture_output=True, check=False)
    if tried.returncode:
        raise Skip("another user may not be taken here, or may not run the build's programs")
    late = ["sh", "-c", "sleep 1; exec \"$@\"", "sh"]
    groups, out = nodes(hosts.by_rank([["env"], late + stranger, ["env"]]))
    same(groups, {(0, 2, 3), (1,)})
    assert "prove" in out, out


def mount_and_name_namespaces():
    same(nodes(UNSHARE + ["--uts", "--ipc", "--mount"])[0], {(0, 1, 2, 3)})


def other_boot_ids_lie():
    """Hosts by namespaces have boot ids of their own; with equal ones the network namespace tells them apart."""
    with hosts.Hosts(2) as there:
        honest = ["sh", "-c", "umount /proc/sys/kernel/random/boot_id; exec \"$@\"", "sh"]
        place = hosts.by_rank([there.at(1) + ["unshare", "--mount"] + honest, there.at(2) + ["unshare", "--mount"] + honest], 2)
        same(nodes(place)[0], {(0, 1), (2, 3)})


# ---- programs ----

def stencil_is_the_serial_one():
    stencil = os.path.join(Job.build, "perf", "stencil")
    if not os.access(stencil, os.X_OK):
        raise Skip("built without perf")
    grid = ["--zones", "128,128", "--steps", "20", "--quiet", "--json", "-"]
    serial = subprocess.run([stencil, "--serial"] + grid, capture_output=True, text=True, check=True).stdout
    want = re.search(r'"hash": *"?(\w+)', serial).group(1)
    with hosts.Hosts(2) as there:
        for more in ([], ["--signal", "notify"]) + (["--api", "shmem"],) * with_shmem():
            out = Job(4, there.place(2), [stencil, "--patch", "16", "--threads", "4"] + more + grid).good(120)
            same(re.search(r'"hash": *"?(\w+)', out).group(1), want)


FEW = [("mpi/mpi_rma_oracle", 4, ["--steps", "1500", "--threads", "2"]), ("mpi/mpi_p2p_random", 4, ["6", "2"]),
       ("mpi/mpi_coll_random", 4, ["25"]), ("shmem/shmem_smoke", 4, [])]
MORE = [("mpi/mpi_rma_oracle", 4, ["--seconds", "60", "--threads", "4"]), ("mpi/mpi_p2p_random", 5, ["100", "4"]),
        ("mpi/mpi_p2p_order", 4, []), ("mpi/mpi_coll_random", 6, ["500"]), ("mpi/mpi_rma_locks", 4, []),
        ("mpi/mpi_rma_pscw", 4, ["3", "200"]), ("mpi/mpi_rma_notify", 4, ["2", "96"]), ("mpi/mpi_comm_make", 5, ["4", "5"]),
        ("mpi/mpi_sessions", 4, ["4", "200"]), ("shmem/shmem_coll_random", 4, ["200", "4"]),
        ("shmem/shmem_signal_puts", 5, ["2", "20"]), ("shmem/shmem_lock_queue", 4, ["8", "20"])]


def the_network_is_proven():
    """Between the hosts and on one, whose ranks share no memory for it."""
    info = [os.path.join(Job.build, "tools", "hotlane-info"), "--prove", "--seconds", "1"]
    with hosts.Hosts(2) as there:
        out = Job(2, there.place(), info).good(120)
        assert "6 of 6 steps proven" in out and "host         host1, rank 0 " in out and "host         host2, rank 1 " in out, out
        assert "device eth0" in out, out
        out = Job(4, there.place(2), info).good(120)
        assert "6 of 6 steps proven" in out and "host         host2, ranks 2 to 3 " in out, out


def a_host_without_a_network_is_named():
    info = [os.path.join(Job.build, "tools", "hotlane-info"), "--prove", "--seconds", "1"]
    with hosts.Hosts(2) as there:
        subprocess.run(there.at(2) + ["ip", "link", "set", "eth0", "down"], check=True)
        job = Job(2, there.place(), info).end(120)
        assert job.code == 1 and "rank 1 (host2) cannot start: " in job.out and "no network interface of this host is up" in job.out, job.show()


def with_shmem():
    return os.path.exists(program("shmem/shmem_smoke"))


def run_all(table, count):
    with hosts.Hosts(count) as there:
        for name, ranks, words in table:
            if with_shmem() or not name.startswith("shmem"):
                Job(ranks, there.place(2), [program(name)] + words).good(300)


def programs_on_two_hosts():
    run_all(FEW, 2)


def more_programs_on_three_hosts():
    run_all(MORE, 3)


def programs_under_hydra():
    hydra = shutil.which("mpiexec.hydra")
    if hydra is None:
        raise Skip("mpiexec.hydra (package mpich) is not installed")
    with hosts.Hosts(2) as there:
        launcher = there.launched("mpich", [hydra], 2)
        out = Job(4, [], [program("hosts/hosts_peers")], launcher=launcher, env=there.environ).good()
        same(set(re.findall(r"node of 2:((?: \d)+)", out)), {" 0 1", " 2 3"})
        for name, ranks, words in FEW[:3]:
            Job(ranks, [], [program(name)] + words, launcher=launcher, env=there.environ).good(120)


GROUPS = {
    "nodes": [no_longer_than_said, and_none_of_it_is_lost, two_hosts, three_hosts_in_turn, hosts_of_one_name, process_namespaces,
              one_process_namespace_apart, user_namespaces, one_user_namespace_without_names, another_user,
              mount_and_name_namespaces, other_boot_ids_lie],
    "programs": [stencil_is_the_serial_one, programs_on_two_hosts],
    "prove": [the_network_is_proven, a_host_without_a_network_is_named],
    "more": [more_programs_on_three_hosts, programs_under_hydra],
}

if __name__ == "__main__":
    sys.exit(main(GROUPS))
