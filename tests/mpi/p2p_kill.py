#!/usr/bin/env python3
"""A rank dies in the middle of each kind of operation: its peers are told by name and go on, or the job ends.

usage: p2p_kill.py MPIEXEC PROGRAM WAY...    with WAY: near, pull, net, cliques; or scenes=A,B,...
"""
import concurrent.futures
import os
import subprocess
import sys
import time

LIMIT = 90  # seconds; who hangs does so for ever
WAYS = {"near": {}, "net": {"HOTLANE_NEAR": "0"}, "pull": {"HOTLANE_CMA": "0", "HOTLANE_INBOXES": "4"},
        "cliques": {"HOTLANE_CLIQUES": "2"}}
APART = {"net": ["win_shared"], "cliques": ["win_shared"]}  # scenes of ranks that share memory


def run(way, scene, *options):
    begin = time.monotonic()
    try:
        job = subprocess.run([sys.argv[1], *options, "-n", "3", sys.argv[2], scene], text=True, timeout=LIMIT,
                             env={**os.environ, **WAYS[way]}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        out, code = job.stdout, job.returncode
    except subprocess.TimeoutExpired as late:
        out, code = (late.stdout or b"").decode(errors="replace") + "hangs\n", -1
    return out, code, time.monotonic() - begin


def goes_on(way, scene):
    out, code, _ = run(way, scene, "--keep-going", "--timeout", str(LIMIT - 5))
    good = code == 137 and out.count("went on") == 2 and "told" in out and "wrong" not in out
    return f"{way} {scene}", good, out


def ends(way, scene):
    out, code, seconds = run(way, scene, "--timeout", str(LIMIT - 5))
    return f"{way} {scene}, the job ends", code == 137 and seconds < LIMIT / 2 and "went on" not in out, out


if __name__ == "__main__":
    ways = [w for w in sys.argv[3:] if w in WAYS]
    chosen = [w[7:].split(",") for w in sys.argv[3:] if w.startswith("scenes=")]
    scenes = chosen[0] if chosen else subprocess.run([sys.argv[2]], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        jobs = [pool.submit(goes_on, way, scene) for way in ways for scene in scenes if scene not in APART.get(way, ())]
        jobs += [pool.submit(ends, way, scene) for way in ways for scene in scenes if scene in ("receive_any", "barrier")]
        for job in jobs:
            what, good, out = job.result()
            print(f"{'ok' if good else 'FAILED'}  {what}" + ("" if good else f"\n{out}"))
            failed += not good
    sys.exit(failed != 0)
