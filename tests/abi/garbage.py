#!/usr/bin/env python3
"""Writes the C program that calls every function of the standard with wrong handles, wrong numbers and wrong addresses (NULL, and a
handle where its address belongs), one at a time, all other arguments being right: each call must return an error, and nothing may crash.

usage: garbage.py functions.tsv OUTPUT.c
"""
import re
import sys

# Not called: they end the program, need no start, judge nothing or take handles of another world.
LEFT_OUT = re.compile(r"MPI_(Abort|Init|Init_thread|Finalize|Initialized|Finalized|Pcontrol|Wtime|Wtick|Aint_.*|T_.*|"
                      r"Session_.*|File_.*|Register_.*|.*_(toint|fromint)|Add_error.*|Remove_error.*|Status_set_.*)$")
# Handles behind pointers that are read.
READ_BY_POINTER = re.compile(r"MPI_(.*_free|Wait|Test|Cancel|Start|Type_commit|I?mrecv(_c)?|Mrecv(_c)?|Comm_disconnect)$")
# Arguments that may be NULL or are not read: statuses, functions, what comes by its number, which is 0 here, and of calls that would wait.
ANY_ADDRESS = re.compile(r"MPI_(.*(Status|_function|_function_c)|(Dist_g|G)raph_(create|create_adjacent|map) (?!comm).*|"
                         r"Info_create_env argv|Improbe.*|Mprobe.*|I?probe.*)$")
GOOD = {"MPI_Comm": "MPI_COMM_SELF", "MPI_Datatype": "MPI_INT", "MPI_Op": "MPI_SUM", "MPI_Win": "win",
        "MPI_Group": "group", "MPI_Info": "MPI_INFO_NULL", "MPI_Request": "MPI_REQUEST_NULL",
        "MPI_Errhandler": "MPI_ERRORS_RETURN", "MPI_Message": "MPI_MESSAGE_NO_PROC", "MPI_Session": "session",
        "MPI_File": "MPI_FILE_NULL"}
NUMBERS = re.compile(r"(send|recv|origin|target|result|in|out)?count$|source$|dest$|root$|(send|recv)?tag$|target_rank$|"
                     r"blocklength$|ndims$")
HEAD = """/* Made by tests/abi/garbage.py. */
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define N_BAD 11

static char scratch[1 << 16], scratch2[1 << 16];
static MPI_Win win;
static MPI_Group group;
static MPI_Datatype type;
static MPI_Session session;
static uintptr_t bad[N_BAD];
static void *bads[4], *goods[4];
static int failed, calls;
static const char *now = "start";

/* Every out argument points here: nothing, or a text. */
static void *clean(void)
{
    memset(scratch, 0, sizeof scratch);
    return scratch;
}

static void *fill(void **array, uintptr_t handle)
{
    for (int i = 0; i < 4; i++) {
        array[i] = (void *)handle;
    }
    return array;
}

/* A signal says in which call; then it takes its course. */
static void tell(int number)
{
    (void)!write(2, now, strlen(now));
    (void)!write(2, "\\n", 1);
    signal(number, SIG_DFL);
    raise(number);
}

static void judge(const char *call, int code)
{
    calls++;
    if (code == MPI_SUCCESS) {
        printf("%s returned MPI_SUCCESS\\n", call);
        failed++;
    }
}

static void start(void)
{
    MPI_Datatype gone;
    char *base;

    signal(SIGSEGV, tell);
    signal(SIGBUS, tell);
    signal(SIGFPE, tell);
    signal(SIGALRM, tell);
    alarm(60);
    MPI_Init(NULL, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_SELF, &base, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Comm_group(MPI_COMM_SELF, &group);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_contiguous(2, MPI_INT, &gone);
    uintptr_t values[N_BAD] = {0, 1, 0xfff, 0x1000, 0x7fffffff, UINTPTR_MAX, (uintptr_t)scratch,
                               (uintptr_t)type + 8, (uintptr_t)gone, (uintptr_t)1 << 63, (uintptr_t)main};
    memcpy(bad, values, sizeof bad);
    MPI_Type_free(&gone);
}
"""


def parameters(text):
    """[(type, name, kind)] with kind value, pointer or array."""
    found = []
    for p in re.split(r",\s*(?![^()]*\))", text):
        p = p.strip()
        if p in ("void", ""):
            continue
        m = re.match(r"(.*?)(\**)(\w+)((?:\[\d*\])*)$", p)
        ctype = m[1].replace("const ", "").strip()
        found.append((ctype, m[3], "array" if m[4] else "pointer" if m[2] else "value", p))
    return found


def good(ctype, name, kind):
    if kind == "value":
        if ctype in GOOD:
            return GOOD[ctype]
        return "1" if "count" in name or name in ("n", "size", "ndims") else "0"
    if ctype in GOOD and kind == "array":
        return f"fill(goods, (uintptr_t){GOOD[ctype]})"
    if ctype.endswith("_function") or ctype.endswith("_function_c"):
        return "NULL"
    return "scratch2" if ctype == "void" else "clean()"


def call(name, params, at, value):
    args = [value if i == at else good(*p[:3]) for i, p in enumerate(params)]
    # C has one scratch area for all out arguments; their types differ.
    casts = []
    for arg, p in zip(args, params):
        if arg in ("clean()", "scratch2", "NULL") or arg.startswith("fill("):
            arg = f"(void *){arg}"
        casts.append(arg)
    return f"{name}({', '.join(casts)})"


def main():
    functions, output = sys.argv[1:]
    bodies = []
    for line in open(functions):
        if line.startswith("#") or "\t" not in line:
            continue
        name, _, text = line.rstrip("\n").split("\t")
        if LEFT_OUT.match(name):
            continue
        params = parameters(text)
        body = []
        for at, (ctype, pname, kind, _) in enumerate(params):
            label = f'"{name} with a bad {pname}"'
            if ctype in GOOD and (kind != "pointer" or READ_BY_POINTER.match(name)):
                bad = f"({ctype})bad[i]" if kind == "value" else "fill(bads, bad[i])"
                body.append(f"    for (int i = 0; i < N_BAD; i++) {{\n        now = {label};\n"
                            f"        judge({label}, {call(name, params, at, bad)});\n    }}")
            elif kind == "value" and ctype in ("int", "MPI_Count") and NUMBERS.match(pname):
                body.append(f"    now = {label};\n    judge({label}, {call(name, params, at, '-77')});")
            if kind != "value" and ctype != "void" and not ANY_ADDRESS.match(name + " " + pname) \
                    and not ANY_ADDRESS.match("MPI_" + ctype):
                for address in ("NULL", "(void *)MPI_COMM_WORLD"):
                    body.append(f"    now = {label};\n    judge({label}, {call(name, params, at, address)});")
        if body:
            bodies.append((name, "\n".join(body)))
    with open(output, "w") as f:
        f.write(HEAD.replace("(uintptr_t)main", "(uintptr_t)&bad"))
        for name, body in bodies:
            f.write(f"\nstatic void try_{name}(void)\n{{\n{body}\n}}\n")
        f.write("\nint main(void)\n{\n    start();\n")
        f.writelines(f"    try_{name}();\n" for name, _ in bodies)
        f.write('    printf("%d calls, %d without an error\\n", calls, failed);\n    return failed != 0;\n}\n')


main()
