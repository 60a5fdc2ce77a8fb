#!/usr/bin/env python3
"""A start for which one PE has no memory ends the job with the reason, whichever allocation fails: no PE waits for ever.

usage: starved.py MPIEXEC PROGRAM
"""
import os
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import clean_env  # noqa: E402  pylint: disable=wrong-import-position

mpiexec, program = sys.argv[1:]
failed = 0


def start(which, near):
    env = clean_env.environment()
    env.update(HOTLANE_CONF="", HOTLANE_NEAR=near, SHMEM_SYMMETRIC_SIZE="4M")
    return subprocess.run([mpiexec, "--oversubscribe", "-n", "3", "--timeout", "30", program, str(which)], env=env, capture_output=True,
                          text=True, check=False, timeout=60)


for near in "1", "0":
    which, out = 0, ""
    while "all have succeeded" not in out and not failed:
        done = start(which, near)
        out = done.stdout
        if done.returncode != 0 and not (done.returncode == 1 and "hotlane: rank 1 (" in done.stderr):
            failed += 1
            print(f"HOTLANE_NEAR={near}, allocation {which}: exit code {done.returncode}, says {done.stderr!r}")
        which += 1
    print(f"HOTLANE_NEAR={near}: {which} starts")
sys.exit(failed != 0)
