#!/usr/bin/env python3
"""Writes the table of all calls of the standard that have buffers, for buffers.h: a function a call, which takes its
arguments from there by their names.

usage: buffers.py functions.tsv OUTPUT.c

Fails for a function with an address (void *) that is neither in the table nor left out below with a reason.
"""
import re
import sys

LEFT_OUT = {  # addresses that are no buffers of data with a datatype
    r"Abi_[gs]et_fortran_booleans": "values of Fortran's logicals",
    r"Alloc_mem|Free_mem|Win_(allocate|allocate_shared|create|attach|detach|shared_query)(_c)?": "memory itself",
    r".*_[gs]et_attr|Attr_(get|put)|.*(create_keyval|Keyval_create)": "attributes",
    r"(Comm_|Session_)?(Buffer_)?(attach|detach)(_buffer)?(_c)?": "room for buffered sends",
    r"Get_address": "any address is good",
    r"Grequest_start|Register_datarep(_c)?": "state of callbacks",
    r"T_.*": "values of variables and events",
}
# The datatype is predefined: its data are never at absolute addresses.
PREDEFINED = r"Fetch_and_op|Compare_and_swap"

# Our own.
MORE = [[f"MPIX_Put_notify{c}", "int",
         f"const void *origin_addr, {count} origin_count, MPI_Datatype origin_datatype, int target_rank, "
         f"MPI_Aint target_disp, {count} target_count, MPI_Datatype target_datatype, MPI_Aint flag_disp, uint64_t value, "
         "MPI_Win win"] for c, count in (("", "int"), ("_c", "MPI_Count"))]
# Array sections, where they are plain buffers: none is given, or a contiguous one. Of a section with gaps MPI_BOTTOM would be the
# address of its first element, and a type's displacements are places among its elements: none of them is an absolute address.
ON_WINDOW = ("{} *origin_addr, const MPIX_Section *origin, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank, "
             "MPI_Aint target_disp, const MPIX_Section *target, MPI_Count target_count, MPI_Datatype target_datatype, {}MPI_Win win")
MESSAGE = "{} *buf, const MPIX_Section *section, MPI_Count count, MPI_Datatype datatype, int {}, int tag, MPI_Comm comm"
MORE += [
    ["MPIX_Put_section", "int", ON_WINDOW.format("const void", "")], ["MPIX_Get_section", "int", ON_WINDOW.format("void", "")],
    ["MPIX_Accumulate_section", "int", ON_WINDOW.format("const void", "MPI_Op op, ")],
    ["MPIX_Send_section", "int", MESSAGE.format("const void", "dest")],
    ["MPIX_Recv_section", "int", MESSAGE.format("void", "source") + ", MPI_Status *status"],
    ["MPIX_Isend_section", "int", MESSAGE.format("const void", "dest") + ", MPI_Request *request"],
    ["MPIX_Irecv_section", "int", MESSAGE.format("void", "source") + ", MPI_Request *request"],
]

# kind, for names; the first that fits
KINDS = [
    ("PSEND", r"Psend_init"), ("PRECV", r"Precv_init"), ("MRECV", r"I?mrecv"), ("WORD", PREDEFINED),
    ("BOTH", r"I?sendrecv(_replace)?"), ("READY", r"I?rsend(_init)?"), ("SEND", r"I?[bs]?send(_init)?|I?send_section"),
    ("RECV", r"I?recv(_init|_section)?"), ("NEIGHBOR", r"I?neighbor_.*"),
    ("RMA", r"R?(put|get|accumulate|get_accumulate)|Put_notify|(put|get|accumulate)_section"), ("SHARED", r"File_i?(read|write)_shared"), ("FILES", r"File_.*"),
    ("PACK", r"Pack(_external)?"), ("UNPACK", r"Unpack(_external)?"), ("LOCAL", r"Reduce_local"),
    ("COLL", r"I?(bcast|(all)?gatherv?|scatterv?|alltoall[vw]?|(all)?reduce|reduce_scatter(_block)?|(ex)?scan)(_init)?"),
]
IN_PLACE = [("SEND_STAYS", r"I?(allgatherv?|alltoall[vw]?|allreduce|reduce_scatter(_block)?|(ex)?scan)(_init)?"),
            ("ROOT_SEND_STAYS", r"I?(gatherv?|reduce)(_init)?"), ("ROOT_RECV_STAYS", r"I?scatterv?(_init)?")]
PLAIN = {
    "dest": "given.dest", "source": "given.source", "sendtag": "TAG", "recvtag": "TAG", "tag": "TAG", "comm": "given.comm",
    "root": "given.root", "info": "MPI_INFO_NULL", "request": "&given.request", "status": "&given.status",
    "message": "&given.message", "win": "given.win", "target_rank": "given.target", "target_disp": "given.disp",
    "target_datatype": "given.there", "fh": "given.file", "offset": "given.offset", "partitions": "PARTITIONS",
    "datarep": '"external32"', "sendtype": "given.in.type", "recvtype": "given.out.type",
    "result_datatype": "given.out.type", "flag_disp": "given.disp + FLAG_AT", "value": "1",
    "section": "given.section", "origin": "given.section", "target": "given.section",
}


