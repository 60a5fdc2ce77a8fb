#!/usr/bin/env python3
"""MPI_Finalize while a thread waits in another call: it says so and ends the job; nobody waits for ever.

usage: left.py MPIEXEC PROGRAM [ordered]

ordered: without the scene whose thread begins its call while the library ends, of which sanitizers say rightly that the program's threads
race: a call is seen from its first wait on, and its first instructions may look at what is closed.
"""
import os
import re
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import clean_env  # noqa: E402  pylint: disable=wrong-import-position

mpiexec, program = sys.argv[1:3]
ONE = r"MPI_Finalize: .*1 other thread is still in calls \({}\), which would never return"
SCENES = {
    "recv": ONE.format("MPI_Recv"), "wait": ONE.format("(MPI_Wait|an MPI call)"), "probe": ONE.format("MPI_Probe"),
    "barrier": ONE.format("MPI_Barrier"), "lock": ONE.format("MPI_Win_lock"),
    "two": r"2 other threads are still in calls \((MPI_Probe, MPI_Recv|MPI_Recv, MPI_Probe)\)",
    "new": ONE.format("MPI_Recv") + "|MPI_Recv: another thread has ended the library, and "
    "|called after MPI_Finalize",
    "gone": ONE.format("MPI_Probe"),
    "kept": None, "helped": None,
}
if sys.argv[3:] == ["ordered"]:
    del SCENES["new"]
failed = 0
for near in "1", "0":
    for scene, words in SCENES.items():
        for ranks in (2,) if scene in ("barrier", "lock", "gone") else (1, 2):
            env = {**clean_env.environment(), "HOTLANE_CONF": "", "HOTLANE_NEAR": near}
            for _ in range(3 if scene in ("gone", "new") else 1):
                done = subprocess.run([mpiexec, "--oversubscribe", "--timeout", "30", "-n", str(ranks), program, scene], env=env,
                                      text=True, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
                good = done.returncode == 0 if words is None else bool(done.returncode not in (0, 124) and re.search(words, done.stdout))
                # New: each moment must end well. Gone: its threads must be in their calls in time.
                if good == (scene != "new"):
                    break
            print(f"{scene}, {ranks} ranks, near {near}: {'as it should' if good else f'FAILED: {done.returncode} {done.stdout}'}")
            failed += not good
sys.exit(failed != 0)
