#!/usr/bin/env python3
"""Builds the Fortran interface with another compiler than gfortran, and runs its tests there and that of what is installed.

usage: compilers.py SOURCE FOLDER [COMPILER]

Without COMPILER the newest flang of PATH that describes arrays as gfortran does (20 or later; Debian: flang-22 and, for
programs with threads, libomp-22-dev). FOLDER holds the build, which is kept, and a Meson of PyPI where the installed one does not know
flang. Exit code 77 with the reason: there is no such compiler, or no such Meson."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "foreign"))
import pypi  # noqa: E402

OLDEST = 20
MESON = (1, 6)
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


def add_meson(env, folder):
    """Puts a Meson that knows flang first in PATH."""
    said = subprocess.run(["meson", "--version"], capture_output=True, text=True).stdout
    if tuple(int(n) for n in re.findall(r"\d+", said)[:2]) < MESON:
        pypi.environment(folder, "meson >= {}.{}".format(*MESON))
        env["PATH"] = os.path.join(folder, "bin") + os.pathsep + env["PATH"]


def main(source, folder, compiler=None):
    env, build = {**os.environ, "FC": compiler or newest_flang()}, os.path.join(folder, "build")
    add_meson(env, pathlib.Path(folder).absolute() / "python")
    setup = ["meson", "setup", build, source, "-Dbuildtype=debugoptimized", "-Db_lto=false", "-Dfortran=enabled", "-Dperf=disabled"]
    for step in (setup + (["--reconfigure"] if os.path.exists(os.path.join(build, "build.ninja")) else []), ["ninja", "-C", build],
                 ["meson", "test", "-C", build, "--suite", "fortran", "--no-suite", "foreign", "--print-errorlogs"],
                 ["meson", "test", "-C", build, "--print-errorlogs", "install wrappers, pkg-config, CMake"]):
        if subprocess.run(step, env=env, stdin=subprocess.DEVNULL).returncode != 0:
            sys.exit(f"{env['FC']}: this fails: {' '.join(step)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
