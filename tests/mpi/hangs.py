#!/usr/bin/env python3
"""Ranks that hang in every kind of call: the watchdog of each says for what, and deadlocks are named from both ends.

usage: hangs.py MPIEXEC PROGRAM SET WAY...    with SET: mpi, shmem; WAY: near, net; or scenes=A,B,...
"""
import concurrent.futures
import os
import re
import subprocess
import sys
import threading
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import clean_env  # noqa: E402  pylint: disable=wrong-import-position

LATER = 0.5  # seconds in which a deadlock that is none would be named
LIMIT = 90  # seconds; who is not heard by then says nothing
WAYS = {"near": {}, "net": {"HOTLANE_NEAR": "0"}}
WORLD = "communicator MPI_COMM_WORLD"
# Some calls leave no frame in builds that are optimized: then their names are not known.
WAIT, FLUSH, QUIET = "(MPI_Wait|an MPI call)", "(MPI_Win_flush|an MPI call)", "(shmem_quiet|an OpenSHMEM call)"
RECV = r"MPI_Recv: " + WORLD + r", source 0, tag 1; for rank 0$"


RING = r"rank 0 waits for rank 1 in .*, rank 3 waits for rank 4 in \S+ \([^()]*\), and so on by 15 more: 4 5 .* 18, rank 19 waits for rank 0 in "


class Scene:
    def __init__(self, *waits, ranks=2, circle=True, ways=("near", "net"), env=None, unit="(rank|PE)", never=None):
        self.never = never  # words that are not told either
        self.waits, self.ranks, self.circle, self.ways, self.env, self.unit = waits, ranks, circle, ways, env or {}, unit


def alike(words):
    """Both ranks wait in the same call: %d is the other one."""
    return Scene(words.replace("%d", "1") + "$", words.replace("%d", "0") + "$")


def against(words, **more):
    """Rank 0 waits in this call, rank 1 in MPI_Recv."""
    return Scene(words + "$", RECV, **more)


