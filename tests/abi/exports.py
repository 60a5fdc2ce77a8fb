#!/usr/bin/env python3
"""Compares what the library exports with the standard's list and with the header's prototypes.

usage: exports.py LIBRARY mpi.h mpi.sym functions.tsv hotlane.h hotlane.sym

Every MPI_ name must be weak, every PMPI_ name strong, and nothing else may begin with MPI_ or PMPI_.
What hotlane.h declares is exported by the same rule.
"""
import re
import subprocess
import sys


def exported(library):
    """{name: nm's letter}. Of hidden symbols some linkers leave a trace in the dynamic table, where nobody can bind to it."""
    kinds = {}
    for line in subprocess.run(["readelf", "-W", "--dyn-syms", library], check=True, capture_output=True, text=True).stdout.splitlines():
        fields = line.split()
        if len(fields) == 8 and fields[0].endswith(":") and fields[5] in ("DEFAULT", "PROTECTED") and fields[6] != "UND":
            kinds[fields[7].split("@")[0]] = "W" if fields[4] == "WEAK" else "T" if fields[3] in ("FUNC", "IFUNC") else "D"
    return kinds


def prototypes(header):
    text = re.sub(r"/\*.*?\*/", "", open(header).read(), flags=re.S)
    return set(re.findall(r"^[A-Za-z_][\w ]*?[ *]((?:P?MPIX?|hotlane)_\w+)\(", text, flags=re.M))


def report(what, names):
    for name in sorted(names):
        print(f"{name}: {what}")
    return len(names)


def main():
    library, header, symbols, functions, own_header, own_symbols = sys.argv[1:]
    own = set(open(own_symbols).read().split())
    wanted = set(open(symbols).read().split())
    table = [line.split("\t")[0] for line in open(functions) if not line.startswith("#")]
    both = set(table) | {"P" + name for name in table}
    kinds = exported(library)
    have = {name for name in kinds if re.match(r"P?MPI_", name)}
    declared = prototypes(header)
    bad = report("in the list of symbols, but no function of the standard", wanted - both)
    bad += report("missing in the list of symbols", both - wanted)
    bad += report("not exported", wanted - have)
    bad += report("exported, but not of the standard", have - wanted)
    bad += report("not declared in mpi.h", wanted - declared)
    bad += report("declared in mpi.h, but not of the standard", declared - wanted)
    bad += report("should be weak", {n for n in have if n.startswith("MPI_") and kinds[n] != "W"})
    bad += report("should be strong", {n for n in have if n.startswith("PMPI_") and kinds[n] != "T"})
    bad += report("differs between hotlane.h and its list of symbols", own ^ prototypes(own_header))
    bad += report("of hotlane.h, not exported", own - set(kinds))
    bad += report("should be weak", {n for n in own & set(kinds) if n.startswith("MPIX_") and kinds[n] != "W"})
    bad += report("exported, but not in hotlane.h", {n for n in kinds if re.match(r"P?MPIX_|hotlane_", n)} - own)
    # shmem.py knows all names of OpenSHMEM.
    others = {n for n in kinds if not re.match(r"P?MPIX?_|p?shmemx?_|hotlane_|start_pes$|_my_pe$|_num_pes$|"
                                              r"sh(malloc|realloc|memalign|free)$", n)}
    bad += report("exported under a name that is not ours", others)
    print(f"{len(have)} functions exported, {len(wanted)} wanted, {bad} differences")
    return bad != 0


sys.exit(main())
