#!/usr/bin/env python3
"""Each wrong call ends the job with exit code 1 and one line, which has the words that its row asks for; docs/MISUSE.md lists the calls.

usage: misuse.py MPIEXEC PROGRAM SOURCE_ROOT, or with --print: prints that part of the document
"""
import difflib
import os
import re
import subprocess
import sys

import wrong

HEAD = """# Misuse of OpenSHMEM calls

OpenSHMEM has no error codes for these calls: each of them ends the job with exit code 1 and one line, which names the PE,
the call, what was asked and what was there. Made by `tests/shmem/misuse.py --print` with two PEs, of which PE 0 made the
mistakes; a test compares.

| what | call |
|---|---|
"""

FAR = ("too_long", "odd_atomic", "stack_signal", "ctx_pe", "coll_other", "set_odd", "lock_dirty", "lock_waited")  # over the network, whose start takes long, only some


def run(mpiexec, program, name, near):
    pes = "1" if name.startswith("early") else "2"  # before the start all PEs are alike
    return wrong.run(mpiexec, "-n", pes, program, name, HOTLANE_NEAR=near)


def called(done, name, values):
    """The call that the one line of a wrong call names; the line says `values` of it."""
    lines = [line for line in done.stderr.splitlines() if not line.startswith("mpiexec:")]
    if done.returncode != 1 or len(lines) != 1:
        sys.exit(f"{name}: exit code {done.returncode}, not 1; {len(lines)} lines, not 1:\n{done.stderr}")
    found = re.match(r"hotlane: (?:PE 0 \([^)]*\): )?(\w+): (.*)", lines[0])
    if not found or values not in found[2]:
        sys.exit(f"{name}: the line names no call, or has no '{values}':\n{lines[0]}")
    return found[1]


def main():
    words = [a for a in sys.argv[1:] if a != "--print"]
    mpiexec, program, source = words
    listed = subprocess.run([program, "--list"], capture_output=True, text=True, timeout=20, check=True).stdout
    text = HEAD
    for name, what, values in (line.split("|") for line in listed.splitlines()):
        calls = {called(run(mpiexec, program, name, near), name, values) for near in ("1", "0") if near == "1" or name in FAR}
        text += f"| {what} | {' and '.join(sorted(calls))} |\n"
    if "--print" in sys.argv:
        print(text, end="")
        return 0
    with open(os.path.join(source, "docs", "MISUSE.md"), encoding="utf-8") as file:
        written = file.read()
    written = written[written.find(HEAD.split("\n", 1)[0]):]
    for line in difflib.unified_diff(written.splitlines(), text.splitlines(), "docs/MISUSE.md", "now", "", "", 0, ""):
        print(line)
    return written != text


if __name__ == "__main__":
    sys.exit(main())
