#!/usr/bin/env python3
"""What is said of addresses that are not symmetric, of programs that differ, and of data that cannot be shared.

usage: wrong.py MPIEXEC WRONG OTHER STATICS PLUGIN
"""
import os
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import clean_env  # noqa: E402  pylint: disable=wrong-import-position

mpiexec, wrong, other, statics, plugin = sys.argv[1:]
failed = 0


def run(args, **settings):
    env = clean_env.environment()
    env.update(HOTLANE_CONF="", **settings)
    done = subprocess.run([mpiexec, "--timeout", "60"] + args, env=env, capture_output=True, text=True, timeout=80)
    return done.returncode, done.stderr


def check(args, code, words, times=None, **settings):
    """The exit code, and that there are lines with the words (so many of them)."""
    global failed
    got, err = run(args, **settings)
    lines = [line for line in err.splitlines() if words and words in line]
    if got != code or (len(lines) != times if times is not None else not lines):
        failed += 1
        print(f"{args} {settings}: exit code {got}, wanted {code} and {words!r}\n{err}")


check(["-n", "2", wrong, "constant"], 1, "it is constant, or")
check(["-n", "2", wrong, "local"], 1, "is not symmetric: it is neither in the heap")
check(["-n", "2", wrong, "late", plugin], 1, "loaded after shmem_init")
check(["-n", "2", wrong, "pe"], 1, "PE 2 does not exist")
for near in "1", "0":
    check(["-n", "2", wrong, "child"], 0, "cannot use the library", times=6, HOTLANE_NEAR=near)
    check(["-n", "2", wrong, "number"], 0, "hotlane:", times=0, HOTLANE_NEAR=near)
    check(["-n", "2", wrong, "stdout"], 1, "is stdout, which belongs to another library", HOTLANE_NEAR=near)
    check(["-n", "1", wrong, "number", ":", "-n", "1", other, "number"], 1,
          "is static data of the executable, which PE", HOTLANE_NEAR=near)
check(["-n", "2", wrong, "number"], 1, "HOTLANE_STATICS=none", HOTLANE_STATICS="none")
check(["-n", "2", wrong, "number"], 0, "static data", times=0, HOTLANE_STATICS="network")
check(["-n", "3", statics, "threads"], 0, "goes over the network: other threads (1) were running", times=1)
sys.exit(failed != 0)
