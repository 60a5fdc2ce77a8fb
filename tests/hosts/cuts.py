#!/usr/bin/env python3
"""Cables that are pulled, processes that are stopped, deaths that no launcher tells of. usage: cuts.py GROUP BUILD"""
import concurrent.futures
import os
import random
import re
import signal
import subprocess
import sys
import time

import hosts
from job import Job, harness, main, program
from harness import until

TIMEOUT = 2  # HOTLANE_PEER_TIMEOUT
HEARD = 9    # seconds after which everybody has heard of a host that was cut off; its ranks live on
AT_ONCE = 5  # what a host says of its dead is heard before


def together(cases):
    """Runs cases side by side, as they mostly wait: (what, function with arguments ...)."""
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        futures = [(what, pool.submit(fn, *args)) for what, fn, *args in cases]
        failed = []
        for what, future in futures:
            try:
                future.result()
            except AssertionError as reason:
                failed.append(f"{what}: {reason}")
    assert not failed, "\n".join(failed)


def middle_one(there):
    """Rank 1 is on the second host, all others are on the first."""
    return hosts.by_rank([there.at(1), there.at(2), there.at(1)])


def silent(seconds=TIMEOUT, **more):
    return {"HOTLANE_PEER_TIMEOUT": str(seconds), **more}


# ---- a cable is pulled ----

def cut_off(job, there):
    """Pulls the second host's cable when a rank says where it is; returns that rank's process."""
    victim = int(job.until("cut ").split()[1])
    there.cut(2)
    return victim


def survive(job, victim, words, seconds):
    """Both other ranks say these words in time; only then the launcher sees the victim die."""
    job.at = 0  # a message that has left is not asked for: its sender may be through before the cable is pulled
    for _ in range(2):
        job.until(words, seconds)
    os.kill(victim, signal.SIGKILL)
    job.end()
    assert job.code == 137, job.show()


# Rank 1 may have sent all that is asked for; rank 0 reads by a connection of its own, which may fail before the host is given up.
MAYBE = ["send_pulled", "send_many", "receive_pulled"]
READING = ["receive_large", "receive_both", "rget"]


def scene_cut(scene):
    with hosts.Hosts(2) as there:
        job = Job(3, middle_one(there), [program("mpi/mpi_p2p_kill"), scene, "cut"], "--keep-going", env=silent())
        victim = cut_off(job, there)
        survive(job, victim, "is through", HEARD)
        assert job.out.count("went on") == 2 and "wrong" not in job.out, job.show()
        assert scene in MAYBE or "hears" in job.out, job.show()
        given_up = "host 10.77.0.2 has not answered for 2 s: its ranks (1: 1) count as dead" in job.out
        assert given_up or scene in MAYBE + READING, job.show()


def messages_and_collectives_end():
    together((scene, scene_cut, scene) for scene in ("ssend", "receive_any", "mprobe", "barrier"))


def all_messages_and_collectives_end():
    scenes = os.popen(program("mpi/mpi_p2p_kill")).read().split()
    together((scene, scene_cut, scene) for scene in scenes if scene != "win_shared")  # hosts share no memory


def rma_cut(threads, env, timeout=TIMEOUT, heard=HEARD):
    with hosts.Hosts(3) as there:
        job = Job(3, there.place(), [program("launch/mpi_rma_kill"), "1", "500", str(threads), "cut"], "--keep-going",
                  env=silent(timeout, **env))
        victim = cut_off(job, there)
        survive(job, victim, f"{threads} threads told", heard)


def one_sided_operations_end():
    rma_cut(2, {})


def direct_one_sided_operations_end():
    rma_cut(8, {"HOTLANE_CHAIN": "0"})


def operations_over_a_network_that_tells_of_no_hosts_end():
    """Nothing is known of this provider, neither that its endpoints could be called by TCP. It is slow to connect."""
    rma_cut(2, {"HOTLANE_CHAIN": "0", "HOTLANE_PROVIDER": "net;ofi_rxm"}, timeout=5, heard=25)


def job_ends(name, what, words):
    with hosts.Hosts(2) as there:
        job = Job(2, there.place(), [program(name), what], env=silent())
        job.until("cut\n")
        begin = time.monotonic()
        there.cut(2)
        job.end(20)
        assert job.code not in (0, 137) and time.monotonic() - begin < TIMEOUT + 6 and words in job.out, job.show()


def jobs_end(mpi, shmem):
    cases = [(w, job_ends, "hosts/hosts_waits", w, "MPI_") for w in mpi]
    if os.path.exists(program("hosts/hosts_shmem_waits")):
        cases += [("shmem " + w, job_ends, "hosts/hosts_shmem_waits", w, "has died") for w in shmem]
    together(cases)


