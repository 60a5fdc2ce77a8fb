#!/usr/bin/env python3
"""A rank dies in the middle of collective operations over node-shared memory: each survivor is told; nobody hangs.

usage: coll_death.py MPIEXEC PROGRAM
"""
import os
import random
import re
import subprocess
import sys

OPERATIONS = ("barrier", "bcast", "bcast+", "allreduce", "allreduce+", "reduce", "reduce+", "gather", "gather+", "scatter", "scatter+",
              "allgather", "allgather+", "alltoall", "alltoall=", "alltoall+", "ialltoall", "ialltoall+")
random.seed(os.environ.get("TEST_SEED"))


def runs():
    """Operation, ranks, microseconds before the death, communicators: anywhere, and while these get their memory."""
    for operation in OPERATIONS:
        yield operation, random.choice((2, 3, 4, 8)), random.randrange(30000), 0
    for operation in ("barrier", "allreduce", "alltoall", "alltoall+"):
        for _ in range(20):
            yield operation, 8, random.randrange(10000), 100


failed = 0
for operation, ranks, wait, comms in runs():
    command = [sys.argv[1], "--keep-going", "-n", str(ranks), sys.argv[2], operation, str(wait), str(comms)]
    try:
        done = subprocess.run(command, text=True, timeout=60, stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout
    except subprocess.TimeoutExpired as late:
        done = f"no end: {late.stdout}"
    good = len(re.findall("^told: ", done, re.M)) == ranks - 1
    print(f"{operation}, {ranks} ranks, {wait} us, {comms} communicators: {'told' if good else 'FAILED'}\n" + ("" if good else str(done)))
    failed += not good
sys.exit(failed != 0)
