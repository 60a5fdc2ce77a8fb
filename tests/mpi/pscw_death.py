#!/usr/bin/env python3
"""A rank dies in an epoch by groups: both others are told within 5 seconds, near and by the network.

usage: pscw_death.py MPIEXEC PROGRAM
"""
import os
import re
import subprocess
import sys

failed = 0
for near in ("1", "0"):
    for scene in ("wait", "start", "complete", "given-up"):
        done = subprocess.run([sys.argv[1], "--keep-going", "-n", "3", sys.argv[2], scene], text=True, timeout=60,
                              env={**os.environ, "HOTLANE_NEAR": near}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        told = [float(s) for s in re.findall(r"told after ([0-9.]+) s: .*", done.stdout)]
        good = len(told) == 2 and max(told) < 5 and "wrong" not in done.stdout
        print(f"near={near} {scene}: {'told' if good else 'FAILED'}\n" + ("" if good else done.stdout))
        failed += not good
sys.exit(failed != 0)
