/* Sessions and sets of processes. */
#include "session.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "err.h"
#include "errh.h"
#include "group.h"
#include "info.h"
#include "job.h"
#include "log.h"
#include "util.h"

static const struct {
    const char *name;
    int level;
} levels[] = {{"MPI_THREAD_SINGLE", MPI_THREAD_SINGLE},
              {"MPI_THREAD_FUNNELED", MPI_THREAD_FUNNELED},
              {"MPI_THREAD_SERIALIZED", MPI_THREAD_SERIALIZED},
              {"MPI_THREAD_MULTIPLE", MPI_THREAD_MULTIPLE}};

enum { PSET_WORLD, PSET_SELF, PSET_NODE };
static const char *const psets[] = {
    [PSET_WORLD] = "mpi://WORLD", [PSET_SELF] = "mpi://SELF", [PSET_NODE] = "hotlane://NODE"};

int hl_session_make(struct hl_errh *errh, int level, int asked, struct hl_session **made)
{
    struct hl_session *s = hl_handle_new(HL_KIND_SESSION);

    if (s == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no handle is left for a session: finalize some");
    }
    int err = hl_errh_set(&s->errh, HL_ERRH_SESSION, errh);
    if (err != 0) {
        hl_handle_free(s);
        return err;
    }
    s->handle = (MPI_Session)(void *)s;
    s->level = asked >= 0 && asked < level ? asked : level;
    *made = s;
    return 0;
}

void hl_session_free(struct hl_session *s)
{
    hl_errh_set(&s->errh, HL_ERRH_SESSION, NULL);
    hl_handle_free(s);
}

int hl_session_asked_level(const struct hl_info *info)
{
    char value[MPI_MAX_INFO_VAL];
    int len;

    if (!hl_info_hint(info, "thread_level", value, sizeof value, &len)) {
        return -1;
    }
    for (size_t i = 0; i < HL_COUNT_OF(levels); i++) {
        if (strcmp(value, levels[i].name) == 0) {
            return levels[i].level;
        }
    }
    hl_log(HL_LOG_WARN,
           "MPI_Session_init: hint is not honoured: thread_level=%s: expected the name of a thread level, as "
           "MPI_THREAD_MULTIPLE",
           value);
    return -1;
}

int hl_session_get_info(const struct hl_session *s, struct hl_info **made)
{
    const char *word = levels[0].name;

    for (size_t i = 0; i < HL_COUNT_OF(levels); i++) {
        word = levels[i].level == s->level ? levels[i].name : word;
    }
    int err = hl_info_make(made);
    if (err != 0) {
        return err;
    }
    err = hl_info_set(*made, "thread_level", word);
    err = err == 0 ? hl_info_set(*made, "mpi_memory_alloc_kinds", "mpi,system") : err;
    if (err != 0) {
        hl_info_free(*made);
    }
    return err;
}

/* ---- Sets of processes ---- */

int hl_pset_count(void)
{
    return (int)HL_COUNT_OF(psets);
}

int hl_pset_name(int n, const char **name)
{
    if (n < 0 || n >= hl_pset_count()) {
        return hl_err_say(HL_ERR_ARG, "process set %d: there are %d, counted from 0", n, hl_pset_count());
    }
    *name = psets[n];
    return 0;
}

int hl_pset_find(const char *name, int *n)
{
    for (int i = 0; i < hl_pset_count(); i++) {
        if (strcasecmp(name, psets[i]) == 0) {
            *n = i;
            return 0;
        }
    }
    return hl_err_say(HL_ERR_ARG,
                      "no process set is called %.200s: MPI_Session_get_nth_pset names those that are there",
                      name);
}

static int pset_size(int n)
{
    return n == PSET_WORLD ? hl_job.size : n == PSET_SELF ? 1 : hl_job.node_size;
}

int hl_pset_color(int n)
{
    return n == PSET_WORLD ? 0 : n == PSET_SELF ? hl_job.rank : hl_job.node_world[0];
}

int hl_pset_group(int n, struct hl_group **made)
{
    if (n == PSET_NODE) {
        return hl_group_make(hl_job.node_world, hl_job.node_size, made);
    }
    return hl_group_make_strided(n == PSET_SELF ? hl_job.rank : 0, 1, pset_size(n), made);
}

int hl_pset_info(int n, struct hl_info **made)
{
    char size[16];
    int err = hl_info_make(made);

    if (err != 0) {
        return err;
    }
    snprintf(size, sizeof size, "%d", pset_size(n));
    err = hl_info_set(*made, "mpi_size", size);
    if (err != 0) {
        hl_info_free(*made);
    }
    return err;
}
