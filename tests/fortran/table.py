#!/usr/bin/env python3
"""Compares fortran/procedures.tsv with the C functions of MPI: each has a Fortran form or a reason why not.

usage: table.py SOURCE_ROOT

Looks at the order of names, argument by argument at names, kinds, arrays and what is written, in the small and the large form,
and at the special variables and constants that the modules get from include/mpi.h.
"""
import os
import re
import sys

root = sys.argv[1]
sys.path.insert(0, os.path.join(root, "fortran"))
import table  # noqa: E402

# Names that are others in C, where a parameter's name says nothing to a program.
C_NAMES = {"index": "indx"}
# C's types by kind; a choice buffer and its like are void *.
KINDS = {"int": "int", "index": "int", "logical": "int", "weights": "int", "errcodes": "int", "aint": "MPI_Aint",
         "offset": "MPI_Offset", "COUNT": "MPI_Count", "string": "char", "argv": "char", "argvs": "char",
         "commands": "char", "status": "MPI_Status", "choice": "void", "cptr": "void", "attr": "void", "extra": "void"}
# Arguments of C alone.
C_ALONE = {("MPI_Init", "argc"), ("MPI_Init", "argv"), ("MPI_Init_thread", "argc"), ("MPI_Init_thread", "argv"),
           ("MPI_Info_create_env", "argc"), ("MPI_Info_create_env", "argv")}
# C declares these without const, though it reads them alone.
READ_ALONE = {("MPI_Comm_spawn", "argv"), ("MPI_Comm_spawn_multiple", "array_of_argv"),
              ("MPI_Comm_spawn_multiple", "array_of_commands"), ("MPI_Group_range_excl", "ranges"),
              ("MPI_Group_range_incl", "ranges")}


def parse(prototype):
    """(C type, name, pointer depth, constant) of each parameter."""
    found = []
    for parameter in prototype.replace(", ...", "").split(", "):
        match = re.match(r"(const )?(\w+) (\**)(?:const )?(\w+)((?:\[\d*\])*)$", parameter)
        if match:
            const, c_type, stars, name, brackets = match.groups()
            found.append((c_type, name, len(stars) + brackets.count("["), bool(const)))
    return found


def differences(form, prototype):
    """What does not fit between a form and the C function."""
    name = form.procedure.name
    parameters = [p for p in parse(prototype) if (name, p[1]) not in C_ALONE]
    if [C_NAMES.get(a.name, a.name) if C_NAMES.get(a.name, a.name) in [p[1] for p in parameters] else a.name
            for a in form.arguments] != [p[1] for p in parameters]:
        yield f"{name}: has the arguments {[a.name for a in form.arguments]}, C has {[p[1] for p in parameters]}"
        return
    for a, (c_type, _, depth, const) in zip(form.arguments, parameters):
        wanted = table.HANDLES.get(a.kind) or (a.how if a.kind == "proc" else KINDS[a.kind])
        if wanted != c_type:
            yield f"{name}: {a.name} is {a.kind}, C has {c_type}"
        if a.kind in ("string", "argv", "argvs", "commands", "choice", "cptr", "attr", "extra", "proc"):
            reads = const or depth == 0
            if a.kind in ("string", "choice") and reads != (a.intent == "in") and (name, a.name) not in READ_ALONE:
                yield f"{name}: {a.name} has the intent {a.intent}, C has {'const' if const else 'no const'}"
            continue
        if bool(a.shape) and depth == 0 or not a.shape and a.intent == "in" and a.kind != "status" and depth > 0:
            yield f"{name}: {a.name} has the shape '{a.shape}' and intent {a.intent}, C has {depth} levels of pointers"
        if a.shape and const != (a.intent == "in") and (name, a.name) not in READ_ALONE:
            yield f"{name}: {a.name} has the intent {a.intent}, C has {'const' if const else 'no const'}"


def main():
    procedures, none = table.read(os.path.join(root, "fortran", "procedures.tsv"))
    functions = {}
    with open(os.path.join(root, "tests", "abi", "functions.tsv"), encoding="ascii") as rows:
        for line in rows:
            if not line.startswith("#"):
                name, _, prototype = line.rstrip("\n").split("\t")
                functions[name] = prototype
    faults, covered = [], set()
    names = [p.name for p in procedures]
    if names != sorted(names, key=str.lower) or len(set(names)) != len(names):
        faults.append("the procedures are not sorted by name, or one stands twice")
    for procedure in procedures:
        large = procedure.kind == "large"
        for name, form in [(procedure.name, procedure.form(procedure.kind == "own"))] + (
                [(procedure.name + "_c", procedure.form(True))] if large else []):
            if procedure.kind == "f":
                continue
            if name not in functions:
                faults.append(f"{name}: C has no such function")
                continue
            covered.add(name)
            faults += differences(form, functions[name])
    used = set()
    for name in functions:
        why = table.without_form(name, none)
        used |= {pattern for pattern, _ in none if table.without_form(name, [(pattern, "")]) is not None}
        if (name in covered) == (why is not None):
            faults.append(f"{name}: " + ("has a form and a reason why not" if why else "has neither a form nor a reason why not"))
    faults += [f"{pattern}: stands for no C function" for pattern, _ in none if pattern not in used]
    constants = {n for n, _, _ in table.constants(os.path.join(root, "include", "mpi.h"))}
    with open(os.path.join(root, "tests", "abi", "constants.tsv"), encoding="ascii") as rows:
        for line in rows:
            name = line.split("\t")[0]
            if not line.startswith("#") and name not in constants and not table.NOT_FORTRAN.match(name):
                faults.append(f"{name}: the modules lack it")
    print("\n".join(faults))
    print(f"{len(procedures)} procedures, {len(covered)} of {len(functions)} C functions, {len(constants)} constants, "
          f"{len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
