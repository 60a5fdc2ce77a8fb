#!/usr/bin/env python3
"""The receive thread wakes for what is for it, not for answers to others: usage wakes.py MPIEXEC PROGRAM, the program on two ranks of
the node. A thread that is woken until another one has read its answer wakes thousands of times."""
import os
import re
import subprocess
import sys

MOST = 1500  # of a rank; it is told of some hundred records and bells

job = subprocess.run([sys.argv[1], "-n", "2", "--timeout", "60", sys.argv[2]], text=True, timeout=70, env={**os.environ, "HOTLANE_STATS": "2"},
                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
wakes = [int(n) for n in re.findall(r"\brx_wakes=(\d+)", job.stdout)]
print(f"wakes: {wakes}")
sys.exit(job.returncode != 0 or len(wakes) != 2 or max(wakes) > MOST)
