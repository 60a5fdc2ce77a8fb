#!/usr/bin/env python3
"""Ranks die in the middle of collective operations: each survivor is told; nobody hangs.

usage: coll_death.py MPIEXEC PROGRAM
"""
import os
import random
import re
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import side_by_side  # noqa: E402  pylint: disable=wrong-import-position

OPERATIONS = ("barrier", "bcast", "bcast+", "allreduce", "allreduce+", "reduce", "reduce+", "gather", "gather+", "scatter", "scatter+",
              "allgather", "allgather+", "alltoall", "alltoall=", "alltoall+", "ialltoall", "ialltoall+")
random.seed(os.environ.get("TEST_SEED"))


def runs():
    """Operation, ranks, microseconds before the death, communicators, deaths, environment: anywhere, and while communicators get
    their memory."""
    for operation in OPERATIONS:
        yield operation, random.choice((2, 3, 4, 8)), random.randrange(30000), 0, 1, {}
    for way in {}, {"HOTLANE_CLIQUES": "2"}, {"HOTLANE_NEAR": "0"}:
        for operation in ("barrier", "allreduce", "alltoall", "alltoall+"):
            for deaths in 1, 1, 1, 1, 1, 1, 1, 2, 2, 3:
                yield operation, 8, random.randrange(10000), 100, deaths, way


def run(operation, ranks, wait, comms, deaths, way):
    """What is to be printed, and whether all survivors were told."""
    command = [sys.argv[1], "--keep-going", "-n", str(ranks), sys.argv[2], operation, str(wait), str(comms), str(deaths)]
    try:
        done = subprocess.run(command, text=True, timeout=60, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, **way}).stdout
    except subprocess.TimeoutExpired as late:
        done = f"no end: {late.stdout}"
    good = len(re.findall("^told: ", done, re.M)) == ranks - deaths
    return (f"{operation}, {ranks} ranks, {deaths} die after {wait} us, {comms} communicators, {way}: {'told' if good else 'FAILED'}"
            + ("" if good else f"\n{done}")), good


sys.exit(side_by_side.run(run, runs()) != 0)
