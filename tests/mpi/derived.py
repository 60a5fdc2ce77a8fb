#!/usr/bin/env python3
"""One-sided calls with requests and derived types take no longer on the node than over the network: three runs each, one after the
other in turns, and of each kind of window and call the median near against the median over the network.

usage: derived.py MPIEXEC RMA_DERIVED
"""
import os
import statistics
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import clean_env

RUNS, TIMES, ROWS = 3, 8, 9
WAYS = {"near": {}, "over the network": {"HOTLANE_NEAR": "0"}}
mpiexec, program = sys.argv[1:]


def seconds(more):
    """{window and call: seconds}"""
    done = subprocess.run([mpiexec, "-n", "2", "--timeout", "250", program, str(TIMES)], env={**clean_env.environment(), **more},
                          capture_output=True, text=True, check=False)
    rows = [line.split() for line in done.stdout.splitlines()]
    found = {f"{r[0]}, {r[1]}": float(r[2]) for r in rows if len(r) == 3 and r[1].startswith("MPI_R")}
    if done.returncode != 0 or len(found) != ROWS:
        sys.exit(f"{program} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return found


runs = {way: [] for way in WAYS}
for _ in range(RUNS):
    for way, more in WAYS.items():
        runs[way].append(seconds(more))
slower = []
for row in runs["near"][0]:
    near, far = (statistics.median(found[row] for found in runs[way]) for way in WAYS)
    print(f"{row + ':':32} {near * 1000:9.1f} ms near, {far * 1000:9.1f} ms over the network")
    slower += [row] if near > far else []
if slower:
    sys.exit("slower near than over the network: " + "; ".join(slower))
