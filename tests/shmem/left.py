#!/usr/bin/env python3
"""shmem_finalize while a thread waits in a call of OpenSHMEM and MPI is open, too: it says so and ends the job; nobody waits for ever.

usage: left.py MPIEXEC PROGRAM
"""
import os
import re
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import clean_env  # noqa: E402  pylint: disable=wrong-import-position

mpiexec, program = sys.argv[1:]
# Some calls leave no frame in builds that are optimized: then their names are not known.
SCENES = {"quiet": "shmem_quiet", "ctx_quiet": "shmem_ctx_quiet", "pe_quiet": "shmem_pe_quiet", "put": "shmem_putmem", "get": "shmem_long_g",
          "getmem": "shmem_getmem", "iput": "shmem_long_iput", "fetch": "shmem_long_atomic_fetch_add", "set_lock": "shmem_set_lock",
          "wait_until": "shmem_long_wait_until", "barrier": "shmem_barrier_all", "malloc": "shmem_malloc", "realloc": "shmem_realloc", "free": "shmem_free"}
failed = 0
for scene, call in SCENES.items():
    for _ in range(3):  # the thread must be in its call and tell its name in time
        done = subprocess.run([mpiexec, "--oversubscribe", "--timeout", "30", "-n", "2", program, scene], text=True, check=False,
                              env={**clean_env.environment(), "HOTLANE_CONF": "", "HOTLANE_NEAR": "0"}, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=60)
        words = rf"shmem_finalize: 1 other thread is still in calls \(({call}|an OpenSHMEM call)\), which would never return"
        good = done.returncode not in (0, 124) and re.search(words, done.stdout)
        if good:
            break
    print(f"{scene}: {'as it should' if good else f'FAILED: {done.returncode} {done.stdout}'}")
    failed += not good
sys.exit(failed != 0)
