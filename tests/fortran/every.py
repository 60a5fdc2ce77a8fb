#!/usr/bin/env python3
"""Makes a program that calls every procedure of an interface once, in a branch that no run takes: it shows that all have the
interface that the table says, and that the library has them.

usage: every.py (mpi|mpif) FOLDER_OF_THE_GENERATORS OUTPUT
"""
import os
import sys

interface, folder, output = sys.argv[1:]
sys.path.insert(0, folder)
import emit_integer as integer  # pylint: disable=import-error,wrong-import-position
import table    # pylint: disable=import-error,wrong-import-position
from emit_f08 import wrapped  # pylint: disable=import-error,wrong-import-position

# A variable for each kind of argument: scalar, array.
VARIABLES = {"int": ("n", "ns"), "index": ("n", "ns"), "weights": ("n", "ns"), "errcodes": ("n", "ns"),
             "status": ("ns", "ns2"), "aint": ("a", "as"), "cptr": ("a", "as"), "offset": ("o", "os"), "COUNT": ("c", "cs"),
             "logical": ("l", "ls"), "string": ("s", "ss"), "argv": ("s", "ss"), "argvs": ("s", "ss2"),
             "commands": ("s", "ss"), "choice": ("buffer", "buffer"), "proc": ("called", "called")}
# What MPI-3 removed, for old programs with mpif.h: arguments without ierror.
REMOVED = {"MPI_Address": ["buffer", "n"], "MPI_Type_extent": ["n", "n"], "MPI_Type_lb": ["n", "n"], "MPI_Type_ub": ["n", "n"],
           "MPI_Type_hvector": ["n", "n", "n", "n", "n"], "MPI_Type_hindexed": ["n", "ns", "ns", "n", "n"],
           "MPI_Type_struct": ["n", "ns", "ns", "ns", "n"], "MPI_Errhandler_create": ["called", "n"],
           "MPI_Errhandler_get": ["n", "n"], "MPI_Errhandler_set": ["n", "n"]}
HEAD = """! Made by every.py.
program every
    {0}
    implicit none
    {1}
    external :: called
    integer :: n, ierror, ns(64), ns2(8, 8)
    integer(MPI_ADDRESS_KIND) :: a, as(8)
    integer(MPI_OFFSET_KIND) :: o
    integer(MPI_COUNT_KIND) :: c, cs(8)
    logical :: l, ls(8)
    character(len=8) :: s, ss(4), ss2(2, 2)
    double precision :: buffer(8), d
    {2}

    n = 0
    if (command_argument_count() < 1000) stop
"""


def argument(a, procedure, pointer):
    if a.name in ("f08_status", "f_status"):
        return "fstatus" if a.name == "f08_status" and interface == "mpi" else "ns"
    if a.kind == "cptr" and procedure.name in integer.DETACH:
        return "buffer"
    if a.kind == "cptr" and pointer:
        return "p"
    if a.kind in ("attr", "extra"):
        return "n" if procedure.kind == "old" else "a"
    scalar, array = VARIABLES.get(a.kind, ("n", "ns"))
    if a.shape.startswith("3,"):
        return "ns2(1:3, 1:4)"
    return array if a.shape else scalar


def call(form, prefix, suffix=""):
    procedure = form.procedure
    names = [argument(a, procedure, bool(suffix)) for a in form.arguments] + ["ierror"] * (procedure.result == "-")
    name = f"{prefix}{procedure.name}{suffix if interface != 'mpi' else ''}({', '.join(names)})"
    result = {"aint": "a = ", "double": "d = "}.get(procedure.result, "call ")
    return wrapped(result + name, 4)


def main():
    forms = integer.selected(table.read(os.path.join(folder, "procedures.tsv"))[0])
    uses_module = interface == "mpi"
    lines = [HEAD.format("use mpi\n    use, intrinsic :: iso_c_binding, only: c_ptr" if uses_module else "",
                         "" if uses_module else "include 'mpif.h'",
                         "type(c_ptr) :: p\n    type(MPI_Status) :: fstatus" if uses_module else "")]
    for form in forms:
        name = form.procedure.name
        if name == "MPI_Sizeof" and not uses_module:
            continue
        for prefix in ("", "P"):
            lines += call(form, prefix)
            if name in integer.POINTERS and uses_module:
                lines += call(form, prefix, "_cptr")
    if not uses_module:
        for name, names in REMOVED.items():
            lines += [f"    call {prefix}{name}({', '.join(names)}, ierror)" for prefix in ("", "P")]
    lines += ["end program", "", "subroutine called", "end subroutine", ""]
    with open(output, "w", encoding="ascii") as out:
        out.write("\n".join(lines))


main()
