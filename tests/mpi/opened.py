#!/usr/bin/env python3
"""Ranks of a node open each other's memory by what its owners list, and ask nobody: usage opened.py MPIEXEC PROGRAM RANKS WINDOWS, the
program rma_apart. The lists have room for 64 segments of a rank; with more windows than that the rest are asked for."""
import os
import re
import subprocess
import sys

ROOM = 64

mpiexec, program, ranks, windows = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
job = subprocess.run([mpiexec, "-n", str(ranks), "--timeout", "100", program, str(windows)], text=True, timeout=110,
                     env={**os.environ, "HOTLANE_STATS": "2"}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
opened = [int(n) for n in re.findall(r"\bnear_opened=(\d+)", job.stdout)]
asked = sum(int(n) for n in re.findall(r"\bnear_asked=(\d+)", job.stdout))  # counters that are zero are not printed
print(f"opened {sorted(set(opened))}, asked {asked}")
if job.returncode or len(opened) != ranks:
    sys.exit(f"the job ended with {job.returncode}:\n{job.stdout[-4000:]}")
if windows < ROOM:
    sys.exit(set(opened) != {(ranks - 1) * windows} or asked != 0)
sys.exit(max(opened) > (ranks - 1) * ROOM or asked < ranks * (ranks - 1) * windows - sum(opened))
