#!/usr/bin/env python3
"""What the environment module does to MANPATH, by Tcl itself: set alone, it would hide the system's manual pages.

usage: module.py MODULEFILE
"""
import os
import shutil
import subprocess
import sys

STUBS = """
proc module-whatis args {}
proc conflict args {}
proc setenv args {}
proc append-path args {}
proc prepend-path {name value} { puts "$name $value" }
source [lindex $argv 0]
"""


def paths_of(module, manpath):
    """What the module prepends to MANPATH where that is `manpath`; None: it is not set."""
    env = {name: value for name, value in os.environ.items() if name != "MANPATH"}
    if manpath is not None:
        env["MANPATH"] = manpath
    done = subprocess.run(["tclsh", "/dev/stdin", module], input=STUBS, env=env, capture_output=True, text=True, check=True)
    lines = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    if not lines.get("PATH", "").endswith("/bin"):
        sys.exit(f"{module} was not understood: {lines}")
    return lines.get("MANPATH")


if shutil.which("tclsh") is None:
    print("no tclsh here")
    sys.exit(77)
unset, given = paths_of(sys.argv[1], None), paths_of(sys.argv[1], "/some/man")
print(f"MANPATH unset: {unset}; set: {given}")
sys.exit(unset is not None or given is None or not given.endswith("/man"))
