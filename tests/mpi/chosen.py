#!/usr/bin/env python3
"""HOTLANE_LOG=info says once what a run has found and chosen, debug also where each rank is; warn says none of it.

usage: chosen.py MPIEXEC HELLO
"""
import os
import re
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import clean_env  # noqa: E402  pylint: disable=wrong-import-position

failed = 0
JOB = [r"rank 0 .*start-up by pmi1: ", r"memory: .*; pages of \d+K"]
NEAR = [r"rank 0 .*2 processes, 2 on this node; .* shared memory"]
FAR = [r"rank 0 .*2 processes, 1 on this node; the others are reached by \w+", r"rank 0 .*\b1 lane when somebody needs them: not MPI_THREAD_MULTIPLE",
       r"rank [01] .*network: "]


def lines_of(ranks, **env):
    clean = clean_env.environment("PMI")
    command = [sys.argv[1], "--oversubscribe", "--timeout", "60", "-n", str(ranks), sys.argv[2], "single"]
    job = subprocess.run(command, env={**clean, "HOTLANE_CONF": "", **env}, capture_output=True, text=True, timeout=80, check=False)
    return job.returncode, [line for line in job.stderr.splitlines() if line.startswith("hotlane: ")]


def check(what, got, patterns):
    global failed
    code, lines = got
    missing = [p for p in patterns if not any(re.search(p, line) for line in lines)]
    more = lines if not patterns else []  # what a machine lacks is told at info, too
    if code != 0 or missing or more:
        failed += 1
        print(f"FAILED  {what}: code {code}, missing {missing}, not expected {more}")


for near, words in (("1", NEAR), ("0", FAR)):
    check(f"warn, near {near}", lines_of(2, HOTLANE_NEAR=near), [])
    check(f"info, near {near}", lines_of(2, HOTLANE_LOG="info", HOTLANE_NEAR=near), JOB + words)
    check(f"debug, near {near}", lines_of(2, HOTLANE_LOG="debug", HOTLANE_NEAR=near),
          JOB + words + [rf"rank {r} .*number \d of \d on this node, process \d+, \d+ CPU" for r in range(2)])
# More ranks than four for each CPU of the machine have small buffers. Buffers of tcp;ofi_rxm are what can be set, up to 16 KiB.
crowd = 4 * os.sysconf("SC_NPROCESSORS_ONLN") + 1
CROWDS = [(crowd - 1, {}, 16384), (crowd, {}, 4096), (crowd, {"HOTLANE_SMALL": "0"}, 16384), (2, {"HOTLANE_SMALL": "yes"}, 4096)]
for ranks, more, size in CROWDS:
    if ranks <= 20:
        check(f"{ranks} ranks, {more}", lines_of(ranks, HOTLANE_LOG="info", HOTLANE_NEAR="0", HOTLANE_PROVIDER="tcp;ofi_rxm", **more),
              [rf"rank 0 .*network: .*, messages up to {size} bytes without a hand-shake"])
    else:
        print(f"{ranks} ranks, {more}: too many for this machine")
print(f"{10 - failed} of 10 hold")
sys.exit(1 if failed else 0)
