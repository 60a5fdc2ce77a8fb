#!/usr/bin/env python3
"""The receive thread wakes for what is for it: usage wakes.py MPIEXEC PROGRAM MOST, the program on two ranks, whose receive threads
may wake so often. One that is woken until another thread has read the launcher's answer wakes thousands of times; one that wakes another
thread for each message wakes as often as messages come."""
import os
import re
import subprocess
import sys

most = int(sys.argv[3])
job = subprocess.run([sys.argv[1], "-n", "2", "--timeout", "60", sys.argv[2]], text=True, timeout=70, env={**os.environ, "HOTLANE_STATS": "2"},
                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
wakes = [int(n) for n in re.findall(r"\brx_wakes=(\d+)", job.stdout)]
print(f"wakes: {wakes}")
sys.exit(job.returncode != 0 or len(wakes) != 2 or max(wakes) > most)
