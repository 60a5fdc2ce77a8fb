#!/usr/bin/env python3
"""Variables of other libraries that a user carries along: rank 0 says in one line what becomes of them, HOTLANE_ENV_NOTICE=0
silences it, and nothing is said of what launchers and environment modules set. Thread levels obey MPICH_MAX_THREAD_SAFETY.

usage: carried.py MPIEXEC HELLO INFO
"""
import json
import os
import subprocess
import sys

MPIEXEC, HELLO, INFO = sys.argv[1:]
FAMILIES = ("HOTLANE_", "XDG_CONFIG", "MPICH_", "MPIR_", "SMA_", "SHMEM_", "XT_", "OMPI_", "I_MPI_", "UCX_", "FI_", "MV2_")
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith(FAMILIES)}
LEVELS = ("single", "funneled", "serialized", "multiple")
# Name, value, and what must be said of it.
SET = (("MPICH_MAX_THREAD_SAFETY", "multiple", "honoured by MPI_Init_thread"), ("FI_TCP_IFACE", "lo", "honoured by libfabric"),
       ("MPICH_RANK_REORDER_METHOD", "7", "honoured by mpiexec of this library with --bind-to only: 0, 1, 2"), ("XT_SYMMETRIC_HEAP_SIZE", "64M", "means the same as SHMEM_SYMMETRIC_SIZE"),
       ("MPICH_ASYNC_PROGRESS", "1", "not needed: one-sided operations need no calls of their target"),
       ("MPICH_RMA_OVER_DMAPP", "1", "not needed: one-sided calls"), ("SMA_BARRIER_ALGORITHM", "tree", "no effect"),
       ("SHMEM_BOUNCE_SIZE", "64", "no effect"), ("SHMEM_COLL_RADIX", "4", "no effect"), ("OMPI_MCA_btl", "self,vader", "no effect"),
       ("I_MPI_FABRICS", "shm", "no effect: as by shm:ofi, ranks of a node share memory and others use the network (HOTLANE_NEAR=0: all use it, as by ofi)"),
       ("MPIR_CVAR_NOLOCAL", "1", "no effect: HOTLANE_NEAR=0 has"), ("MPIR_CVAR_CH4_NUM_VCIS", "4", "no effect: HOTLANE_LANES sets"),
       ("I_MPI_DEBUG", "5", "no effect: HOTLANE_LOG=info tells"), ("I_MPI_STATS", "1", "no effect: HOTLANE_STATS=1 shows"),
       ("OMPI_MCA_btl_tcp_if_include", "lo", "no effect: FI_TCP_IFACE chooses"),
       ("OMPI_MCA_mtl_ofi_provider_include", "tcp", "no effect: HOTLANE_PROVIDER chooses"), ("UCX_TLS", "tcp", "no effect: the network is libfabric's"),
       ("SHMEM_OFI_PROVIDER", "sockets", "no effect: HOTLANE_PROVIDER chooses"), ("MPICH_OFI_NIC_POLICY", "NUMA", "no effect"))
# What modules and launchers set: of Open MPI's and Intel's as seen in ranks.
UNSAID = {"MPICH_DIR": "/opt", "UCX_HOME": "/opt", "I_MPI_ROOT": "/opt", "FI_PROVIDER_PATH": "", "MPICH_CC": "cc", "OMPI_CXX": "c++",
          "SHMEM_INSTALL_DIR": "/opt", "I_MPI_HYDRA_UUID": "0550", "I_MPI_INFO_STATE": "0", "I_MPI_PIN_INFO": "0,1",
          "I_MPI_INTERNAL_MEM_POLICY": "default", "OMPI_MCA_orte_precondition_transports": "0-0", "OMPI_MCA_pmix": "flux",
          "OMPI_MCA_ess_base_vpid": "0", "MPIR_CVAR_CH3_INTERFACE_HOSTNAME": "a", "MPI_LOCALNRANKS": "2", "PMIX_MCA_x": "1",
          "SLURM_NTASKS": "2"}
failed = 0


def expect(what, true, *facts):
    global failed
    if not true:
        failed += 1
        print(f"{what}:", *facts, sep="\n    ")


def hello(*words, **env):
    done = subprocess.run([MPIEXEC, "--oversubscribe", "-n", "3", HELLO, *words], env={**CLEAN, "HOTLANE_CONF": "", **env}, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stderr.splitlines()


def fate_in(line, name):
    """What the line says of a name: names of one fate stand before its words, which stand before the next group."""
    for group in line.partition("other libraries: ")[2].partition(" (HOTLANE_ENV_NOTICE")[0].split("; "):
        names, _, words = group.partition(": ")
        if name in names.split(", "):
            return words
    return None


for near in ("1", "0"):
    env = {"HOTLANE_NEAR": near, **{name: value for name, value, _ in SET}}
    code, lines = hello("multiple", **env)
    expect("one line for all", code == 0 and len(lines) == 1 and "rank 0" in lines[0], code, *lines)
    for name, _, words in SET:
        said = fate_in(lines[0] if lines else "", name)
        expect(f"{name} is said", said is not None and said.startswith(words), said, *lines)
    expect("silenced", hello("multiple", HOTLANE_ENV_NOTICE="0", **env) == (0, []))
    expect("places, compilers and launchers' own", hello("single", HOTLANE_NEAR=near, **UNSAID) == (0, []),
           hello("single", HOTLANE_NEAR=near, **UNSAID))
    for wanted in LEVELS:
        for most in LEVELS:
            granted = LEVELS[min(LEVELS.index(wanted), LEVELS.index(most))]
            code, lines = hello(wanted, granted, HOTLANE_NEAR=near, MPICH_MAX_THREAD_SAFETY=most, HOTLANE_ENV_NOTICE="0")
            expect(f"{wanted} where at most {most} is allowed", (code, lines) == (0, []), code, *lines)

many = {f"OMPI_MCA_a_variable_of_a_long_name_{i}": "1" for i in range(100)}
code, lines = hello("single", **many)
expect("a line of too many", len(lines) == 1 and "more, which hotlane-info --env lists (HOTLANE_ENV_NOTICE" in lines[0], *lines)
said = sum(name in lines[0] for name in many) if lines else 0
expect("those without room are counted", f"and {100 - said} more" in lines[0] if lines else False, *lines)
code, lines = hello("single", XT_SYMMETRIC_HEAP_SIZE="64X")
expect("a bad size", code != 0 and any("XT_SYMMETRIC_HEAP_SIZE=64X: expected" in line for line in lines), *lines)
code, lines = hello("single", XT_SYMMETRIC_HEAP_SIZE="64M", SHMEM_SYMMETRIC_SIZE="1M")
expect("ours wins", code == 0 and len(lines) == 1 and "SHMEM_SYMMETRIC_SIZE, which is set too" in lines[0], *lines)

shown = subprocess.run([INFO, "--env", "--json"], env={**CLEAN, "UCX_TLS": "tcp", "XT_SYMMETRIC_HEAP_SIZE": "3M"}, capture_output=True,
                       text=True, timeout=60, check=True)
facts = json.loads(shown.stdout)
size = [v for v in facts["variables"] if v["name"] == "SHMEM_SYMMETRIC_SIZE"][0]
expect("hotlane-info", [v["set"] for v in facts["others"]] == ["UCX_TLS=tcp", "XT_SYMMETRIC_HEAP_SIZE=3M"]
       and (size["value"], size["origin"]) == ("3M", "XT_SYMMETRIC_HEAP_SIZE"), facts["others"], size)
sys.exit(failed != 0)
