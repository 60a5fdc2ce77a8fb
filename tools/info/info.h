/* hotlane-info: the facts that it shows, and the functions that show them. */
#ifndef HL_INFO_H
#define HL_INFO_H

#include "conf.h"
#include "mem.h"
#include "topo.h"

#include <limits.h>

/* A small piece of memory, allocated as for a program. */
struct trial {
    bool made; /* false: nothing was tried */
    size_t len;
    int rc;
    char error[1024]; /* the error's text; with rc 0: why it is not known on which nodes the memory is */
    struct hl_mem_got got;
};

struct facts {
    const struct hl_var *vars;
    size_t var_count;
    int conf_rc;           /* result of reading the settings */
    char conf_error[1024]; /* its text */
    char prefix[PATH_MAX];
    const struct hl_topo *topo; /* NULL: unknown, hl_topo_why says why */
    const char *machine;        /* the file from which topo was read; NULL: from this machine */
    struct hl_mem_wish wish;    /* what the environment asks for */
    struct trial trial;
    char notes[16][400]; /* on memory, for a user with this wish */
    int note_count;
    int cpus; /* number that this process may use */
    size_t pages[16], page_count;
    int net_rc;     /* result of choosing a provider */
    char net[1024]; /* why this provider, or why none */
    int lanes;
    const char *asked; /* the name given to --explain */
};

/* Tries the memory that the environment asks for, on this machine only, and writes the notes. */
void info_try_memory(struct facts *f);

/* Nodes on which the environment wants memory for a thread on `cpu`; 0: those that the system chooses. */
hl_topo_set info_wanted(const struct facts *f, int cpu);

/* Home nodes: all CPUs of a home node have the same nearest nodes. Fills *out for the which-th home node: its
 * number, one of its CPUs, and all of them as people write them. False behind the last. */
struct info_home {
    int home, cpu;
    char cpus[512];
};
bool info_homes(const struct hl_topo *t, int which, struct info_home *out);

/* The which-th variable that asks for something of memory, in the order of the table; NULL behind the
 * last. */
const struct hl_var *info_memory_var(const struct facts *f, int which);

void info_network(const struct facts *f);
void info_network_json(const struct facts *f); /* prints a member and its comma */
void info_memory(const struct facts *f);
void info_memory_json(const struct facts *f);
void info_text(const struct facts *f);
void info_json(const struct facts *f);
void info_env_json(const struct facts *f);
void info_functions_json(const struct facts *f);
void info_env(const struct facts *f);
void info_variable(const struct hl_var *v); /* shows one variable as info_env does */

/* Prints what the error class or variable f->asked means; ends the program with 2 when neither has that
 * name. */
void info_explain(const struct facts *f);
void info_markdown(const struct facts *f);

/* Prints "name": "value", quoted as JSON requires, and `end` behind it. */
void info_json_pair(const char *name, const char *value, const char *end);

/* Writes which values a variable may have, in words. */
void info_values(const struct hl_var *v, char *out, size_t cap);

/* Writes bytes in the largest unit that divides them, like 64 MiB. */
void info_bytes(uint64_t bytes, char *out, size_t cap);

/* The which-th fact of the build: its name and value. False behind the last. */
bool info_build(int which, const char **name, const char **value);

#endif
