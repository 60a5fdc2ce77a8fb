#!/usr/bin/env python3
"""Writes the C program that calls OpenSHMEM functions wrongly, one wrong argument at a time, each in a child of its own:
the child must end with code 1 and one line that names PE, function and value, never by a signal.

usage: shmem_garbage.py OUTPUT.c

Called are: one type and one size of every operation, with and without a context, before shmem_init, after shmem_finalize,
and with a PE, a symmetric address, a context or a team that does not exist.
"""
import re
import sys

from shmem_tables import FUNCTIONS, OLD, name_of, typed

# Right at any time.
ANY_TIME = re.compile(r"shmem_(init|init_thread|query_initialized|query_thread|info_get_\w+|global_exit|pcontrol)$|start_pes$|"
                      r"shmemx_thread_(un)?register$")
# They answer the question.
ASKS_PE = {"shmem_pe_accessible", "shmem_addr_accessible", "shmem_team_translate_pe"}
GOOD = {"ctx": "SHMEM_CTX_DEFAULT", "team": "SHMEM_TEAM_WORLD", "parent_team": "SHMEM_TEAM_WORLD",
        "src_team": "SHMEM_TEAM_WORLD", "dest_team": "SHMEM_TEAM_WORLD", "pe": "0", "PE_root": "0", "PE_start": "0",
        "logPE_stride": "0", "PE_size": "1", "pSync": "psync", "pWrk": "work", "sig_addr": "(uint64_t *)word",
        "sig_op": "SHMEM_SIGNAL_SET", "cmp": "SHMEM_CMP_EQ", "value": "0", "cond": "0", "cmp_value": "0", "signal": "0",
        "status": "NULL", "indices": "(size_t *)plain", "source": "word", "dest": "there", "fetch": "plain", "lock": "word",
        "ivar": "word", "ivars": "word", "cmp_values": "plain", "addr": "word", "ptr": "NULL", "options": "0",
        "new_team": "(shmem_team_t *)plain", "config": "NULL", "target_pes": "pes", "alignment": "64", "object": "plain"}
# Numbers that no call takes (and that its line says; of nelems the bytes).
NUMBERS = {"sig_op": "99", "cmp": "77", "PE_root": "1234", "dst": "-5", "sst": "-6", "nelems": "1000000007",
           "logPE_stride": "-3", "PE_size": "4321", "options": "0x4000"}
HEAD = """/* Made by tests/abi/shmem_garbage.py. */
#include <shmemx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static long word[8], there[8], work[256], psync[SHMEM_SYNC_SIZE]; /* symmetric */
static long *plain;                                               /* not */
static const int pes[1];
static int calls, failed;

enum when { BEFORE, WITHIN, AFTER };

static void in_child(int out, enum when when, void (*call)(void))
{
    dup2(out, 2);
    alarm(20);
    plain = calloc(64, sizeof *plain);
    if (when != BEFORE) {
        shmem_init();
    }
    if (when == AFTER) {
        shmem_finalize();
    }
    call();
    _exit(99);
}

/* `words`: a part of the line, all letters. */
static void try(const char *func, const char *what, enum when when, void (*call)(void), const char *words)
{
    char text[2000];
    size_t len = 0;
    ssize_t got;
    int fds[2], status;
    if (pipe(fds) != 0) {
        exit(3);
    }
    pid_t child = fork();
    if (child == 0) {
        in_child(fds[1], when, call);
    }
    close(fds[1]);
    while (len < sizeof text - 1 && (got = read(fds[0], text + len, sizeof text - 1 - len)) > 0) {
        len += (size_t)got;
    }
    text[len] = '\\0';
    close(fds[0]);
    waitpid(child, &status, 0);
    calls++;
    char *end = strchr(text, '\\n'), *name = strstr(text, func);
    const char *fault = !WIFEXITED(status)          ? "ended by a signal"
                        : WEXITSTATUS(status) == 99 ? "returned"
                        : WEXITSTATUS(status) != 1  ? "ended with another code than 1"
                        : end == NULL || end[1]     ? "did not say one line"
                        : name == NULL || (when != BEFORE && strstr(text, ": PE 0 (") == NULL) || strchr(": (", name[strlen(func)]) == NULL
                            ? "did not name the PE and the call"
                        : strstr(text, words) == NULL ? "did not name the value"
                                                      : NULL;
    if (fault != NULL) {
        printf("%s, %s: %s; status %#x, words \\"%s\\", said: %s\\n", func, what, fault, status, words, text);
        failed++;
    }
}
"""


