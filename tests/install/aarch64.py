#!/usr/bin/env python3
"""The library on aarch64: built in a bare Debian by a cross compiler, warnings being errors, and its tests run under qemu's emulation.

usage: aarch64.py SOURCE_ROOT

Run are the unit tests but those that the emulator cannot do, and programs of the suites on the node and over the network, whose ranks
an x86-64 mpiexec starts. The emulator's memory model is this machine's: it proves code, types and layouts, not the order of weakly
ordered accesses (that is tests/model's part). Skipped (77) where no bare Debian can be made (bare.py)."""
import os
import platform
import sys

import bare

EMULATOR = "/usr/bin/qemu-aarch64"
TOOLS = ["meson", "ninja-build", "pkg-config", "python3", "gcc", "libc6-dev", "gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross", "qemu-user",
         "procps", "libfabric-dev", "libhwloc-dev", "libnuma-dev"]
LIBRARIES = ["libfabric-dev", "libhwloc-dev", "libnuma-dev", "libpmix-dev", "check"]
CROSS = f"""
[binaries]
c = 'aarch64-linux-gnu-gcc'
ar = 'aarch64-linux-gnu-gcc-ar'
strip = 'aarch64-linux-gnu-strip'
pkgconfig = 'pkg-config'
exe_wrapper = '{EMULATOR}'
[properties]
pkg_config_libdir = ['/usr/lib/aarch64-linux-gnu/pkgconfig', '/usr/share/pkgconfig']
[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'aarch64'
endian = 'little'
"""
# Unit tests that ask for what the emulator does not do.
NOT_EMULATED = {
    "base": "limits of address space", "fab": "advice of huge pages", "mem": "memory given back, answers of mincore", "mem_faults": "placement",
    "mem_pages": "memory given back", "near": "answers of mincore", "rma": "bytes of a process", "scale": "bytes of a process",
    "shmem_statics": "a process without a thread of the emulator",
}
# A program, its ranks and its arguments.
PROGRAMS = [
    ("mpi/mpi_hello", 2, []), ("mpi/mpi_rma_litmus", 2, ["put", "200"]), ("mpi/mpi_rma_litmus", 2, ["acc", "200"]),
    ("mpi/mpi_rma_threads", 2, ["4", "100"]), ("mpi/mpi_rma_threads", 2, ["8", "50"]), ("mpi/mpi_rma_acc", 2, []),
    ("mpi/mpi_rma_pscw", 3, ["2", "20"]), ("mpi/mpi_rma_locks", 2, ["4", "50"]), ("mpi/mpi_p2p_order", 2, ["4", "100"]),
    ("mpi/mpi_coll_random", 4, ["20"]), ("shmem/shmem_smoke", 2, []), ("shmem/shmem_ctx_quiet", 2, ["4", "20"]),
    ("shmem/shmem_lock_queue", 2, []), ("shmem/shmem_coll_random", 2, ["10"]),
]


def build(machine, source):
    bare.copy_source(machine, source)
    with open(os.path.join(machine.root, "cross.ini"), "w", encoding="utf-8") as f:
        f.write(CROSS)
    machine.run("dpkg --add-architecture arm64 && apt-get -q update")
    machine.install(*TOOLS, *(name + ":arm64" for name in LIBRARIES))
    plain = "-Dbuildtype=debugoptimized -Db_lto=false -Dfortran=disabled -Dmemkind=disabled"
    machine.run(f"meson setup --werror --cross-file /cross.ini {plain} /arm /source/hotlane && ninja -C /arm")
    machine.run(f"meson setup {plain} -Dpmix=disabled -Dtests=disabled -Dperf=disabled /here /source/hotlane && ninja -C /here tools/mpiexec")
    machine.expect("od -An -t u2 -j 18 -N 2 /arm/tests/mpi/mpi_hello", "183")  # EM_AARCH64
    print("ok: built without a warning", flush=True)


def unit_tests(machine):
    found = sorted(name[len("test_"):] for name in os.listdir(os.path.join(machine.root, "arm/tests"))
                   if name.startswith("test_") and not name.endswith(".p"))
    for name in set(NOT_EMULATED) - set(found):
        print(f"FAILED: there is no unit test {name} that could be left out")
        sys.exit(1)
    for name in found:
        if name in NOT_EMULATED:
            print(f"left out: {name}: {NOT_EMULATED[name]}")
        else:
            machine.run(f"cd /arm && CK_DEFAULT_TIMEOUT=300 timeout 900 {EMULATOR} tests/test_{name}")
            print(f"ok: {name}", flush=True)


def programs(machine):
    for near in ("", "HOTLANE_NEAR=0 "):
        for program, ranks, arguments in PROGRAMS:
            command = f"{near}timeout 300 /here/tools/mpiexec -n {ranks} {EMULATOR} tests/{program} {' '.join(arguments)}"
            machine.run("cd /arm && " + command)
            print("ok: " + command, flush=True)


def steps(machine, source):
    build(machine, source)
    unit_tests(machine)
    programs(machine)


if __name__ == "__main__":
    if platform.machine() != "x86_64":
        bare.skip("needs an x86-64 machine: the cross compiler is Debian's for it")
    bare.test(sys.argv[1], steps)
