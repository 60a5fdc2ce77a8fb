#!/usr/bin/env python3
"""Collective calls that differ between PEs end the job with one line that names the PE, the call and the size.

usage: coll_misuse.py MPIEXEC PROGRAM
"""
import sys

import wrong

MEANWHILE = r"(PE 0 .*%s: PE 1 has called %s|PE 1 .*%s: PE 0 has called %s) meanwhile"

# What is said; any PE may be the one that finds it.
CASES = {
    "other_size": r"shmem_broadcastmem: PE \d calls it for (24|16) bytes, this PE for (16|24)",
    "other_large_size": r"shmem_broadcastmem: PE \d calls it for (4|5)000 bytes, this PE for (4|5)000",
    "other_call": MEANWHILE % ("shmem_long_sum_reduce", "a sync or barrier", "shmem_sync_all", "a reduction"),
    "other_op": r"shmem_long_(sum|max)_reduce: PE \d calls it with another operation, type or root",
    "other_set_size": r"shmem_fcollect64: PE \d calls it for (24|32) bytes, this PE for (32|24)",
    "other_xrange": r"shmem_team_split_2d: PE \d calls it with another start, stride, size or xrange",
    "other_split": r"shmem_team_split_strided: PE \d calls it with another start, stride, size or xrange",
    "alloc_barrier": MEANWHILE % ("shmem_malloc", "a sync or barrier", "shmem_barrier_all", "an allocation or free"),
    "alloc_nothing": MEANWHILE % ("shmem_malloc", "a sync or barrier", "shmem_barrier_all", "an allocation or free"),
    "free_sync": MEANWHILE % ("shmem_free", "a sync or barrier", "shmem_sync_all", "an allocation or free"),
    "end_barrier": MEANWHILE % ("shmem_barrier_all", "the end of OpenSHMEM", "shmem_finalize", "a sync or barrier"),
    "used_psync": r"shmem_barrier: pSync at 0x[0-9a-f]+ does not hold SHMEM_SYNC_VALUE, or another call of PE \d uses it",
}

if __name__ == "__main__":
    sys.exit(wrong.main(CASES, 2, ("1", "0")))