def parameters(prototype):
    """[(C type, name)] of a prototype."""
    text = re.search(r"\((.*)\)", prototype)[1]
    found = []
    for p in text.split(","):
        match = re.match(r"\s*(.*?)(\w+)\s*$", p)
        if p.strip() not in ("void", "") and match:
            found.append((match[1].strip(), match[2]))
    return found


def symmetric(name, params):
    """Names of the parameters that must be symmetric."""
    names = {p for _, p in params}
    found = {"sig_addr", "lock", "pSync"} & names if "signal_fetch" not in name and "signal_wait" not in name else set()
    if re.search(r"wait|test_|_test$|alloc|ptr$|accessible|to_all", name):
        return found & {"lock"}
    team = {"team", "PE_size"} & names
    if "dest" in names and ("fetch" in names or not re.search(r"i?b?get|_g$|_fetch$|_fetch_nbi$", name) or team):
        found.add("dest")
    if "source" in names and (team or re.search(r"i?b?get|_g$|_fetch$|_fetch_nbi$", name)):
        found.add("source")
    return found


def call(name, params, wrong=None, value=None):
    args = []
    for ctype, p in params:
        arg = value if p == wrong else GOOD.get(p, "1")
        args.append(f"({ctype}){arg}" if "*" in ctype and arg != "NULL" else arg)
    return f"({name})({', '.join(args)})"


def cases(name, params):
    """(what, when, call, words); the call in brackets, so that it is no generic form."""
    if not ANY_TIME.match(name):
        yield "before shmem_init", "BEFORE", call(name, params), "before shmem_init"
        if name != "shmem_finalize":
            yield "after shmem_finalize", "AFTER", call(name, params), "after shmem_finalize"
    good = symmetric(name, params)
    for ctype, p in params:
        if p == "pe" and name not in ASKS_PE:
            yield "PE 77", "WITHIN", call(name, params, p, "77"), "PE 77"
            yield "PE -1", "WITHIN", call(name, params, p, "-1"), "PE -1"
        if p in good:
            yield f"{p} NULL", "WITHIN", call(name, params, p, "(long *)8"), "0x8"
        if p in NUMBERS and not (p == "nelems" and re.search("wait|test", name)):
            yield (f"{p} {NUMBERS[p]}", "WITHIN", call(name, params, p, NUMBERS[p]),
                   " bytes from address 0x" if p == "nelems" else NUMBERS[p])
        if ctype == "shmem_ctx_t" and not re.fullmatch(r"shmemx?_ctx_(destroy|get_team|fence|quiet|pe_quiet|quiet_nb|session_start|session_stop)", name):
            yield "no context", "WITHIN", call(name, params, p, "SHMEM_CTX_INVALID"), "SHMEM_CTX_INVALID"
        if ctype == "shmem_ctx_t":
            yield "wrong context", "WITHIN", call(name, params, p, "(shmem_ctx_t)0x12340"), "0x12340"
        if ctype == "shmem_team_t":
            yield "wrong team", "WITHIN", call(name, params, p, "(shmem_team_t)0x12340"), "0x12340"


def functions():
    """One prototype of every family: the type long or uint64, else the first; 32 bits."""
    for versions, form, prototype, table in FUNCTIONS:
        if form != "C" or versions == "v1.5" or name_of(prototype.replace("{", "").replace("}", "")) in OLD:
            continue
        types = dict((word, ctype) for ctype, word in typed(prototype, table)) if "{TYPENAME}" in prototype else {}
        word = next((w for w in ("long", "uint64", *types) if w in types), "")
        prototype = prototype.replace("{SIZE}", "32").replace("{TYPENAME}", word)
        yield re.sub(r"\bTYPE\b", types.get(word, ""), prototype)


def main():
    bodies, rows = [], []
    for prototype in functions():
        name, params = name_of(prototype), parameters(prototype)
        for what, when, text, words in cases(name, params):
            bodies.append(f"static void call{len(rows)}(void)\n{{\n    {text};\n}}\n")
            rows.append(f'    try("{name}", "{what}", {when}, call{len(rows)}, "{words}");\n')
    with open(sys.argv[1], "w", encoding="ascii") as f:
        f.write(HEAD + "\n" + "\n".join(bodies) + "\nint main(void)\n{\n    setvbuf(stdout, NULL, _IONBF, 0);\n" + "".join(rows))
        f.write('    printf("%d calls, %d not as they should be\\n", calls, failed);\n    return failed != 0;\n}\n')


main()
