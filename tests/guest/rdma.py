"""Guests with soft RoCE: RDMA with its registration, keys and connections, on a machine that has no such card. What they run.

One device (rxe0) on an interface that leads nowhere. The programs are those of the build folder, under this machine's path."""
import os
import shlex

from cases import Step

# Few completion entries are what this device has; a heap of gigabytes would be memory that cannot be moved. Ranks of one machine
# are kept on its loopback interface if nobody names the network; in a file, as scripts run programs without HOTLANE_ variables.
ONE = """
export HOTLANE_NEAR=0 FI_UNIVERSE_SIZE=16 SHMEM_SYMMETRIC_SIZE=16M
mkdir -p $HOME/.config && echo "HOTLANE_PROVIDER=verbs;ofi_rxm" >$HOME/.config/hotlane.conf
ip link add dum0 type dummy && ip addr add 10.9.0.1/24 dev dum0 && ip link set dum0 up && rdma link add rxe0 type rxe netdev dum0
"""
USER = "chmod 666 /dev/infiniband/*; ulimit -l 8192; exec setpriv --reuid 1000 --regid 1000 --clear-groups sh -c "
SENT = "/sys/class/infiniband/rxe0/ports/1/hw_counters/sent_pkts"
BOOTS = {
    "rdma": dict(what="soft RoCE, one device: a few programs", prepare=ONE, seconds=580),
}


def job(build, ranks, program, *words):
    return shlex.join(["mpiexec", "-n", str(ranks), "--timeout", "100", os.path.join(build, program), *words])


def shell(text):
    """A command for the shell of this machine, which finds its programs: that of the guest has many of them inside."""
    return shlex.join(["/usr/bin/env", "sh", "-c", text])


def few(build):
    """A look at everything, in the time that everybody's tests have."""
    stencil = os.path.join(build, "perf", "stencil")
    grid = f"{shlex.quote(stencil)} --zones 64,64 --patch 16 --steps 10"
    return [
        Step("the network", command="env HOTLANE_PROVIDER= hotlane-info", says=[r"network +verbs;ofi_rxm: best"]),
        Step("hello", command=job(build, 2, "tests/mpi/mpi_hello", "multiple"), needs="tests/mpi/mpi_hello", env={"HOTLANE_LOG": "info"},
             says=["network: verbs;ofi_rxm"]),
        Step("acc", command=job(build, 2, "tests/mpi/mpi_rma_acc"), needs="tests/mpi/mpi_rma_acc"),
        Step("threads", command=job(build, 2, "tests/mpi/mpi_rma_threads", "4"), needs="tests/mpi/mpi_rma_threads"),
        Step("memory mapped anew", command=job(build, 2, "tests/mpi/mpi_rma_remap", "50"), needs="tests/mpi/mpi_rma_remap"),
        Step("fork", command=job(build, 2, "tests/mpi/mpi_rma_fork"), needs="tests/mpi/mpi_rma_fork"),
        Step("a user who may lock 8 MiB", command=shell(USER + shlex.quote(job(build, 2, "tests/mpi/mpi_rma_acc"))),
             says=["may lock 8M of memory", " 0 failed"], needs="tests/mpi/mpi_rma_acc"),
        Step("the automatic heap of such a user", needs="tests/shmem/shmem_smoke",
             command=shell(USER + shlex.quote("unset SHMEM_SYMMETRIC_SIZE; " + job(build, 2, "tests/shmem/shmem_smoke")))),
        Step("shmem", command=job(build, 2, "tests/shmem/shmem_smoke"), needs="tests/shmem/shmem_smoke"),
        Step("stencil", command=shell(f"mpiexec -n 2 --timeout 100 {grid} --threads 4 && "
                                      f"env -u HOTLANE_NEAR mpiexec -n 2 --timeout 100 {grid} --threads 4"),
             says=[r"(?s)hash (\w{16})\n.*hash \1\n"], needs="perf/stencil"),
        Step("all of it went by RDMA", command=shell(f"cat {SENT}; test $(cat {SENT}) -gt 10000")),
    ]


def steps(name, build):
    return {"rdma": few}[name](build)
