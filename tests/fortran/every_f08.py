#!/usr/bin/env python3
"""Writes a program that calls every specific procedure of mpi_f08, MPI_ and PMPI_, with and without ierror.

usage: every_f08.py FORTRAN_FOLDER OUTPUT.f90

The calls stand behind a condition that never holds: what is tested is that each has its interface (told from the others of its
name) and that the library has it.
"""
import sys

sys.path.insert(0, sys.argv[1])
import emit_f08  # noqa: E402
import table  # noqa: E402

# Arguments are arrays where they have a shape; this is enough for all.
SHAPES = {"": "", "3, n": "(3, 2)", "count, *": "(2, 2)", "MPI_STATUS_SIZE": "(MPI_STATUS_SIZE)"}


def variable(a):
    """Name and declaration of a variable that fits the argument."""
    shape = SHAPES.get(a.shape, "(2)")
    if a.kind == "choice":
        return "buffer", "real, asynchronous :: buffer(4, 4)"
    if a.kind == "proc":
        return a.how.lower() + "_stub", None
    name = f"v_{a.name}_{a.kind}{len(shape)}" + ("a" if a.asynchronous else "")
    fortran = emit_f08.FORTRAN_TYPES.get(a.kind) or f"type({table.HANDLES[a.kind]})"
    fortran = fortran.replace("len=*", "len=8")
    return name, f"{fortran}{', asynchronous' if a.asynchronous else ''} :: {name}{shape}"


def calls(form):
    """The calls of one form: a subroutine body."""
    procedure = form.procedure
    names = [variable(a)[0] for a in form.arguments]
    for prefix in ("", "P"):
        generic = prefix + procedure.name
        if procedure.result in ("aint", "double"):
            yield f"v_{procedure.result}0 = {generic}({', '.join(names)})"
            continue
        yield f"call {generic}({', '.join(names)})"
        if procedure.result == "-":
            yield f"call {generic}({', '.join(names + ['ierror'])})"
            keywords = [f"{a.name}={n}" for a, n in zip(form.arguments, names)] + ["ierror=ierror"]
            yield f"call {generic}({', '.join(keywords)})"


def stubs():
    """Procedures with the interfaces that MPI calls."""
    for name, arguments in emit_f08.callback_rows():
        lines = emit_f08.passed(name.lower() + "_stub", arguments, 4)
        yield from [line for line in lines if line.strip() != "import"]


def main(output):
    procedures, _ = table.read(f"{sys.argv[1]}/procedures.tsv")
    declarations, body, count = {}, [], 0
    for procedure in procedures:
        if procedure.kind == "old":
            continue
        for form in procedure.forms():
            declarations.update(v for v in map(variable, form.arguments) if v[1] is not None)
            if procedure.result == "aint":
                declarations["v_aint0"] = "integer(MPI_ADDRESS_KIND) :: v_aint0"
            if procedure.result == "double":
                declarations["v_double0"] = "double precision :: v_double0"
            body.append(f"    subroutine call_{count}()")
            for call in calls(form):
                body += emit_f08.wrapped(call, 8)
            body.append("    end subroutine")
            count += 1
    lines = ["! Made by every_f08.py: calls of all procedures.", "module all_calls", "    use mpi_f08",
             "    use, intrinsic :: iso_c_binding, only: C_PTR", "    implicit none", "    integer :: ierror"]
    lines += [f"    {d}" for d in declarations.values()]
    lines += ["contains", *body, *stubs(), "end module", "program calls", "    use all_calls", "    implicit none",
              "    character(len=8) :: argument", "    call get_command_argument(1, argument)",
              "    if (argument == \"never\") then"]
    lines += [f"        call call_{i}()" for i in range(count)]
    lines += ["    end if", f"    print \"(a)\", \"{count} interfaces are there\"", "end program", ""]
    with open(output, "w", encoding="ascii") as out:
        out.write("\n".join(lines))


main(sys.argv[2])
