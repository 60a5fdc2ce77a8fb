#!/usr/bin/env python3
"""The stencil in Fortran has the hash of the serial run in C, for every problem, signal and path, and says what it refuses."""
import argparse
import json
import os
import subprocess
import sys
import tempfile

PROBLEMS = {"orszag-tang": "64,64", "brio-wu": "64,16", "alfven": "32,32", "blast": "16,16,16", "sedov": "16,16,16"}
RANKS_AND_THREADS = [(1, 1), (2, 4), (3, 2)]


WRONG = {"--patch 3": "--zones must be multiples of --patch", "--problem x": "--problem x is none", "--steps a": "--steps a is not understood",
         "--nonsense 1": "--nonsense is no option"}


def is_refused(program, words, why):
    """Into a file, where Fortran keeps the words back until it is told."""
    with tempfile.TemporaryFile("w+") as said:
        code = subprocess.run([program, *words.split()], stdout=subprocess.DEVNULL, stderr=said, timeout=100, stdin=subprocess.DEVNULL,
                              check=False).returncode
        said.seek(0)
        text = said.read().strip()
    right = code == 2 and f"stencil_fortran: {why}" in text
    print(f"{'ok  ' if right else 'FAIL'} {words} is refused: exit code {code}, {text!r}", flush=True)
    return right


def results(command, environment=None):
    done = subprocess.run(command, env={**os.environ, "OMP_WAIT_POLICY": "passive", **(environment or {})}, capture_output=True, text=True,
                          timeout=100, stdin=subprocess.DEVNULL, check=False)
    if done.returncode != 0 or "{" not in done.stdout:
        print(f"FAIL {' '.join(command)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        sys.exit(1)
    return json.loads(done.stdout[done.stdout.index("{"):])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True)
    parser.add_argument("--problem", choices=PROBLEMS)
    options = parser.parse_args()
    tool = {name: os.path.join(options.build, *name.split("/")) for name in ("tools/mpiexec", "perf/stencil", "perf/stencil_fortran")}
    bad = sum(not is_refused(tool["perf/stencil_fortran"], words, why) for words, why in WRONG.items())
    for problem in [options.problem] if options.problem else PROBLEMS:
        grid = ["--problem", problem, "--zones", PROBLEMS[problem], "--steps", "12"]
        serial = results([tool["perf/stencil"], "--serial", "--quiet", "--json", "-"] + grid)
        for path in ({}, {"HOTLANE_NEAR": "0"}):
            for ranks, threads in RANKS_AND_THREADS:
                for signal in ("notify", "put"):
                    run = results([tool["tools/mpiexec"], "-n", str(ranks), tool["perf/stencil_fortran"], "--patch", "8",
                                   "--threads", str(threads), "--signal", signal] + grid, path)
                    words = f"{problem}, {ranks} x {threads}, {signal}{', network' * bool(path)}"
                    right = run["hash"].lower() == serial["hash"] and run["steps"] == serial["steps"]
                    bad += not right
                    print(f"{'ok  ' if right else 'FAIL'} {words}: {run['hash']}, in C {serial['hash']}", flush=True)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
