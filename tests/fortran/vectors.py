#!/usr/bin/env python3
"""Programs compiled for wide vectors, whose compilers ask for more alignment, link without a word.

usage: vectors.py MPIFORT OPTION..."""
import os
import subprocess
import sys
import tempfile

PROGRAM = """program t
{use}
implicit none
{include}
integer :: code, word = 0
call MPI_Init(code)
call MPI_Allreduce(MPI_IN_PLACE, word, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
call MPI_Recv(MPI_BOTTOM, 0, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, code)
call MPI_Finalize(code)
end program
"""
INTERFACES = {"mpif.h": ("", "include 'mpif.h'"), "module mpi": ("use mpi", ""), "module mpi_f08": ("use mpi_f08", "")}


def main(mpifort, *options):
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="hotlane-vectors-") as folder:
        source = os.path.join(folder, "t.f90")
        for interface, (use, include) in INTERFACES.items():
            with open(source, "w", encoding="ascii") as f:
                f.write(PROGRAM.format(use=use, include=include))
            for option in options or ["-O3"]:
                done = subprocess.run([mpifort, option, "-w", source, "-o", os.path.join(folder, "t")], capture_output=True, text=True,
                                      stdin=subprocess.DEVNULL, timeout=100, check=False)
                words = (done.stdout + done.stderr).strip()
                right = done.returncode == 0 and not words
                wrong += not right
                print(f"{'ok  ' if right else 'FAIL'} {interface} {option}{': ' + words if words else ''}")
    sys.exit(wrong != 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