MPI = {
    "both_recv": alike(f"MPI_Recv: {WORLD}, source %d, tag 5; for rank %d"),
    "both_ssend": alike(f"MPI_Ssend: {WORLD}, destination rank %d of the job, tag 6, 4 bytes; for rank %d"),
    "both_send": alike(f"MPI_Send: {WORLD}, destination rank %d of the job, tag 7, 4194304 bytes; for rank %d"),
    "both_probe": alike(f"MPI_Probe: {WORLD}, source %d, tag 8; for rank %d"),
    "both_start": alike("MPI_Win_start: window the window, posts of its targets; for rank %d"),
    "both_wait": alike("MPI_Win_wait: window the window, completes of its origins; for rank %d"),
    "both_lock": alike("MPI_Win_lock: window the window, lock of target %d; for rank %d"),
    "both_precv": alike(f"{WAIT}: {WORLD}, source %d, tag 17, 2 of 2 partitions missing; for rank %d"),
    "both_psend": alike(f"{WAIT}: {WORLD}, destination rank %d of the job, tag 18, 4194304 bytes; for rank %d"),
    "throttle": Scene(rf"MPI_Send: {WORLD}, destination rank 1 of the job, tag 13, 4096 bytes, held back: HOTLANE_UNEX_MEM is full "
                   "there; for rank 1$", RECV, env={"HOTLANE_UNEX_MEM": "64K"}),
    "moving": Scene(f"MPI_Send: {WORLD}, destination rank 1 of the job, tag 19, {1 << 28} bytes; for rank 1$",
                    f"MPI_Recv: {WORLD}, source 0, tag 19, whose data are on their way$", circle=False, ways=("net",)),
    "circle": Scene(*[f"MPI_Recv: {WORLD}, source {p}, tag 14; for rank {p}$" for p in (1, 2, 0)], ranks=3),
    "ring": Scene(*[f"MPI_Recv: {WORLD}, source {p}, tag 14; for rank {p}$" for p in [*range(1, 20), 0]], ranks=20, circle=RING, ways=("near",)),
    "threads": Scene(*[rf"MPI_Recv: {WORLD}, source {p}, tag 1[56]; for rank {p}$" for p in (1, 0)]),
    "named": against("MPI_Barrier: communicator the ring; for rank 1"),
    "unlike": Scene("MPI_Bcast: communicator the ring; for rank 1$", "MPI_Barrier: communicator the ring; for rank 0$"),
    "barrier_later": against(f"MPI_Barrier: {WORLD}; for rank 1"),
    "flush": Scene(FLUSH + r": window the window, \d+ operations? on lane \d+ to end; for rank 1$", circle=False, ways=("net",)),
    "mprobe": against(f"MPI_Mprobe: {WORLD}, source 1, any tag; for rank 1"),
    "wait": against(f"{WAIT}: {WORLD}, source 1, tag 9; for rank 1"),
    "waitall": against(f"MPI_Waitall: {WORLD}, source 1, tag 10; for rank 1"),
    "waitany": against(f"MPI_Waitany: any of 2 requests, such as {WORLD}, source 1, tag 10; for any of rank 1"),
    "waitsome": against(f"MPI_Waitsome: any of 2 requests, such as {WORLD}, source 1, tag 10; for any of rank 1"),
    "psend_half": against(f"{WAIT}: {WORLD}, destination rank 1 of the job, tag 18, 1 of 2 partitions not ready", circle=False),
    "any_source": against(f"MPI_Recv: {WORLD}, any source, tag 12; for any of ranks 0, 1", circle=False),
    "comm_split": against(f"MPI_Comm_split: {WORLD}; for rank 1"),
    "win_make": against(r"MPI_Win_allocate: communicator .*; for rank 1"),
    "fence": against(r"MPI_Win_fence: communicator .*; for rank 1"),
    "win_free": against(r"MPI_Win_free: communicator .*; for rank 1"),
    "finalize": against("MPI_Finalize: all ranks of the job, which meet at the launcher; for rank 1",
                        never=r"thread \d+ has waited .*the other ranks' end"),  # the library's own thread, in the same wait
    "init": Scene("MPI_Init_thread: all ranks of the job, which meet at the launcher; for rank 1$", circle=False),
}
MPI["alltoall"] = against(f"MPI_Alltoall: {WORLD}(, memory of its members for alltoall)?; for rank 1")
for call in ("barrier", "bcast", "reduce", "allreduce", "gather"):
    MPI[call] = against(f"MPI_{call.capitalize()}: {WORLD}; for rank 1")
MPI["reduce_scatter"] = against(f"MPI_Reduce_scatter_block: {WORLD}; for rank 1")
MPI["ibarrier"] = against(f"{WAIT}: {WORLD}; for rank 1")

WORD = r"a word that any PE may write: "
SHMEM_WAIT = rf"shmem_\w*wait_until: {WORD}0x[0-9a-f]+ in the symmetric heap, is 0, to be == 1$"
ALONE = "shmem_init: all PEs of the job; for PE 0$"
SHMEM = {
    "init": Scene(f"MPI_Barrier: {WORLD}; for rank 1$", ALONE),
    "init_finalize": Scene("MPI_Finalize: all ranks of the job, which meet at the launcher; for rank 1$", ALONE),
    "late": Scene("shmem_init_thread: all PEs of the job, which meet at the launcher; for PE 1$", circle=False, unit="PE"),
    "wait_until": Scene(SHMEM_WAIT, SHMEM_WAIT, circle=False),
    "wait_until_all": Scene(rf"shmem_\w*wait_until_all: {WORD}3 objects, index 1: 0x[0-9a-f]+ in the symmetric heap, is -7, to be > -5$",
                            circle=False),
    "wait_until_any": Scene(rf"shmem_\w*wait_until_any: {WORD}3 objects, such as index 1: 0x[0-9a-f]+ in static data, is 0, to be != 0$",
                            circle=False),
    "signal_wait": Scene(rf"shmem_signal_wait_until: {WORD}0x[0-9a-f]+ in the symmetric heap, is 0, to be >= 9$", circle=False),
    "barrier_all": Scene(r"shmem_barrier_all: (communicator )?SHMEM_TEAM_WORLD, member 1; for PE 1$", SHMEM_WAIT, circle=False),
    "both_lock": Scene(*[rf"shmem_set_lock: lock 0x[0-9a-f]+, behind PE {p} in its queue; for PE {p}$" for p in (1, 0)]),
    "lock_thread": Scene("shmem_set_lock: lock 0x[0-9a-f]+, which another thread of this PE holds$", circle=False),
    "team_broadcast": Scene(r"shmem_\w*broadcast\w*: team of 2 from PE 0, stride 1, member 1; for PE 1$", circle=False, ways=("near",)),
    "quiet": Scene(QUIET + r": \d+ operations? on lane \d+ to end; for PE 1$", circle=False, ways=("net",)),
}


