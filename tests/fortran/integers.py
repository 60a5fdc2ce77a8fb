#!/usr/bin/env python3
"""A default INTEGER of 8 bytes, which MPI is not compiled for, is found by the compiler where the program includes mpif.h, or names
its INTEGERs to module mpi or mpi_f08. So is a call of MPI_Sizeof under mpif.h, which would look for a description of the variable in
its bytes. MPI_Wtime gives its 8 bytes whatever -fdefault-real-8 makes of DOUBLE PRECISION.

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
HEADS = {"mpif.h": "implicit none\ninclude 'mpif.h'", "module mpi": "use mpi\nimplicit none", "module mpi_f08": "use mpi_f08\nimplicit none"}
CLOCK = """program t
{}
real(8) :: before, after
integer :: i
before = MPI_Wtime()
do i = 1, 1000
  after = PMPI_Wtime()
end do
if (before <= 1e-3 .or. after < before .or. after > before + 1000 .or. MPI_Wtick() <= 0) stop 1
end program
"""
SIZE = "program t\n{}\nreal :: x(3)\ninteger :: s, code\ncall MPI_Sizeof(x, s, code)\nif (s /= storage_size(x) / 8) stop 1\nend program\n"


def builds(mpifort, folder, text, options):
    """Whether the program is compiled; then it must end with exit code 0."""
    source, program = os.path.join(folder, "p.f90"), os.path.join(folder, "p")
    with open(source, "w", encoding="ascii") as f:
        f.write(text)
    done = subprocess.run([mpifort, *options, source, "-o", program], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=100,
                          check=False)
    return done.returncode == 0 and (subprocess.run([program], stdin=subprocess.DEVNULL, timeout=50, check=False).returncode == 0 or None)


def others(mpifort, folder):
    """How many of the programs with a clock or a size go wrong."""
    wrong = 0
    for interface, head in HEADS.items():
        for options in ([], ["-fdefault-real-8"], ["-fdefault-real-8", "-fdefault-double-8"]):
            for what, text, wanted in (("clock", CLOCK, True), ("size", SIZE, interface != "mpif.h")):
                found = builds(mpifort, folder, text.format(head), options)
                wrong += found is not wanted
                print(f"{'ok  ' if found is wanted else 'FAIL'} {interface}, {what} {' '.join(options)}: {found}")
    return wrong


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
        wrong += others(mpifort, folder)
    sys.exit(wrong != 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
