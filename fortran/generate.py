#!/usr/bin/env python3
"""Makes the sources of the Fortran interface that follow a pattern from one table, procedures.tsv, and from include/mpi.h.

usage: generate.py LANGUAGE procedures.tsv mpi.h OUTPUT

LANGUAGE, and what OUTPUT is then:
  c              C functions that a program with mpi_f08 calls (emit_c.py says how they are named)
  f08-types      module mpi_f08_types: kinds, handles, statuses, constants (emit_f08.py)
  f08-callbacks  module mpi_f08_callbacks: interfaces of the procedures that a program passes
  f08            module mpi_f08: interfaces of all procedures
  integer-c      C functions that a program with module mpi or mpif.h calls (emit_integer.py)
  integer-module module mpi
  mpif           mpif.h

How it fits together:
- libmpifort_abi.so.1 is C for the most part: what is made here, and what is written by hand: sentinel.c (special variables), text.c (characters), arrays.c (logicals, lengths), facts.* (what the
  compiler is like), fail.c (errors), callback.h and trampoline.* (procedures that MPI calls), section.c (sections of arrays as
  datatypes), copy.c and keep.c (copies that stand in for sections), special.c (what C has not). It needs libmpi_abi.so.1 alone.
- The modules have interfaces and constants, no code but what a compiler adds of itself. One folder of module files per
  compiler and version.
- TYPE(MPI_Comm) and INTEGER are the same by reference, an absent ierror is a null pointer, statuses lie in memory as C's,
  and a CHARACTER's length comes last: so C functions serve every compiler that calls as gfortran does.
- A choice buffer comes as descriptor: a contiguous array goes straight to C, a section takes the way that the table names.
"""
import sys

import emit_c
import emit_f08
import emit_integer
import table


def main(language, procedures_tsv, mpi_h, output):
    procedures, _ = table.read(procedures_tsv)
    constants = table.constants(mpi_h)
    makers = {
        "c": lambda: emit_c.emit(procedures),
        "f08-types": lambda: emit_f08.types(constants),
        "f08-callbacks": emit_f08.callbacks,
        "f08": lambda: emit_f08.interfaces(procedures),
        "integer-c": lambda: emit_integer.c(procedures),
        "integer-module": lambda: emit_integer.module(procedures, constants),
        "mpif": lambda: emit_integer.mpif(constants),
    }
    if language not in makers:
        sys.exit(f"generate.py: no language {language}; there are {', '.join(makers)}")
    text = makers[language]()
    with open(output, "w", encoding="ascii") as out:
        out.write(text)


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