def jobs_that_do_not_ask_for_errors_end():
    jobs_end(["put", "receive"], ["wait"])


def other_jobs_end():
    jobs_end(["barrier", "lock"], ["put", "barrier", "lock"])


def heals(name, arguments, seed=0):
    draw = random.Random(seed)
    pauses = [draw.uniform(0.05, 1.5) for _ in range(4)] if seed else [0.3, 0.9]
    with hosts.Hosts(2) as there:
        job = Job(3, there.place(1), [program(name)] + arguments, env=silent(20, **{"TEST_SEED": str(seed)} if seed else {}))
        until(lambda: there.links(2) > 0, "the ranks are connected")
        for pause in pauses:
            time.sleep(pause)
            there.cut(2)
            time.sleep(pause)
            there.heal(2)
        job.good(120)
        assert "dead" not in job.out and "lost" not in job.out, job.show()


def a_cut_that_heals_loses_nothing():
    together([("messages", heals, "mpi/mpi_p2p_random", ["30", "2"]),
              ("one-sided", heals, "mpi/mpi_rma_oracle", ["--seconds", "2", "--threads", "2"])])


def longer_ones_that_heal():
    together([("messages", heals, "mpi/mpi_p2p_random", ["200", "4"]),
              ("one-sided", heals, "mpi/mpi_rma_oracle", ["--seconds", "10", "--threads", "4"]),
              ("collectives", heals, "mpi/mpi_coll_random", ["500"])])


def many_seeds_that_heal():
    seeds = range(1, 13)
    together([(f"messages, seed {s}", heals, "mpi/mpi_p2p_random", ["60", "2"], s) for s in seeds] +
             [(f"one-sided, seed {s}", heals, "mpi/mpi_rma_oracle", ["--seconds", "6", "--threads", "2"], s) for s in seeds] +
             [(f"collectives, seed {s}", heals, "mpi/mpi_coll_random", ["150"], s) for s in seeds])


def a_host_without_a_network_is_named():
    """Its only address is the one that every host has."""
    with hosts.Hosts(2) as there:
        there.cut(2)
        job = Job(2, there.place(), [program("hosts/hosts_waits"), "receive"]).end(20)
        assert job.code not in (0, None) and "no network interface of this host is up but the loopback" in job.out, job.show()


# ---- there is no way ----

def no_way(name, what, words, within, blocked, env, launcher=None):
    """Routes are taken away before the job begins, or else when it says so: on host K the address of the other one is
    "unreachable", of which the kernel tells who asks, or a "blackhole" that takes all in silence."""
    with hosts.Hosts(2) as there:
        def block():
            for k, kind in blocked.items():
                subprocess.run(there.at(k) + ["ip", "route", "add", kind, f"10.77.0.{3 - k}/32"], check=True)
        later = what == "later"
        if not later:
            block()
        place = [] if launcher else there.place()
        job = Job(2, place, [program(name), "receive" if later else what], env=env, launcher=launcher)
        if later:
            job.until("cut\n")
            block()
        begin = time.monotonic()
        job.end(60)
        assert job.code not in (0, 137) and re.search(words, job.out), job.show()
        assert time.monotonic() - begin < within * harness.crowd(), f"{time.monotonic() - begin:.0f} s: {job.show()}"


def who_cannot_be_reached_is_an_error():
    """At once where the kernel says so, with the address; else when the time for silence is over."""
    unreachable = r"host {} cannot be reached \({}.*\): its ranks \(1: {}\) count as dead".format
    silent_host = r"host 10\.77\.0\.[12] has not answered for 2 s: its ranks \(1: [01]\) count as dead"
    down = {"HOTLANE_NEAR": "0"}, ["unshare", "--net", os.path.join(Job.build, "tools", "mpiexec")]
    loopback = unreachable(r"127\.0\.0\.1", "Network is unreachable", "[01]")
    cases = [("the loopback is down", no_way, "hosts/hosts_waits", "receive", loopback, 10, {}, *down),
             ("no route", no_way, "hosts/hosts_waits", "receive", unreachable(r"10\.77\.0\.2", "No route to host", "1"), 10,
              {1: "unreachable"}, {}),
             ("nothing comes back", no_way, "hosts/hosts_waits", "receive", silent_host, TIMEOUT + 10, {2: "blackhole"}, silent()),
             ("no route any more", no_way, "hosts/hosts_waits", "later", silent_host, TIMEOUT + 10, {1: "unreachable"}, silent()),
             ("silence later", no_way, "hosts/hosts_waits", "later", silent_host, TIMEOUT + 10, {2: "blackhole"}, silent())]
    if os.path.exists(program("hosts/hosts_shmem_waits")):
        cases.append(("shmem, the loopback is down", no_way, "hosts/hosts_shmem_waits", "put", loopback, 10, {}, *down))
    together(cases)


