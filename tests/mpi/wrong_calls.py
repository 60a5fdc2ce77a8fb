#!/usr/bin/env python3
"""The class of error that a wrong call gives stands on the manual page of its function.

usage: wrong_calls.py PROGRAM SOURCE_ROOT MPI_ONLY
"""
import os
import subprocess
import sys
import tempfile

program, root, mpi_only = sys.argv[1:4]
sys.path.insert(0, os.path.join(root, "docs", "man", "calls"))
import explain  # noqa: E402
import pages  # noqa: E402

maker = pages.Maker(root, mpi_only != "1")
page_of = {name: page for page in maker.pages()[0] for name in page.names}
class_of = {int(number): name for name, number in explain.numbers(root).items()}
with tempfile.TemporaryDirectory() as folder:
    done = subprocess.run([program, folder], capture_output=True, text=True, timeout=60)
wrong, calls = [], [line.split(" ", 2) for line in done.stdout.split("\n") if line.startswith("MPI_")]
for name, number, text in calls:
    if number == "0":
        wrong.append(f"{text} gives no error")
    elif class_of[int(number)] not in page_of[name].errors:
        wrong.append(f"{text} gives {class_of[int(number)]}, which the page of {name} does not have: it has {', '.join(page_of[name].errors) or 'none'}")
print("\n".join(wrong))
print(f"{len(calls)} wrong calls; {len(wrong)} not as their pages say")
if done.returncode != 0 or len(calls) < 150:
    sys.exit(f"the program ended with {done.returncode}: {done.stderr[-2000:]}")
sys.exit(1 if wrong else 0)
