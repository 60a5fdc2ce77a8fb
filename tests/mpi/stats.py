#!/usr/bin/env python3
"""HOTLANE_STATS: a rank's line says what its performance variables say, the job's table and its line for programs are sums
of these, and what is known to have been sent is counted by its path.

usage: stats.py MPIEXEC PROGRAM
"""
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import clean_env  # noqa: E402  pylint: disable=wrong-import-position

MPIEXEC, PROGRAM = (os.path.abspath(path) for path in sys.argv[1:3])
RANKS = 3
# Of which finalize itself adds nothing.
STABLE = ["writes", "reads", "bytes_written", "bytes_read", "messages_cell", "bytes_cell", "messages_mapped", "messages_copied", "messages_read",
          "messages_pulled", "bytes_pulled", "bytes_mapped", "bytes_cma", "near_locks", "flush_waits", "pages_huge"]
failed = 0


def check(true, words):
    global failed
    if not true:
        failed += 1
        print("FAILED ", words)


def run(*arguments, **env):
    """({rank: {counter: value}} by the program, standard error)."""
    clean = clean_env.environment()
    job = subprocess.run([MPIEXEC, "--timeout", "60", "-n", str(RANKS), PROGRAM, *arguments], env={**clean, "HOTLANE_CONF": "", **env},
                         capture_output=True, text=True, timeout=80, check=False)
    check(job.returncode == 0, f"exit code {job.returncode}: {job.stderr}")
    told = {rank: {} for rank in range(RANKS)}
    for rank, name, value in re.findall(r"^pvar (\d+) (\w+) (\d+)$", job.stdout, re.M):
        told[int(rank)][name] = int(value)
    return told, job.stderr


def sums(told):
    return {name: sum(told[rank][name] for rank in told) for name in told[0]}


for near in "1", "0":
    told, err = run(HOTLANE_STATS="2", HOTLANE_NEAR=near)
    lines = dict(re.findall(r"^hotlane: rank (\d+) \(\S+\): counters:(.*)$", err, re.M))
    check(len(lines) == RANKS, f"not one line by each rank: {err}")
    for rank, line in lines.items():
        shown = {name: int(value) for name, value in re.findall(r"(\w+)=(\d+)", line)}
        expected = {name: value for name, value in told[int(rank)].items() if value != 0}
        check(shown == expected, f"rank {rank}, near {near}: {set(shown.items()) ^ set(expected.items())}")
    total = sums(told)
    large = sum(total[f"messages_{way}"] for way in ("mapped", "copied", "read", "pulled"))
    check(large == 3 * RANKS, f"{large} large messages, near {near}")
    if near == "1":
        check(7 * RANKS <= total["messages_cell"] <= 27 * RANKS, f"{total['messages_cell']} messages in cells")
        check(7 * RANKS * 4096 <= total["bytes_cell"] <= total["messages_cell"] * 8192, f"{total['bytes_cell']} bytes in cells")
        check(10 * RANKS <= total["messages_eager"] <= 40 * RANKS, f"{total['messages_eager']} eager messages")
        check(total["bytes_mapped"] + total["bytes_cma"] >= 3 * RANKS * 400000 or total["messages_pulled"] > 0, "bytes of large ones")
        check(total["bytes_written"] == 0, "puts on the node went over the network")
    else:
        check(total["messages_port"] >= 17 * RANKS, f"{total['messages_port']} messages over ports")
        check(total["bytes_port"] >= 7 * RANKS * 4096, f"{total['bytes_port']} bytes over ports")
        check(total["bytes_written"] + total["bytes_chained"] >= 5 * 8 * RANKS, "bytes of puts over the network")
        # A flush need not wait: on a busy machine the answer may be there when it looks first.
        check(total["flush_waits"] > 0, f"{total['flush_waits']} flushes that waited")
        check(total["leases"] >= 5 * RANKS, f"{total['leases']} leases")
        check(total["lanes"] >= RANKS, f"{total['lanes']} lanes")

    told, err = run(HOTLANE_STATS="json", HOTLANE_NEAR=near)
    objects = [json.loads(line) for line in err.splitlines() if line.startswith("{")]
    check(len(objects) == 1 and objects[0]["ranks"] == RANKS and objects[0]["known"] == RANKS, f"not one object: {err}")
    counters = objects[0]["counters"]
    check(set(counters) == set(told[0]), f"other names: {set(counters) ^ set(told[0])}")
    total = sums(told)
    for name in STABLE:
        entry = counters[name]
        check(entry["sum"] == total[name], f"{name}: {entry} in the job's line, {total[name]} by performance variables")
        check(told[entry["most_at"]][name] == entry["most"] == max(t[name] for t in told.values()), f"{name}: most of {entry}")
        check(told[entry["least_at"]][name] == entry["least"] == min(t[name] for t in told.values()), f"{name}: least of {entry}")
    for name, entry in counters.items():
        check(entry["sum"] <= total[name], f"{name}: {entry} before the end, {total[name]} after it")