def who_was_given_up_is_told():
    """Only the first host's ranks have given the others up when the cable is plugged in again."""
    with hosts.Hosts(2) as there:
        place = hosts.by_rank([there.at(1), there.at(2) + ["env", "HOTLANE_PEER_TIMEOUT=60"], there.at(1)])
        job = Job(3, place, [program("mpi/mpi_p2p_kill"), "receive", "cut"], "--keep-going", env=silent())
        victim = cut_off(job, there)
        job.until("count as dead")
        job.until("count as dead")
        there.heal(2)
        survive(job, victim, "counts this rank as dead", HEARD)
        for rank in (0, 2):
            assert f"rank {rank} counts this rank as dead" in job.out, job.show()


def never_is_never():
    """With 0 a cut of many times the shortest timeout is waited for."""
    with hosts.Hosts(2) as there:
        job = Job(3, there.place(1), [program("mpi/mpi_rma_oracle"), "--seconds", "3"], env=silent(0))
        until(lambda: there.links(2) > 0, "the ranks are connected")
        there.cut(2)
        time.sleep(5)
        there.heal(2)
        assert "dead" not in job.good(60), job.show()


# ---- a process is stopped, or ends ----

def pid_of(rank, *command):
    """The process of that rank: by its environment and how its command begins."""
    begin = "".join(f"{word}\0" for word in command).encode()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as env, open(f"/proc/{pid}/cmdline", "rb") as line:
                if f"PMI_RANK={rank}\0".encode() in env.read() and line.read().startswith(begin):
                    return int(pid)
        except OSError:
            pass
    return 0


def stopped(what, seconds):
    command = program("hosts/hosts_waits"), what
    with hosts.Hosts(2) as there:
        job = Job(2, there.place(), [*command, str(seconds)], env=silent())
        job.until("cut\n")
        pid = until(lambda: pid_of(1, *command), "rank 1 runs")
        time.sleep(1)
        os.kill(pid, signal.SIGSTOP)
        job.until("but its host does", 20)
        time.sleep(2)
        os.kill(pid, signal.SIGCONT)
        job.good(30)
        assert len(re.findall(r"rank 1 has not answered for 1\d s, but its host does", job.out)) == 1, job.show()
        assert job.out.count("is stopped") == 1, job.show()
        assert job.out.count("rank 1 answers again") == 1 and "dead" not in job.out, job.show()


def a_stopped_process_is_waited_for():
    """Whether it is asked for memory, or is to send by itself."""
    together((what, stopped, what, seconds) for what, seconds in (("put", 14), ("receive", 3)))


def untold(scene):
    """The launcher sees a shell that lives on; only the host knows that the rank is gone."""
    with hosts.Hosts(2) as there:
        hidden = ["sh", "-c", "\"$@\"; echo gone $$; exec sleep 1000", "sh"]
        place = hosts.by_rank([there.at(1), there.at(2) + hidden, there.at(1)])
        job = Job(3, place, [program("mpi/mpi_p2p_kill"), scene], "--keep-going", env=silent())
        shell = int(job.until("gone ").split()[1])
        survive(job, shell, "is through", AT_ONCE)
        assert job.out.count("went on") == 2 and "rank 1 is gone" in job.out, job.show()


def a_death_that_nobody_tells_of():
    together((scene, untold, scene) for scene in ("receive", "barrier"))


def other_deaths_that_nobody_tells_of():
    together((scene, untold, scene) for scene in ("ssend", "receive_any", "send_large", "comm_dup"))


GROUPS = {
    "cuts": [messages_and_collectives_end, one_sided_operations_end, jobs_that_do_not_ask_for_errors_end,
             a_host_without_a_network_is_named, who_cannot_be_reached_is_an_error, a_cut_that_heals_loses_nothing,
             a_death_that_nobody_tells_of],
    "stops": [a_stopped_process_is_waited_for, who_was_given_up_is_told, never_is_never],
    "all cuts": [all_messages_and_collectives_end, direct_one_sided_operations_end,
                 operations_over_a_network_that_tells_of_no_hosts_end, other_jobs_end, longer_ones_that_heal,
                 many_seeds_that_heal, other_deaths_that_nobody_tells_of],
}

if __name__ == "__main__":
    sys.exit(main(GROUPS))
