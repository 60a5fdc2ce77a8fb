/* hotlane-info: the facts it shows, and the ways of showing them. */
#ifndef HL_INFO_H
#define HL_INFO_H

#include "conf.h"
#include "topo.h"

#include <limits.h>

struct facts {
    const struct hl_var *vars;
    size_t var_count;
    int conf_rc;           /* of reading the settings */
    char conf_error[1024]; /* its text */
    char prefix[PATH_MAX];
    const struct hl_topo *topo; /* NULL: hwloc failed */
    int cpus;                   /* that this process may use */
    size_t pages[16], page_count;
    int net_rc;     /* of choosing a provider */
    char net[1024]; /* why this one, or why none */
    int lanes;
};

void info_text(const struct facts *f);
void info_json(const struct facts *f);
void info_env(const struct facts *f);
void info_markdown(const struct facts *f);

/* What values a variable takes, in words. */
void info_values(const struct hl_var *v, char *out, size_t cap);

/* Bytes in the largest unit that divides them, as in 64 MiB. */
void info_bytes(uint64_t bytes, char *out, size_t cap);

/* The build in one row each: name and value. Returns false behind the last. */
bool info_build(int which, const char **name, const char **value);

#endif
