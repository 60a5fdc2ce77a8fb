#!/usr/bin/env python3
"""A rank dies in an epoch by groups: both others are told within 5 seconds, at least once in three, near and by the network.

usage: pscw_death.py MPIEXEC PROGRAM
"""
import os
import re
import subprocess
import sys

failed = 0
for near in ("1", "0"):
    for scene in ("wait", "start", "complete", "given-up", "late", "post"):
        for _ in range(3):
            done = subprocess.run([sys.argv[1], "--keep-going", "-n", "3", sys.argv[2], scene], text=True, timeout=90,
                                  env={**os.environ, "HOTLANE_NEAR": near}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            told = [float(s) for s in re.findall(r"told after ([0-9.]+) s: .*", done.stdout)]
            right = len(told) == 2 and "wrong" not in done.stdout
            good = right and max(told) < 5
            if good or not right:
                break
        print(f"near={near} {scene}: {'told' if good else 'FAILED'}\n" + ("" if good else done.stdout))
        failed += not good
sys.exit(failed != 0)
