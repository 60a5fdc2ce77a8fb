#!/usr/bin/env python3
"""Wrong use of the symmetric heap ends the job with one line that says what is wrong, and where; so do partitions that
cannot be had: at all PEs or at none.

usage: heap_wrong.py MPIEXEC PROGRAM
"""
import re
import sys

import wrong

mpiexec, program = sys.argv[1:]
failed = cases = 0


def run(what, pes=3, each=(), **env):
    """`each`: settings of one PE after the other, in place of `pes`."""
    if each:
        parts = []
        for pairs in each:
            parts += [":"] if parts else []
            parts += ["-n", "1"] + [w for k, v in pairs.items() for w in ("-env", k, v)] + [program, what]
    else:
        parts = ["-n", str(pes), program, what]
    done = wrong.run(mpiexec, *parts, seconds=60, **env)
    return done.returncode, done.stderr


def check(name, done, code, *patterns):
    """Exit code, patterns found, and one line of the library for each pattern."""
    global failed, cases
    cases += 1
    got, err = done
    lines = [line for line in err.splitlines() if line.startswith("hotlane: ")]
    if got != code or len(lines) != len(patterns) or not all(re.search(p, err, re.M) for p in patterns):
        failed += 1
        print(f"{name}: exit code {got}, not {code}; or not once each of {patterns}:\n{err}")


for near in "1", "0":
    for what, words in (
            ("sizes", r"shmem_malloc: .* PE 2 asks for 300 bytes \(alignment 8\) of partition 1 and "
                      r"gets memory at byte \d+, PE 0 asks for 400 bytes"),
            ("malloc-free", r"PE 2 asks for 300 bytes .*, PE 0 frees what begins at byte 0 of the heap"),
            ("other-block", r"shmem_free: .* PE 2 frees what begins at byte 0 of the heap, PE 0 frees .* byte 128 "),
            ("realloc", r"PE 2 makes 1000 bytes of what begins at byte 0 of the heap, PE 0 makes 2000 bytes"),
            ("alignments", r"shmem_align: .*PE 2 asks for 300 bytes \(alignment 64\) .*, PE 0 .*\(alignment 128\)"),
    ):
        check(f"{what}, near {near}", run(what, HOTLANE_NEAR=near), 1, words)
for near in "1", "0", "none":
    for what, code, *words in (
            ("beyond-put", 1, r"shmem_putmem: 65536 bytes from address 0x[0-9a-f]+ .* beyond the end"),
            ("beyond-word", 1, r"shmem_long_p: address 0x[0-9a-f]+ is not symmetric"),
            ("beyond-asked", 0)):
        check(f"{what}, near {near}", run(what, pes=2, HOTLANE_NEAR=near, SHMEM_SYMMETRIC_SIZE="2M"), code, *words)
check("beyond-collect", run("beyond-collect", pes=2, SHMEM_SYMMETRIC_SIZE="2M"), 1,  # far, PE 0 may add that PE 1 has ended
      "shmem_collectmem: 2097280 bytes from address 0x[0-9a-f]+ .* beyond the end")
for what, words in (("inside", "shmem_free: 0x[0-9a-f]+ is not an address"),
                    ("twice", "shmem_free: 0x[0-9a-f]+ is not an address"),
                    ("local", "shmem_free: 0x[0-9a-f]+ is not an address"),
                    ("realloc-local", "shmem_realloc: 0x[0-9a-f]+ is not an address"),
                    ("finalized", "shmem_malloc: called after shmem_finalize")):
    check(what, run(what, pes=1), 1, words)
check("full", run("full", SHMEM_SYMMETRIC_SIZE="20m"), 0,
      r"PE 0 .*shmem_malloc: no room for 1T in partition 1 of 20M: \d+ are free, at most \d+ in one piece")
check("crooked", run("crooked", SHMEM_SYMMETRIC_SIZE="20m"), 0,
      r"PE 0 .*shmem_align: no room for 8M at a multiple of 16M in partition 1 of 20M: \d+ are free, at most \d+ in one piece")

# Partitions that cannot be.
mandatory = {"SHMEM_SYMMETRIC_PARTITION1": "size=1M", "SHMEM_SYMMETRIC_PARTITION4": "size=1G:kind=F:policy=M:pgsize=1G"}
check("mandatory", run("show", **mandatory), 1, "PE .*shmem_init_thread: partition 4: .*policy M")
check("a PE without", run("show", each=[{}, {}, {"HOTLANE_FASTMEM_NODES": "63"}], SMA_SYMMETRIC_PARTITION1="size=1M:kind=F:policy=M",
                          HOTLANE_FASTMEM_NODES="all", HOTLANE_MEM_REPORT="0"), 1, "there is no node 63", "PE 2 .*partition 1: policy M on fast memory")
check("too large", run("show", SMA_SYMMETRIC_SIZE="5000G"), 1, "partition 1: .*more than memory and swap of this machine")
check("much too large", run("show", SMA_SYMMETRIC_SIZE="5000T"), 1, "partition 1: 5000T .* at most 64T")
check("a partition much too large", run("show", SHMEM_SYMMETRIC_PARTITION1="size=2M", SHMEM_SYMMETRIC_PARTITION2="size=8000000T"), 1,
      "partition 2: 8000000T .* at most 64T")
check("sizes differ", run("show", each=[{"SHMEM_SYMMETRIC_SIZE": "10M"}, {"SHMEM_SYMMETRIC_SIZE": "11M"}]), 1,
      "asks for partition 1 of 10M, .* on PE 0 and for partition 1 of 11M, .* on PE 1")
check("one more", run("show", each=[{"SMA_SYMMETRIC_PARTITION1": "size=1M"},
                                    {"SMA_SYMMETRIC_PARTITION1": "size=1M", "SMA_SYMMETRIC_PARTITION3": "size=1M"}]), 1,
      "asks for nothing more on PE 0 and for partition 3 of 1M, .* on PE 1")
check("bad words", run("show", pes=1, SMA_SYMMETRIC_PARTITION1="size=1M:kind=X"), 1, "SMA_SYMMETRIC_PARTITION1=size=1M:kind=X: kind=X: expected D")

# What is shown.
code, err = run("show", SHMEM_MEMINFO_DISPLAY="1", SMA_SYMMETRIC_PARTITION1="size=3M", SMA_SYMMETRIC_PARTITION9="size=5M:kind=N")
check("shown", (code, err), 0, "^hotlane: PE 0 .*partition 9 6M: asked DDR", "PE 1 .*partition 9", "PE 2 .*partition 9")
if not re.search(r"^partition 1: 4M in pages of \d+K at offset 0x0, placed when touched$", err, re.M) or \
        not re.search(r"^partition 9: 6M of DDR in pages of \d+K at offset 0x400000, nodes 0:6M$", err, re.M):
    failed += 1
    print(f"shown: {err}")
# What was obtained, not what was asked for. Where there is fast memory, it may be that.
code, err = run("show", SHMEM_MEMINFO_DISPLAY="1", SMA_SYMMETRIC_PARTITION1="size=4M:kind=F")
if "no fast memory found" in err:
    check("shown truly", (code, err), 0, "PE 0 .*no fast memory found", "PE 1 .*no fast memory found", "PE 2 .*no fast memory found")
    if re.search(r"^partition 1: .* of (MCDRAM|fast)|nodes $", err, re.M):
        failed += 1
        print(f"shown truly: {err}")
print(f"{cases - failed} of {cases} hold")
sys.exit(failed != 0)
