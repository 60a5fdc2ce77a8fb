#!/usr/bin/env python3
"""docs/MISUSE.md, up to its part about OpenSHMEM, is what `mpiexec -n 2 rma_misuse --table` prints.

usage: misuse.py MPIEXEC PROGRAM SOURCE_ROOT
"""
import difflib
import os
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import clean_env  # noqa: E402  pylint: disable=wrong-import-position

mpiexec, program, source = sys.argv[1:]
env = clean_env.environment()
env["HOTLANE_CONF"] = ""
done = subprocess.run([mpiexec, "-n", "2", program, "--table"], env=env, stdout=subprocess.PIPE, text=True, timeout=50)
with open(os.path.join(source, "docs", "MISUSE.md"), encoding="utf-8") as file:
    written = file.read().split("\n# Misuse of OpenSHMEM", 1)[0]
for line in difflib.unified_diff(written.splitlines(), done.stdout.splitlines(), "docs/MISUSE.md", "printed now", "", "", 0, ""):
    print(line)
sys.exit(done.returncode != 0 or written != done.stdout)
