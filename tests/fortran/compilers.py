#!/usr/bin/env python3
"""Builds the Fortran interface with another compiler than gfortran, and runs its quick tests there.

usage: compilers.py SOURCE FOLDER [COMPILER]

Without COMPILER the newest flang of PATH that describes arrays as gfortran does (20 or later). FOLDER is the build, which is
kept. Exit code 77 with the reason: there is no such compiler."""
import os
import re
import shutil
import subprocess
import sys

OLDEST = 20
NAMES = ["flang", "flang-new", *(f"flang-{n}" for n in range(OLDEST, 40))]


def version_of(compiler):
    said = subprocess.run([compiler, "--version"], capture_output=True, text=True).stdout
    found = re.search(r"flang.* version (\d+)", said)
    return int(found[1]) if found else 0


def newest_flang():
    there = {path: version_of(path) for path in filter(None, map(shutil.which, NAMES))}
    best = max(there, key=there.get, default=None)
    if best is None or there[best] < OLDEST:
        print(f"skipped: there is no flang from version {OLDEST} on, only " + (", ".join(f"{p} {v}" for p, v in there.items()) or "none"))
        sys.exit(77)
    return best


def main(source, folder, compiler=None):
    env = {**os.environ, "FC": compiler or newest_flang()}
    setup = ["meson", "setup", folder, source, "-Dbuildtype=debugoptimized", "-Db_lto=false", "-Dfortran=enabled", "-Dperf=disabled"]
    for step in (setup + (["--reconfigure"] if os.path.exists(os.path.join(folder, "build.ninja")) else []),
                 ["meson", "test", "-C", folder, "--suite", "fortran", "--no-suite", "foreign", "--print-errorlogs"]):
        if subprocess.run(step, env=env, stdin=subprocess.DEVNULL).returncode != 0:
            sys.exit(f"{env['FC']}: this fails: {' '.join(step)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
