#!/usr/bin/env python3
"""A default INTEGER of 8 bytes, which MPI is not compiled for, is found by the compiler where the program includes mpif.h, or names
its INTEGERs to module mpi or mpi_f08.

usage: integers.py MPIFORT"""
import os
import subprocess
import sys
import tempfile

PROGRAMS = {
    "mpif.h": "program t\ninclude 'mpif.h'\ninteger :: code\ncall MPI_Init(code)\ncall MPI_Finalize(code)\nend program\n",
    "module mpi": "program t\nuse mpi\ninteger :: code\ncall MPI_Init(code)\ncall MPI_Finalize(code)\nend program\n",
    "module mpi_f08": "program t\nuse mpi_f08\ninteger :: code\ncall MPI_Init(code)\ncall MPI_Finalize(code)\nend program\n",
}


def main(mpifort):
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="hotlane-integers-") as folder:
        source = os.path.join(folder, "t.f90")
        for interface, text in PROGRAMS.items():
            with open(source, "w", encoding="ascii") as f:
                f.write(text)
            for option in ([], ["-fdefault-integer-8"]):
                done = subprocess.run([mpifort, *option, "-c", source, "-o", os.path.join(folder, "t.o")], capture_output=True, text=True,
                                      stdin=subprocess.DEVNULL, timeout=100, check=False)
                right = (done.returncode != 0) == bool(option)
                wrong += not right
                print(f"{'ok  ' if right else 'FAIL'} {interface} {' '.join(option)}: exit code {done.returncode}")
                if not right:
                    print(done.stdout + done.stderr)
    sys.exit(wrong != 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
