#!/usr/bin/env python3
"""Compares the OpenSHMEM headers and the library with the standard's tables (shmem.tsv).

usage: shmem.py CASE BUILD COMPILER...

names       the tables, shmem.sym, what the headers declare and what the library exports agree
prototypes  every function and its pshmem_ twin has the standard's type
generic     every C11 form, with every type and with and without a context, calls the function that it should; what is waited for
            may be volatile
cxx         the headers compile as C++, strictly

Exit code 77: skipped, with the reason.
"""
import glob
import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile

from shmem_tables import FUNCTIONS, OLD, RENAMED, TYPES, expand, name_of, pair, renamed, typed, wanted

CASE, BUILD, *COMPILER = sys.argv[1:]
HERE = os.path.dirname(os.path.abspath(__file__))
INCLUDE = os.path.join(os.path.dirname(os.path.dirname(HERE)), "include")


def compile_c(folder, text, *options, want=0, name="a.c"):
    source = os.path.join(folder, name)
    with open(source, "w", encoding="ascii") as f:
        f.write(text)
    done = subprocess.run(COMPILER + ["-I", INCLUDE, *options, source], capture_output=True, text=True, timeout=300)
    if (done.returncode == 0) != (want == 0):
        print("\n".join(done.stderr.split("\n")[:40]))
        sys.exit(f"{' '.join(COMPILER)} {' '.join(options)}: ended with {done.returncode}")


# ---- names ----

def exported():
    out = subprocess.run(["nm", "-D", "--defined-only", os.path.join(BUILD, "lib", "libhotlane.so.0")], check=True,
                         capture_output=True, text=True).stdout
    kinds = {line.split()[-1].split("@")[0]: line.split()[-2] for line in out.splitlines()}
    return {name: kind for name, kind in kinds.items() if re.match(r"p?shmemx?_|start_pes$", name) or name in OLD}


def declared():
    """What the preprocessed headers declare, twins included."""
    text = '#include <shmemx.h>\n'
    out = subprocess.run(COMPILER + ["-I", INCLUDE, "-E", "-P", "-x", "c", "-"], input=text, check=True,
                         capture_output=True, text=True).stdout
    names = set()
    for statement in re.sub(r'__attribute__\s*\(\(.*?\)\)', "", out).split(";"):
        twins = re.match(r"\s*extern\s+__typeof__\s*\(\w+\)(.*?)(__asm__.*)?$", statement, flags=re.S)
        if twins:
            names |= set(re.findall(r"\w+", twins[1]))
        else:
            names |= set(re.findall(r"\b(p?shmem\w*|start_pes|_my_pe|_num_pes|sh\w+)\s*\(", statement))
    return names


def report(what, found):
    for name in sorted(found):
        print(f"{name}: {what}")
    return len(found)


def names():
    functions = wanted()
    both = {twin for name in functions for twin in pair(name)}
    others = {twin for name in renamed() for twin in pair(name)}
    symbols = {line.strip() for line in open(os.path.join(HERE, "shmem.sym"), encoding="ascii") if line[0] != "#"}
    kinds, prototypes = exported(), declared()
    literal = "".join(open(file, encoding="utf-8").read() for file in
                      glob.glob(INCLUDE + "/shmem*.h") + glob.glob(INCLUDE + "/shmem/*.h"))
    lines = set(re.findall(r"\b(\w+)\(", literal))
    bad = report("of the tables, missing in shmem.sym", both - symbols)
    bad += report("in shmem.sym, but not of the tables", symbols - both)
    bad += report("not declared in the headers", (both | others) - prototypes)
    bad += report("declared in the headers, but not of the tables", prototypes - both - others)
    bad += report("does not stand in the headers as it is called: grep finds nothing", set(functions) - lines)
    bad += report("exported, but not of the tables", set(kinds) - both)
    bad += report("not exported", both - set(kinds))
    bad += report("should be weak", {n for n in kinds if not n.startswith("p") and kinds[n] != "W"})
    bad += report("should be strong", {n for n in kinds if n.startswith("p") and kinds[n] != "T"})
    versions = [len({name_of(p) for v, form, proto, table in FUNCTIONS if form == "C" and version in v
                     for p in expand(proto, table)}) for version in ("1.5", "1.6")]
    print(f"{versions[0]} functions of 1.5, {versions[1]} of 1.6, {len(functions)} in all; {len(kinds)} of {len(both)} "
          f"names exported, {bad} differences")
    sys.exit(bad != 0)


