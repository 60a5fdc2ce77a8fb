#!/usr/bin/env python3
"""Builds Sandia's OpenSHMEM tests with our oshcc and oshc++ and passes their `make check`, on the node and over the network.

usage: sandia.py TOOLS   (the folder of oshcc, oshc++ and oshrun)

The sources come from the tree that the environment's SANDIA_SOURCE names, a clone of openshmem-org/tests-sos, which no package has;
without it, or without autoconf and automake, the exit code is 77 and the reason is printed. Left out are only the tests of extensions
that Sandia's own library has (--enable-shmemx)."""
import os
import pathlib
import re
import shutil
import sys
import tempfile

import mpich
from coarrays import run

WAYS = {"near": {}, "net": {"HOTLANE_NEAR": "0"}}
LEAST = 150  # tests that there are at the least, so that a tree without them does not pass
PROCESSES = "2"


def must(words, **more):
    code, text = run(words, **more)
    if code != 0:
        sys.exit(f"{' '.join(map(str, words))} fails:\n{text[-4000:]}")


def check(folder, env):
    """`make check`; returns how many of its tests passed, or None, and what it printed."""
    code, text = run(["make", "-k", "check", f"NPROCS={PROCESSES}"], cwd=folder, env=env)
    told = [sum(map(int, re.findall(rf"^# {what}: +(\d+)", text, re.M))) for what in ("TOTAL", "PASS")]
    return told[1] if code == 0 and told[0] == told[1] >= LEAST else None, text


def main(tools):
    tools, given = pathlib.Path(tools).resolve(), os.environ.get("SANDIA_SOURCE")
    if not given:
        mpich.skip("SANDIA_SOURCE names no clone of openshmem-org/tests-sos")
    if not shutil.which("autoreconf") or not shutil.which("automake"):
        mpich.skip("there is no autoconf or no automake")
    env = {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
    with tempfile.TemporaryDirectory(prefix="hotlane-sandia-") as temp:
        source, folder = pathlib.Path(temp) / "source", pathlib.Path(temp) / "build"
        shutil.copytree(given, source, ignore=shutil.ignore_patterns(".git", "b", "build"))
        folder.mkdir()
        must(["./autogen.sh"], cwd=source, env=env)
        must([source / "configure", "CC=oshcc", "CXX=oshc++", "--enable-profiling", "--enable-deprecated-tests"], cwd=folder, env=env)
        must(["make", "-j2"], cwd=folder, env=env)
        bad = 0
        for way, more in WAYS.items():
            passed, text = check(folder, {**env, **more})
            print(f"{way}: {passed} tests passed" if passed else f"{way}: not all passed:\n{text[-6000:]}", flush=True)
            bad += not passed
        sys.exit(bad != 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