def parameters(text):
    """[(type, name, 'value', 'pointer' or 'array')]"""
    found = []
    for p in re.split(r",\s*", text):
        m = re.match(r"(.*?)(\**)(\w+)(\[\])?$", p.strip())
        found.append((m[1].strip(), m[3], "array" if m[4] else "pointer" if m[2] else "value"))
    return found


def short(name):
    """Without prefix and _c."""
    return re.sub(r"^MPIX?_|_c$", "", name)


def fits(pattern, name):
    return re.fullmatch(pattern, short(name), re.I) is not None


def argument(name, param, kind, side):
    """What is handed over; `side` is the one of calls with one buffer of data, None where there are two."""
    ctype, pname, shape = param
    if (kind, pname) in (("PACK", "outbuf"), ("UNPACK", "inbuf")):
        return "side_area"
    if pname == "compare_addr" or (ctype == "const void" and shape == "pointer"):
        return "given.in.buf"
    if ctype == "void":
        return "given.out.buf"
    if pname == "op":
        return "MPI_SUM" if kind in ("RMA", "WORD") else "given.op"
    if pname == "dest" and kind == "PRECV":
        return "given.source"
    if pname == "origin_datatype":
        return f"{side or 'given.in'}.type"
    if pname == "datatype":
        return "MPI_INT" if kind == "WORD" else f"{side}.type" if side else "given.one"
    if shape == "array" and pname != "datarep":
        if pname.endswith("types"):
            return "given.in_types" if pname.startswith("send") else "given.out_types"
        which = "counts" if pname.endswith("counts") else "bytes" if "alltoallw" in name.lower() else "displs"
        return f"given.{which}{'' if ctype == 'const int' else '_c'}"
    if pname in ("outsize", "insize"):
        return f"({ctype})side_bytes"
    if pname == "position":
        return {"int": "&given.at", "MPI_Aint": "&given.at_a", "MPI_Count": "&given.at_c"}[ctype]
    return f"({ctype})given.count" if pname.endswith("count") else PLAIN[pname]


def row(name, params, names):
    """The function that calls it, and its line of the table."""
    kind = next((k for k, pattern in KINDS if fits(pattern, name)), None)
    if kind is None:
        sys.exit(f"buffers.py: {name} has an address; how is it called, or why not?")
    typed = [p[0] for p in params if p[0].endswith("void") and p[1] != "compare_addr" and
             (kind, p[1]) not in (("PACK", "outbuf"), ("UNPACK", "inbuf"))]
    reads, writes = "const void" in typed, "void" in typed
    side = None if reads and writes else "given.in" if reads else "given.out"
    has = {p[1] for p in params}
    flags = [f for f, on in (("READS", reads), ("WRITES", writes), ("ONE_TYPE", side is None and "datatype" in has),
                             ("REQUEST", "request" in has), ("AGAIN", "_init" in name), ("ROOTED", "root" in has),
                             ("LARGE", name.endswith("_c"))) if on]
    flags += [f for f, pattern in IN_PLACE if fits(pattern, name)]
    try:
        args = ", ".join(argument(name, p, kind, side) for p in params)
    except KeyError as e:
        sys.exit(f"buffers.py: {name} has a parameter {e} that nobody knows")
    body = f"    return {name}({args});\n"
    end = re.sub(r"_begin(_c)?$", "_end", name)
    if end != name:
        assert end in names
        body = (f"    int code = {name}({args});\n"
                f"    return code != MPI_SUCCESS ? code : {end}(given.file, {side}.buf, &given.status);\n")
    return (f"static int call_{name}(void)\n{{\n{body}}}\n",
            f'    {{"{name}", call_{name}, {kind}, {" | ".join(flags)}}},\n')


def main():
    functions, output = sys.argv[1:]
    calls, rows = [], []
    lines = [line.rstrip("\n").split("\t") for line in open(functions) if "\t" in line and not line.startswith("#")]
    names = {line[0] for line in lines}
    for name, _, text in lines + MORE:
        if not re.search(r"\bvoid \*", text) or any(fits(pattern, name) for pattern in LEFT_OUT) or name.endswith("_end"):
            continue
        function, line = row(name, parameters(text), names)
        calls.append(function)
        rows.append(line)
    with open(output, "w") as f:
        f.write('/* Made by tests/abi/buffers.py. */\n#include "buffers.h"\n\n')
        f.write("\n".join(calls) + "\nstatic const struct row rows[] = {\n" + "".join(rows) + "};\n\n")
        f.write("int main(int argc, char **argv)\n{\n    return play(rows, sizeof rows / sizeof rows[0], argc > 1 ? argv[1] : \"all\");\n}\n")


if __name__ == "__main__":
    main()
