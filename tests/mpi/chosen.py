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
print(f"{6 - failed} of 6 hold")
sys.exit(1 if failed else 0)
