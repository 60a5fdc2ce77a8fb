#!/usr/bin/env python3
"""A rank dies with a window's lock, or waiting for it: who asks for the lock is told that it died, or gets it, near and by the network.

usage: lock_death.py MPIEXEC PROGRAM
"""
import os
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import side_by_side  # noqa: E402  pylint: disable=wrong-import-position

LIMIT = 60  # seconds; who hangs does so for ever


def run(near, kept, asked, when):
    """What is to be printed, and whether both who asked got their answer."""
    want = "got" if kept == "queued" or (kept == "shared" and asked != "exclusive") else "told"
    try:
        done = subprocess.run([sys.argv[1], "--keep-going", "-n", "4", sys.argv[2], kept, asked, when], text=True, timeout=LIMIT,
                              env={**os.environ, "HOTLANE_NEAR": near}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        out = done.stdout
    except subprocess.TimeoutExpired as late:
        out = f"nothing after {LIMIT} s\n{late.stdout}"
    lines = [line for line in out.splitlines() if line.startswith(want + ":")]
    good = len(lines) == 2 and (want == "got" or all("rank 2 died" in line for line in lines))
    return f"near={near} {kept} {asked} {when}: {want if good else 'FAILED'}\n" + ("" if good else out), good


rows = [(near, kept, asked, when) for near in ("1", "0")
        for kept, asked in (("exclusive", "exclusive"), ("exclusive", "shared"), ("exclusive", "all"), ("shared", "exclusive"),
                            ("shared", "shared"), ("shared", "all"), ("queued", "exclusive"), ("queued", "all"))
        for when in ("before", "after")]
sys.exit(side_by_side.run(run, rows) != 0)
