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

RANKS, RUNS = 8, 8
# Microseconds that making takes: the time of the death is below.
WAYS = (({}, 1500), ({"HOTLANE_CLIQUES": "2"}, 6000), ({"HOTLANE_NEAR": "0"}, 15000))
random.seed(os.environ.get("TEST_SEED"))
failed = 0
with tempfile.TemporaryDirectory() as folder:
    for way, most in WAYS:
        for what in ("create", "allocate", "shared", "dynamic", "file", "inter"):
            for wait in (random.randrange(most) for _ in range(RUNS)):
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
                failed += not good
                print(f"{what}, death after {wait} us, {way}: {'good' if good else 'FAILED'}" + ("" if good else f"\n{done}"))
sys.exit(failed != 0)
