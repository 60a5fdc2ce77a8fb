#!/usr/bin/env python3
"""The sites of critical sections cost at most 8 instructions of one MPI_Isend where there are none (HOTLANE_CS=lockfree):
those that look at the word in which the mode stands, and the branches behind them, counted by single steps."""
import subprocess
import sys

MOST = 8
mpiexec, program, library = sys.argv[1:]
symbols = subprocess.run(["nm", library], capture_output=True, text=True, check=True).stdout.splitlines()
places = [line.split()[0] for line in symbols if line.split()[-1].split(".")[0] == "hl_cs_on"]
if len(places) != 1:
    sys.exit(f"the library has {len(places)} words hl_cs_on")
done = subprocess.run([mpiexec, "-n", "2", program, places[0]], capture_output=True, text=True, check=False)
print(done.stdout + done.stderr)
if done.returncode == 77 or "cannot trace" in done.stdout:
    sys.exit(77)
costs = {w[0]: (int(w[1]), int(w[2])) for w in map(str.split, done.stdout.splitlines()) if len(w) == 3 and w[0].startswith("MPI_")}
if done.returncode != 0 or len(costs) != 4:
    sys.exit("the program failed")
for name, (total, tests) in costs.items():
    print(f"{name}: {total} instructions, {tests} of them for sections that are not there")
if not 0 < costs["MPI_Isend"][1] <= MOST:
    sys.exit(f"MPI_Isend may spend 1 to {MOST}")