# One thread contends with nobody for its lane, though its first put to a target is tried again. A tick of the receive thread may hold the lane, but
# hardly in each of five runs.
contended = [sums(run(HOTLANE_NEAR="0", HOTLANE_LANES="1")[0])["leases_contended"] for _ in range(5)]
check(0 in contended, f"leases contended by one thread of each rank: {contended}")

# Four threads of each rank on one lane: puts travelled together, and woke receive threads. (Whether leases were contended is the scheduler's choice.)
total = sums(run("crowd", HOTLANE_NEAR="0", HOTLANE_LANES="1")[0])
for name, least in {"leases": RANKS * 4000, "chained": RANKS * 4000, "bytes_chained": RANKS * 4000 * 8, "messages": RANKS,
                    "rx_messages": RANKS, "rx_wakes": RANKS, "flush_waits": 1}.items():
    check(total[name] >= least, f"{name} with a crowd on one lane: {total[name]}, not {least} and more")

# Each communicator of the node that has called a collective has a board on each rank; where no two ranks share a node, none has.
for near, made in ("1", 2 * RANKS), ("0", 0):
    few, many = (sums(run("communicators", n, HOTLANE_NEAR=near, HOTLANE_COLL_SHARED="1")[0]) for n in ("3", "5"))
    check(many["boards"] - few["boards"] == made, f"boards of 3 communicators {few['boards']}, of 5 {many['boards']}, near {near}")
    refused = many["boards_refused"] - few["boards_refused"]
    check(refused == 2 * RANKS - made, f"{refused} boards refused for two communicators more, near {near}")

total = sums(run(HOTLANE_CMA="0")[0])
check(total["bytes_pulled"] >= total["messages_pulled"] * 400000 > 0, f"{total['bytes_pulled']} bytes of {total['messages_pulled']} messages in pieces")

told, err = run(HOTLANE_STATS="2", MPICH_ALLOC_MEM_AFFINITY="DDR", HOTLANE_MEM_REPORT="0")
check(sums(told)["pages_base"] >= RANKS, "pages of memory that was asked for by kind")
told, err = run(HOTLANE_STATS="1")
rows = dict(re.findall(r"^hotlane: rank 0 \(\S+\): +(\w+) +(\d+) +\d+ +\d+ +\d+ +\d+  \S", err, re.M))
check(f"statistics of {RANKS} of {RANKS} ranks" in err and len(re.findall("rank [12] ", err)) == 0, f"no table by rank 0 alone: {err}")
for name in STABLE:
    check(int(rows.get(name, 0)) == sums(told)[name], f"{name} in the table: {rows.get(name)}, not {sums(told)[name]}")
check("hotlane:" not in run()[1], "statistics that nobody asked for")
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for _ in range(2):
        check(run(HOTLANE_STATS="json", HOTLANE_STATS_FILE="stats")[1].count("{") == 0, "a file was asked for")
    with open("stats", encoding="utf-8") as f:
        check([json.loads(line)["ranks"] for line in f] == [RANKS, RANKS], "not two lines in the file")
    os.chdir("/")
sys.exit(failed != 0)
