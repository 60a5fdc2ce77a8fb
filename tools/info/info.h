/* hotlane-info: the facts it shows, and the ways of showing them. */
#ifndef HL_INFO_H
#define HL_INFO_H

#include "conf.h"
#include "mem.h"
#include "topo.h"

#include <limits.h>

/* A small piece of memory, allocated as a program's would be. */
struct trial {
    bool made; /* false: nothing was tried */
    size_t len;
    int rc;
    char error[1024]; /* its text; with rc 0: why nobody knows on which nodes it is */
    struct hl_mem_got got;
};

struct facts {
    const struct hl_var *vars;
    size_t var_count;
    int conf_rc;           /* of reading the settings */
    char conf_error[1024]; /* its text */
    char prefix[PATH_MAX];
    const struct hl_topo *topo; /* NULL: see hl_topo_why */
    const char *machine;        /* the file it was read from; NULL: this machine */
    struct hl_mem_wish wish;    /* the environment's */
    struct trial trial;
    char notes[16][400]; /* on memory, for who wishes that */
    int note_count;
    int cpus; /* that this process may use */
    size_t pages[16], page_count;
    int net_rc;     /* of choosing a provider */
    char net[1024]; /* why this one, or why none */
    int lanes;
    const char *asked; /* the name that --explain was given */
};

/* Tries what the environment wishes of memory, on this machine only, and takes the notes. */
void info_try_memory(struct facts *f);

/* Nodes on which the environment wishes memory for a thread on `cpu`; 0: where the system places it. */
hl_topo_set info_wanted(const struct facts *f, int cpu);

/* CPUs with the same home node see the same nodes nearest: row `which` has the home, one of its CPUs, and all
 * of them as people write them. False behind the last. */
struct info_home {
    int home, cpu;
    char cpus[512];
};
bool info_homes(const struct hl_topo *t, int which, struct info_home *out);

/* The variables that wish something of memory, in the order of the table; NULL behind the last. */
const struct hl_var *info_memory_var(const struct facts *f, int which);

void info_network(const struct facts *f);
void info_network_json(const struct facts *f); /* a member and its comma */
void info_memory(const struct facts *f);
void info_memory_json(const struct facts *f);
void info_text(const struct facts *f);
void info_json(const struct facts *f);
void info_env_json(const struct facts *f);
void info_functions_json(const struct facts *f);
void info_env(const struct facts *f);
void info_variable(const struct hl_var *v); /* one of those that info_env shows */

/* What the error class or variable f->asked means; ends with 2 when there is neither of that name. */
void info_explain(const struct facts *f);
void info_markdown(const struct facts *f);

/* "name": "value", quoted as JSON wants it, and `end` behind. */
void info_json_pair(const char *name, const char *value, const char *end);

/* What values a variable takes, in words. */
void info_values(const struct hl_var *v, char *out, size_t cap);

/* Bytes in the largest unit that divides them, as in 64 MiB. */
void info_bytes(uint64_t bytes, char *out, size_t cap);

/* The build in one row each: name and value. Returns false behind the last. */
bool info_build(int which, const char **name, const char **value);

#endif
