#!/usr/bin/env python3
"""A rank dies while windows, files and intercommunicators are made: all survivors are told by the same call, or none; nobody hangs.

usage: make_death.py MPIEXEC PROGRAM
"""
import os
import random
import re
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import side_by_side  # noqa: E402  pylint: disable=wrong-import-position

RANKS, RUNS = 8, 8
# Microseconds that making takes: the time of the death is below.
WAYS = (({}, 1500), ({"HOTLANE_CLIQUES": "2"}, 6000), ({"HOTLANE_NEAR": "0"}, 15000))
random.seed(os.environ.get("TEST_SEED"))


def run(way, what, wait, folder):
    """What is to be printed, and whether the survivors agreed."""
    command = [sys.argv[1], "--keep-going", "-n", str(RANKS), sys.argv[2], what, str(wait), folder]
    try:
        done = subprocess.run(command, text=True, timeout=60, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env={**os.environ, **way}).stdout
    except subprocess.TimeoutExpired as late:
        done = f"no end: {late.stdout}"
    # Between pretended hosts no memory is shared.
    allowed = ("told", "made", "wrong") if what == "shared" and way else ("told", "made")
    words = re.findall("^(?:told|made|wrong)$", done, re.M)
    kinds = 2 if what == "inter" else 1  # groups may differ
    good = len(words) == RANKS - 1 and set(words) <= set(allowed) and len(set(words)) <= kinds
    return f"{what}, death after {wait} us, {way}: {'good' if good else 'FAILED'}" + ("" if good else f"\n{done}"), good


with tempfile.TemporaryDirectory() as top:
    rows = [(way, what, random.randrange(most), tempfile.mkdtemp(dir=top))  # their files have one name
            for way, most in WAYS for what in ("create", "allocate", "shared", "dynamic", "file", "inter") for _ in range(RUNS)]
    failed = side_by_side.run(run, rows)
sys.exit(failed != 0)