# ---- prototypes ----

def prototypes():
    text = ["#include <shmemx.h>"]
    for name, prototype in sorted({**wanted(), **renamed()}.items()):
        result, rest = prototype.split(name + "(", 1)
        for twin in pair(name):
            text.append(f"_Static_assert(__builtin_types_compatible_p(__typeof__({twin}), {result.strip()}({rest}), "
                        f'"{twin}");')
    with tempfile.TemporaryDirectory() as folder:
        # The attribute of shmem_global_exit is no part of its type.
        compile_c(folder, "\n".join(text) + "\n", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only")
        for standard in ("c99", "c11", "c17"):
            compile_c(folder, "#include <pshmem.h>\n#include <mpp/shmem.h>\n#include <mpp/shmemx.h>\ntypedef int x;\n", "-std=" + standard, "-Wall",
                      "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only")


# ---- generic ----

HEAD = """#include <complex.h>
#include <shmemx.h>
#include <stdio.h>
#include <string.h>
#define MANY 4
const char *called;
static int failed, calls;
static shmem_ctx_t ctx;
static shmem_team_t team;
static uint64_t sig[1];
static size_t indices[1];
static int status[1];

/* `right`: names with a blank on both sides. */
static void judge(const char *right, int line)
{
    char name[80];
    snprintf(name, sizeof name, " %s ", called);
    calls++;
    if (!strstr(right, name)) {
        printf("line %d: called %s, not one of%s\\n", line, called, right);
        failed++;
    }
}
"""
ARGUMENTS = {"ctx": "ctx", "team": "team", "sig_addr": "sig", "indices": "indices", "status": "status",
             "source": "source", "dest": "dest", "fetch": "dest", "ivar": "dest", "ivars": "dest", "cmp_values": "source",
             "value": "*dest", "cond": "*dest", "cmp_value": "*dest"}


def argument(parameter):
    return ARGUMENTS.get(re.search(r"(\w+)\s*$", parameter)[1], "1")


def generic_rows():
    """(generic name, parameters, [(C type, TYPENAME)] or None, name of the function with {} for TYPENAME)"""
    tables_of = {}
    for _, form, prototype, table in FUNCTIONS:
        if form == "C" and "{TYPENAME}" in prototype:
            name = name_of(prototype.replace("{TYPENAME}", "T"))
            tables_of[name] = (prototype, table + " " + tables_of.get(name, ("", ""))[1])
    for versions, form, prototype, table in FUNCTIONS:
        if form != "C11" or "1.6" not in versions or "global_exit" in prototype:
            continue
        name = name_of(prototype)
        parameters = re.search(r"\((.*)\)", prototype)[1].split(",")
        ctx = "ctx_" if parameters[0].startswith("shmem_ctx_t") else ""
        if "TYPE" not in prototype:
            function = "shmem_team_sync" if name == "shmem_sync" else name.replace("shmem_", "shmem_" + ctx)
            types = None
        else:
            function = name.replace("shmem_", "shmem_" + ctx + "T_", 1)
            types = typed(tables_of[function][0], tables_of[function][1])
            function = function.replace("_T_", "_{}_")
        yield name, parameters, types, function
        if RENAMED.match(name):
            yield "shmemx_" + name[6:], parameters, types, function


def generic():
    text = [HEAD]
    mocks = {name for name in wanted()}
    body = []
    for at, (name, parameters, types, function) in enumerate(generic_rows()):
        call = f"{name}({', '.join(argument(p) for p in parameters)})"
        if types is None:
            body.append(f'    {call};\n    judge(" {function} ", __LINE__);')
            continue
        qualifiers = ("", "volatile ") if any("TYPE *ivar" in p for p in parameters) else ("",)
        for (ctype, word), qualifier in itertools.product(types, qualifiers):
            # Types that are one on this machine share a function: any of their names is right.
            const = "const " if "const TYPE *source" in ",".join(parameters) else ""
            right = "".join(f" {function.format(other)} " for _, other in types if (word, other) in SAME or word == other)
            body.append(f"    {{\n        {qualifier}{ctype} dest[1] = {{0}}; {const}{ctype} source[1] = {{0}};\n"
                        f"        (void)dest, (void)source;\n        {call};\n"
                        f'        judge("{right}", __LINE__);\n    }}')
    text.append("int main(void)\n{\n" + "\n".join(body) +
                '\n    printf("%d generic calls, %d wrong\\n", calls, failed);\n    return failed != 0;\n}\n')
    mock = ["extern const char *called;"]
    mock += [f'long {name}(void) {{ called = "{name}"; return 0; }}' for name in sorted(mocks)]
    with tempfile.TemporaryDirectory() as folder:
        compile_c(folder, "\n".join(mock), "-w", "-O0", "-fno-builtin", "-c", "-o", os.path.join(folder, "mock.o"),
                  name="mock.c")
        compile_c(folder, "\n".join(text), "-std=c11", "-O0", "-Wall", "-Werror", "-Wno-unused-value",
                  os.path.join(folder, "mock.o"), "-o", os.path.join(folder, "generic"))
        subprocess.run([os.path.join(folder, "generic")], check=True)
        for wrong in ("shmem_put(text, text, 1, 1)", "shmem_put(c, text, text, 1, 1)", "shmem_atomic_add(&f, 1, 1)",
                      "shmem_atomic_and(&f, 1, 1)", "shmem_wait_until(&f, SHMEM_CMP_EQ, 1)",
                      "shmem_test((const int *)0, SHMEM_CMP_EQ, 1)", "shmem_atomic_inc((volatile int *)0, 0)",
                      "shmem_broadcast(t, text, text, 1, 0)", "shmem_or_reduce(t, &f, &f, 1)"):
            compile_c(folder, "#include <shmem.h>\n"
                      f"void g(shmem_ctx_t c, shmem_team_t t, void **text, float f) {{ {wrong}; }}\n", "-std=c11",
                      "-fsyntax-only", want=1)


def same_types():
    """Pairs of TYPENAMEs whose C types are one type here, as the compiler says."""
    words = {word: ctype for table in TYPES.values() for ctype, word, _ in table}
    items = list(words.items())
    text = "#include <stddef.h>\n#include <stdint.h>\n"
    text += "".join(f'_Static_assert(1, ""); char {a}__{b}[__builtin_types_compatible_p({ta}, {tb}) ? 2 : 1];\n'
                    for a, ta in items for b, tb in items if a < b)
    with tempfile.TemporaryDirectory() as folder:
        compile_c(folder, text, "-w", "-fno-common", "-c", "-o", os.path.join(folder, "same.o"))
        out = subprocess.run(["nm", "-S", os.path.join(folder, "same.o")], check=True, capture_output=True, text=True).stdout
    pairs = [line.split()[3].split("__") for line in out.splitlines() if int(line.split()[1], 16) == 2]
    return {(a, b) for a, b in pairs} | {(b, a) for a, b in pairs}


# ---- C++ ----

def cxx():
    compiler = shutil.which(os.environ.get("CXX", "c++"))
    if compiler is None:
        print("skipped: no C++ compiler")
        sys.exit(77)
    COMPILER[:] = [compiler]
    calls = "".join(f"void *use_{twin}() {{ return reinterpret_cast<void *>(&::{twin}); }}\n"
                    for name in {**wanted(), **renamed()} for twin in pair(name))
    with tempfile.TemporaryDirectory() as folder:
        for standard in ("c++11", "c++17"):
            compile_c(folder, "#include <pshmem.h>\n#include <mpp/shmem.h>\n#include <mpp/shmemx.h>\n" + calls, "-std=" + standard, "-Wall", "-Wextra",
                      "-Wpedantic", "-Werror", "-fsyntax-only", name="a.cc")
            # Behind <complex>, whose types go to where C's are declared.
            compile_c(folder, "#include <complex>\n#include <shmem.h>\nint sum(std::complex<double> *to, std::complex<double> *from)\n{\n"
                      "    return shmem_complexd_sum_reduce(SHMEM_TEAM_WORLD, reinterpret_cast<double _Complex *>(to),\n"
                      "                                     reinterpret_cast<double _Complex *>(from), 1);\n}\n",
                      "-std=" + standard, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", name="b.cc")


SAME = same_types() if CASE == "generic" else set()
{"names": names, "prototypes": prototypes, "generic": generic, "cxx": cxx}[CASE]()
