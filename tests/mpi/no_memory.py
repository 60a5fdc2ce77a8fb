#!/usr/bin/env python3
"""Each allocation of one rank in each collective call fails once: all ranks return, or the job ends with a line; nobody waits for ever.

usage: no_memory.py MPIEXEC PROGRAM
"""
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import clean_env  # noqa: E402  pylint: disable=wrong-import-position

mpiexec, program = sys.argv[1:]
SCENES = ("dup", "idup", "split", "split_unguided", "create_group", "from_group", "inter", "graph", "win_create", "win_allocate",
          "win_network", "win_shared", "win_dynamic", "file_open", "barrier", "alltoall")
LINE = re.compile(r"^hotlane: rank \d+ .*(no memory|no room|cannot be told)", re.M | re.I)


def play(scene, ranks, folder):
    """The number of allocations, how often the job has ended, and what went wrong, or nothing."""
    first = ends = 0
    while True:
        env = {**clean_env.environment(), "HOTLANE_CONF": "", **({"HOTLANE_NEAR": "none"} if scene == "win_network" else {})}
        done = subprocess.run([mpiexec, "--oversubscribe", "--timeout", "30", "-n", str(ranks), program, scene, str(first),
                               os.path.join(folder, scene)], env=env, text=True, check=False, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=60)
        tried = [int(n) for n in re.findall(r"^allocation (\d+)$", done.stdout, re.M)]
        if done.returncode == 0 and "all have succeeded" in done.stdout:
            return tried[-1], ends, ""
        if re.search(r"^next$", done.stdout, re.M):
            first = tried[-1] + 1
            continue
        if done.returncode == 124 or not tried or "not true" in done.stdout or not LINE.search(done.stdout):
            return tried[-1:], ends, f"returned {done.returncode}\n{done.stdout[-1500:]}"
        first = tried[-1] + 1
        ends += 1


failed = 0
with tempfile.TemporaryDirectory() as place, concurrent.futures.ThreadPoolExecutor(2) as pool:
    jobs = {scene: pool.submit(play, scene, 3, place) for scene in SCENES}
    for name, job in jobs.items():
        count, ended, wrong = job.result()
        print(f"{name}: {'FAILED at' if wrong else 'as it should,'} {count} allocations, the job has ended {ended} times {wrong}", flush=True)
        failed += bool(wrong)
sys.exit(failed != 0)
