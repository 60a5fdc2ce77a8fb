#!/usr/bin/env python3
"""Wrong options of tools/demo and perf/ are refused before anything runs: options.py SOURCE. The line names the option, the
value and what is allowed. Without Hotlane's programs every script says so, and that it skips."""
import os
import subprocess
import sys

NONE, LIST = "expected a whole number from", "expected some of "
# script: option=value, and what is said of the value
ROWS = [
    ("alltoall_mt", "--threads=0", NONE), ("alltoall_mt", "--ranks=2,x", NONE), ("coherence", "--threads=0", NONE),
    ("coherence", "--by=foo", LIST), ("coherence", "--per-core=0", NONE), ("collectives", "--operations=foo", LIST),
    ("collectives", "--ranks=", NONE), ("flush_tail", "--bursters=-1", NONE), ("gups", "--pes=0", NONE), ("gups", "--pes=3", "a power of two"),
    ("gups", "--words=-1", NONE), ("kill-test", "--ways=foo 1", LIST), ("kill-test", "--only=2 1", "at most the 1 kills"),
    ("kill-test", "--only=0 1", NONE), ("lanes", "--threads=0", NONE), ("icount", "--what=foo", LIST), ("locks", "--modes=foo", LIST),
    ("memory_kinds", "--what=foo", LIST), ("msgrate", "--what=foo", LIST), ("mem_page", "--pages=3", LIST), ("mem_page", "--mib=3", "a power of two"),
    ("mem_page", "--operations=3", "a power of two"), ("message", "--paths=zz", LIST), ("message", "--sizes=0", NONE),
    ("mprobe", "--ways=foo", LIST), ("mprobe", "--targets=foo", LIST), ("mprobe", "--messages=0", NONE), ("msgrate", "--modes=foo", LIST),
    ("msgrate", "--tests=null,foo", LIST), ("oversubscribe", "--jobs=2", "expected ranks x threads"), ("oversubscribe", "--patches=0", NONE),
    ("pieces", "--numbers=2,0", NONE), ("ranks", "--ranks=0", NONE), ("rates", "--paths=foo", LIST), ("rma-oracle", "--ranks=0", NONE),
    ("rma-oracle", "--seconds=0.5", NONE), ("report", "--only=foo", LIST), ("rma_mt", "--paths=foo", LIST), ("rma_mt", "--calls=foo", LIST),
    ("rma_mt", "--modes=foo", LIST), ("scale", "--ranks=1e3,0", NONE), ("scale", "--operations=foo", LIST),
    ("shmem_mt", "--calls=foo", LIST), ("shmem_mt", "--paths=hosts", LIST), ("startup", "--ranks=0", NONE),
    ("stencil-modes", "--threads=0", NONE), ("stencil-scaling", "--what=foo", LIST),
    ("stencil-scaling", "--cores=0", NONE), ("stencil-share", "--rounds=0", NONE),
    ("thread_process", "--workers=0", NONE), ("timeline", "--show=0", NONE), ("wakeup", "--rounds=0", NONE),
]


def wrong(script, words, said):
    """Why the refusal is not as it should be, or nothing."""
    option, value = words.split()[0].split("=")
    done = subprocess.run([os.path.join(sys.argv[1], "perf", script), *words.split(), "--build", "/nonexistent"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    line = (done.stderr.splitlines() or [""])[-1]
    named = f"argument {option}: " in line and value.split(",")[-1] + ": expected" in line and said in line
    return "" if done.returncode == 2 and named else f"code {done.returncode}: {done.stdout}{done.stderr}"


failed = 0
for name in sorted({row[0] for row in ROWS} | {"passive", "stencil-sweep"}):
    command = [os.path.join(sys.argv[1], "perf", name)] + ["1"] * (name in ("kill-test", "stencil-sweep")) + ["--build", "/nonexistent"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
    if done.returncode != 77 or "skipped: /nonexistent/" not in done.stdout:
        print(f"{' '.join(command)}: code {done.returncode}: {done.stdout}")
        failed += 1
for command in (["tools/demo", "--foo"], ["tools/demo", "--no-install", "--foo"], ["perf/install-peers", "--foo"]):
    done = subprocess.run(command, cwd=sys.argv[1], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    if done.returncode != 2 or ": unknown option --foo\n" not in done.stderr:
        print(f"{' '.join(command)}: code {done.returncode}: {done.stderr}")
        failed += 1
for row in ROWS:
    why = wrong(*row)
    failed += why != ""
    if why:
        print(f"perf/{row[0]} {row[1]}: {why}")
print(f"{len(ROWS)} wrong options, {failed} not refused as they should be")
sys.exit(1 if failed else 0)
