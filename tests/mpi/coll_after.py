#!/usr/bin/env python3
"""A rank has died before collective operations: each of the survivors' calls ends, with an error where
the dead one's part is wanting; nobody waits for a living one for ever.

usage: coll_after.py MPIEXEC PROGRAM
"""
import itertools
import os
import random
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import side_by_side  # noqa: E402  pylint: disable=wrong-import-position

OPERATIONS = ("barrier", "alltoall", "ialltoall", "idup", "allgather", "allreduce", "iallreduce", "scatter of sums", "reduce", "gather", "bcast")
random.seed(os.environ.get("TEST_SEED"))


def run(operation, barriers, near, ranks):
    """What is to be printed, and whether all survivors came to the end."""
    command = [sys.argv[1], "--keep-going", "--timeout", "30", "-n", str(ranks), sys.argv[2], operation, str(barriers)]
    done = subprocess.run(command, text=True, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**os.environ, "HOTLANE_NEAR": near}).stdout
    good = done.count("over\n") == ranks - 1
    return f"{operation} after {barriers} barriers, {ranks} ranks, near {near}: {'over' if good else 'FAILED: ' + done}", good


rows = [(*row, random.choice((3, 4))) for row in itertools.product(OPERATIONS, (0, 1, 5), ("1", "0"))]
sys.exit(side_by_side.run(run, rows) != 0)
