#!/usr/bin/env python3
"""Wrong calls of contexts and of order end the job with one line that names the PE, the call and the value.

usage: ctx_wrong.py MPIEXEC PROGRAM
"""
import sys

import wrong

CASES = {
    "put_invalid": r"shmem_ctx_long_p: the context is SHMEM_CTX_INVALID",
    "destroyed": r"shmem_ctx_fence: 0x[0-9a-f]+ is no context",
    "twice": r"shmem_ctx_destroy: 0x[0-9a-f]+ is no context",
    "garbage": r"shmem_ctx_quiet: 0x1234 is no context",
    "default": r"shmem_ctx_destroy: SHMEM_CTX_DEFAULT cannot be destroyed",
    "options": r"shmem_ctx_create: options 0x40: ",
    "pes": r"shmem_pe_quiet: target_pes\[1\] is 1: the context's team has PEs 0 to 0",
    "no_pes": r"shmem_ctx_pe_quiet: target_pes is NULL for 1 PEs",
    "config": r"shmem_ctx_session_start: config is NULL, .* 0x1,",
    "team": r"shmem_team_create_ctx: 0x4321 is no team",
    "early": r"shmem_quiet: called before shmem_init",
    "early_invalid": r"shmem_ctx_quiet: called before shmem_init",
    "early_fence": r"shmem_ctx_fence: called before shmem_init",
    "late": r"shmem_ctx_quiet: called after shmem_finalize",
}

if __name__ == "__main__":
    sys.exit(wrong.main(CASES, 1))
