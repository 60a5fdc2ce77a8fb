#!/usr/bin/env python3
"""What SHMEM_VERSION, SHMEM_INFO and SHMEM_ENV_DISPLAY show: by PE 0 alone, and nothing when they are off.

usage: show.py MPIEXEC PROGRAM
"""
import os
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import clean_env  # noqa: E402  pylint: disable=wrong-import-position

mpiexec, program = sys.argv[1:]
failed = 0


def shown(**more):
    """The lines of standard error of a job of two PEs."""
    env = clean_env.environment()
    env.update(HOTLANE_CONF="", **more)
    done = subprocess.run([mpiexec, "-n", "2", program], env=env, capture_output=True, text=True, timeout=50)
    assert done.returncode == 0, done.stderr
    return done.stderr.splitlines()


def check(true, words, lines):
    global failed
    if not true:
        failed += 1
        print(words, *lines, sep="\n")


lines = shown()
check(lines == [], "nothing asked:", lines)
lines = shown(SHMEM_VERSION="0", SHMEM_INFO="")
check(lines == [], "switched off:", lines)
for name in "SHMEM_VERSION", "SMA_VERSION":
    lines = shown(**{name: "1"})
    check(len(lines) == 1 and "Hotlane" in lines[0] and "OpenSHMEM 1." in lines[0], name, lines)
lines = shown(SHMEM_ENV_DISPLAY="1", SHMEM_SYMMETRIC_SIZE="3.5M")
check("SHMEM_SYMMETRIC_SIZE=3.5M" in lines and not any(x.startswith("HOTLANE_LANES") for x in lines), "display:", lines)
for name in "XT_SYMMETRIC_HEAP_SIZE", "SHMEM_SYMMETRIC_HEAP_SIZE":
    lines = shown(SHMEM_ENV_DISPLAY="1", **{name: "3.5M"})
    check("SHMEM_SYMMETRIC_SIZE=3.5M" in lines, "other libraries' names of the heap's size:", lines)
lines = shown(SHMEM_INFO="1")
check(sum(x.startswith("SHMEM_SYMMETRIC_SIZE=auto") for x in lines) == 1, "info:", lines)
check(any(x.startswith("HOTLANE_LANES=") for x in lines), "info:", lines)
sys.exit(failed != 0)