def is_complete(scene, text):
    """What is missing in the output, or nothing."""
    for rank, words in enumerate(scene.waits):
        line = rf"^hotlane: {scene.unit} {rank} \(\S+\): watchdog: thread \d+ has waited \d+ s in {words}"
        if not re.search(line, text, re.M):
            return f"rank {rank} does not say: {words}"
        if scene.circle == RING:
            continue
        circle = rf"^hotlane: (rank|PE) {rank} \(\S+\): watchdog: deadlock: (rank|PE) {rank} waits for (rank|PE) "
        if scene.circle and not re.search(circle, text, re.M):
            return f"rank {rank} names no deadlock"
        if not scene.circle and re.search(circle, text, re.M):
            return f"rank {rank} names a deadlock that is none"
    told = re.findall(r"^hotlane: rank (\d+) \(\S+\): watchdog: deadlock: (.*)", text, re.M)
    if scene.circle == RING and not (told and all(rank == "0" and re.match(RING, words) for rank, words in told)):
        return "rank 0 alone names the deadlock of all"
    return "" if re.search("watchdog: counters so far: ", text) else "no counters"


def play(name, scene, way):
    env = clean_env.environment()
    env.update(HOTLANE_CONF="", HOTLANE_WATCHDOG="1", **WAYS[way], **scene.env)
    job = subprocess.Popen([sys.argv[1], "-n", str(scene.ranks), sys.argv[2], name], env=env, stdout=subprocess.DEVNULL,
                           stderr=subprocess.PIPE, text=True)
    lines = []
    reader = threading.Thread(target=lambda: lines.extend(iter(job.stderr.readline, "")))
    begin = time.monotonic()
    reader.start()
    while is_complete(scene, "".join(lines)) and time.monotonic() < begin + LIMIT and job.poll() is None:
        time.sleep(0.05)
    if not scene.circle or scene.never:
        time.sleep(LATER)
    early = job.poll() is not None
    job.terminate()
    job.wait()
    reader.join()
    text = "".join(lines)
    missing = is_complete(scene, text) or ("it ended by itself" if early else "")
    if scene.never and re.search(scene.never, text):
        missing = missing or f"it says: {scene.never}"
    return f"{name}, {way}", missing, text


def is_quiet(name):
    """Without the variable nothing is said: a job that ends by itself after two seconds of waiting."""
    env = clean_env.environment()
    done = subprocess.run([sys.argv[1], "--timeout", "2", "-n", "2", sys.argv[2], name], env={**env, "HOTLANE_CONF": ""},
                          capture_output=True, text=True, timeout=LIMIT, check=False)
    return f"{name}, no watchdog", "it speaks" if "watchdog" in done.stderr or done.returncode == 0 else "", done.stderr


if __name__ == "__main__":
    table = {"mpi": MPI, "shmem": SHMEM}[sys.argv[3]]
    ways = [w for w in sys.argv[4:] if w in WAYS]
    only = [w[7:].split(",") for w in sys.argv[4:] if w.startswith("scenes=")]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        jobs = [pool.submit(play, name, scene, way) for way in ways for name, scene in table.items()
                if way in scene.ways and (not only or name in only[0])]
        jobs.append(pool.submit(is_quiet, "both_recv" if table is MPI else "wait_until"))
        for job in jobs:
            what, missing, out = job.result()
            print(f"{'ok' if not missing else 'FAILED'}  {what}" + (f": {missing}\n{out[:3000]}" if missing else ""), flush=True)
            failed += bool(missing)
    sys.exit(failed != 0)
