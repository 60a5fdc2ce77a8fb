#!/usr/bin/env python3
"""Writes the C program that compares include/mpi.h with the standard's tables.

usage: generate.py constants.tsv functions.tsv OUTPUT.c

Integers are compared when it compiles, handles and names when it runs; every function is assigned to a pointer of the
standard's type, which does not compile if a prototype differs.
"""
import sys

HEAD = """/* Made by tests/abi/generate.py. */
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

_Static_assert(sizeof(MPI_Status) == 32, "a status has 32 bytes");
_Static_assert(offsetof(MPI_Status, MPI_SOURCE) == 0, "MPI_SOURCE");
_Static_assert(offsetof(MPI_Status, MPI_TAG) == 4, "MPI_TAG");
_Static_assert(offsetof(MPI_Status, MPI_ERROR) == 8, "MPI_ERROR");
_Static_assert(offsetof(MPI_Status, MPI_internal) == 12, "MPI_internal");
_Static_assert(sizeof(MPI_Aint) == sizeof(void *), "MPI_Aint holds an address");
_Static_assert(sizeof(MPI_Count) == 8 && sizeof(MPI_Offset) == 8, "counts and offsets have 64 bits");
"""


def rows(path, width):
    for line in open(path):
        line = line.rstrip("\n")
        if line and not line.startswith("#"):
            yield line.split("\t") + [""] * (width - len(line.split("\t")))


def main():
    constants, functions, output = sys.argv[1:]
    integers, handles, names = [], [], []
    for name, ctype, value in rows(constants, 3):
        if ctype in ("int", "int (enumerator)", "MPI_Offset"):
            integers.append(f'_Static_assert({name} == {value}, "{name}");')
        elif ctype == "alias":
            handles.append(f'    same("{name}", (const void *){name}, (const void *){value});')
        else:
            address = f"(const void *)(uintptr_t){name}"
            handles.append(f'    same("{name}", {address}, (const void *)(uintptr_t){value});')
            handles.append(f"    {{ {ctype} typed = {name}; (void)typed; }}")
            if ctype == "MPI_Datatype" and name != "MPI_DATATYPE_NULL":
                names.append(f'    named("{name}", {name});')
    with open(output, "w") as f:
        f.write(HEAD)
        f.write("\n".join(integers) + "\n\n")
        for i, (name, result, parameters) in enumerate(rows(functions, 3)):
            f.write(f"{result} (*const f{i})({parameters}) = {name};\n")
            f.write(f"{result} (*const p{i})({parameters}) = P{name};\n")
        f.write("""
static int failed;

static void same(const char *name, const void *is, const void *should)
{
    if (is != should) {
        printf("%s is %p, the standard says %p\\n", name, is, should);
        failed = 1;
    }
}

/* The library knows the type behind the constant by the constant's name. */
static void named(const char *name, MPI_Datatype type)
{
    char known[MPI_MAX_OBJECT_NAME];
    int len = 0, size = 0;

    if (MPI_Type_get_name(type, known, &len) != MPI_SUCCESS || strcmp(known, name) != 0) {
        printf("%s is known as %s\\n", name, known);
        failed = 1;
    }
    if (MPI_Type_size(type, &size) != MPI_SUCCESS || size <= 0) {
        printf("%s has %d bytes\\n", name, size);
        failed = 1;
    }
}

int main(void)
{
    MPI_Init(NULL, NULL);
""")
        f.write("\n".join(handles) + "\n" + "\n".join(names))
        f.write("\n    MPI_Finalize();\n    return failed;\n}\n")


main()
