/* hotlane-info --check: the order of the topics, and the printing of the lines. */
#include "check.h"

#include "boot.h"
#include "err.h"
#include "job.h"
#include "util.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void check_say(struct check *c, enum level level, const char *topic, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    if (c->count < CHECK_LINES) {
        struct check_line *l = &c->lines[c->count++];
        l->level = level;
        l->topic = topic;
        l->fix[0] = '\0';
        vsnprintf(l->text, sizeof l->text, fmt, args);
    }
    va_end(args);
}

void check_fix(struct check *c, const char *fmt, ...)
{
    va_list args;
    struct check_line *l = &c->lines[c->count - 1];
    size_t at = strlen(l->fix);
    va_start(args, fmt);
    if (at > 0 && at + 1 < sizeof l->fix) {
        l->fix[at++] = '\n';
    }
    vsnprintf(l->fix + at, sizeof l->fix - at, fmt, args);
    va_end(args);
}

bool check_read(const struct check *c, const char *path, char *out, size_t cap)
{
    return hl_read_line(c->root, path, out, cap);
}

bool check_has(const struct check *c, const char *path)
{
    char whole[PATH_MAX];
    snprintf(whole, sizeof whole, "%s%s", c->root, path);
    return access(whole, F_OK) == 0;
}

bool check_is_contained(const struct check *c)
{
    return check_has(c, "/.dockerenv") || check_has(c, "/run/.containerenv");
}

void check_unset(struct check *c, const void *field)
{
    const struct hl_var *v = hl_conf_var_of(field);
    bool here = strcmp(v->origin, "environment") == 0 || strcmp(v->origin, "default") == 0;
    if (!here && strncmp(v->origin, "refused", 7) != 0) {
        check_fix(c, "sed -i '/^%s=/d' %s    # its value stands there", v->name, v->origin);
    } else {
        check_fix(c, "unset %s", v->name);
    }
}

static void check_variables(struct check *c)
{
    if (c->facts->conf_rc != 0) {
        check_say(c, CHECK_BROKEN, "variables",
                  "%s; launcher, cores, limits, kernel, network and memory are not examined",
                  c->facts->conf_error);
        check_fix(c, "hotlane-info --env    # lists the values each takes");
        return;
    }
    for (int i = 0; hl_conf_note(i) != NULL; i++) {
        check_say(c, CHECK_BETTER, "variables", "%s", hl_conf_note(i));
    }
    if (hl_conf_note(0) == NULL) {
        check_say(c, CHECK_OK, "variables", "all values can be used");
    }
}

/* Checks the start: does what a rank does first, that is, asks the launcher, and the node's ranks meet. */
void check_start(struct check *c)
{
    static const char *const batch[] = {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "COBALT_JOBID"};
    const char *in = NULL;
    for (size_t i = 0; i < sizeof batch / sizeof batch[0] && in == NULL; i++) {
        in = hl_conf_env(batch[i]) != NULL ? batch[i] : NULL;
    }
    int rc = hl_boot_open();
    if (rc != 0) {
        check_say(c, CHECK_BROKEN, "launcher", "%s", hl_err_text(rc));
    } else if (hl_job.size > 1) {
        check_say(c, CHECK_OK, "launcher", "%s: %d ranks, %d on this node", hl_boot.method, hl_job.size,
                  hl_job.node_size);
    } else {
        check_say(c, CHECK_OK, "launcher", "%s: a program started like this is one rank (%s)%s%s",
                  hl_boot.method, hl_boot.reason, in != NULL ? "; this is the batch job of " : "",
                  in != NULL ? in : "");
        check_fix(c, "%s -n 4 hotlane-info --check    # checks what ranks see",
                  in != NULL && strcmp(in, "SLURM_JOB_ID") == 0 ? "srun --mpi=pmi2" : "mpiexec");
    }
}

static const char *const words[CHECK_LEVELS] = {"ok", "could be better", "broken"};

static void print_text(const struct check *c, const int *sums)
{
    for (int i = 0; i < c->count; i++) {
        char fix[sizeof c->lines[i].fix];
        printf("%-16s %-15s %s\n", words[c->lines[i].level], c->lines[i].topic, c->lines[i].text);
        snprintf(fix, sizeof fix, "%s", c->lines[i].fix);
        char *rest = fix, *line;
        while (fix[0] != '\0' && (line = strsep(&rest, "\n")) != NULL) {
            printf("%-32s   %s\n", "", line);
        }
    }
    printf("%d ok, %d could be better, %d broken\n", sums[CHECK_OK], sums[CHECK_BETTER], sums[CHECK_BROKEN]);
}

static void print_json(const struct check *c, const int *sums)
{
    printf("{\n  \"check\": [");
    for (int i = 0; i < c->count; i++) {
        const struct check_line *l = &c->lines[i];
        printf("%s\n    {", i > 0 ? "," : "");
        info_json_pair("level", words[l->level], ", ");
        info_json_pair("topic", l->topic, ", ");
        info_json_pair("text", l->text, ", ");
        info_json_pair("fix", l->fix, "}");
    }
    printf("\n  ],\n  \"broken\": %d\n}\n", sums[CHECK_BROKEN]);
}

/* Do ranks pretend to be on other nodes? They are on this machine all the same. */
static bool pretends(void)
{
    return strcmp(hl_conf.near, "1") != 0 || hl_conf.cliques > 1;
}

static bool speaks(void)
{
    return !hl_boot_is_mine() || (pretends() ? hl_job.rank == 0 : hl_job.node_rank == 0);
}

int info_check(const struct facts *f, const char *root, bool json)
{
    static struct check c;
    int sums[CHECK_LEVELS] = {0};
    c.facts = f;
    c.root = root;
    check_variables(&c);
    if (f->conf_rc == 0) {
        check_start(&c);
        if (speaks()) {
            bool told = hl_job.node_size == hl_job.size || !pretends();
            check_cores(&c, told ? hl_job.node_size : hl_job.size, told ? hl_job.node_cpus : 0);
            check_limits(&c);
            check_kernel(&c);
            check_network(&c);
            check_memory(&c);
        }
    }
    for (int i = 0; i < c.count; i++) {
        sums[c.lines[i].level]++;
    }
    if (speaks()) {
        (json ? print_json : print_text)(&c, sums);
    }
    hl_boot_close(true);
    return sums[CHECK_BROKEN] > 0;
}
