/* Info keys of windows: which we know, what they mean, what MPI_Win_get_info shows. */
#include "hints.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "err.h"
#include "errh.h"
#include "info.h"

static const struct {
    const char *key, *fallback;
    bool later; /* MPI_Win_set_info may change it */
} keys[] = {
    {"no_locks", "false", false},
    {"accumulate_ordering", "rar,raw,war,waw", true},
    {"accumulate_ops", "same_op_no_op", true},
    {"mpi_accumulate_granularity", "0", false},
    {"same_size", "false", false},
    {"same_disp_unit", "false", false},
    {"alloc_shared_noncontig", "false", false},
    {"mpi_minimum_memory_alignment", "64", false},
};

static bool value_is(const struct hl_info *info, const char *key, const char *want)
{
    char value[64];
    int len;
    return hl_info_get(info, key, value, sizeof value, &len) && strcmp(value, want) == 0;
}

size_t hl_hints_alignment(const struct hl_info *info)
{
    char value[32];
    int len;
    if (!hl_info_get(info, "mpi_minimum_memory_alignment", value, sizeof value, &len)) {
        return 0;
    }
    return strtoul(value, NULL, 10);
}

bool hl_hints_noncontig(const struct hl_info *info)
{
    return value_is(info, "alloc_shared_noncontig", "true");
}

static int take(struct hl_win *w, const struct hl_info *user, bool later)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < HL_COUNT_OF(keys); i++) {
        char value[256];
        int len;
        if ((!later || keys[i].later) && hl_info_get(user, keys[i].key, value, sizeof value, &len)) {
            rc = hl_info_set(w->info, keys[i].key, value);
        }
    }
    w->unordered = value_is(w->info, "accumulate_ordering", "none");
    return rc;
}

int hl_hints_init(struct hl_win *w, const struct hl_info *user)
{
    int rc = hl_info_make(&w->info);
    for (size_t i = 0; rc == 0 && i < HL_COUNT_OF(keys); i++) {
        rc = hl_info_set(w->info, keys[i].key, keys[i].fallback);
    }
    rc = rc != 0 ? rc : take(w, user, false);
    size_t align = rc == 0 ? hl_hints_alignment(w->info) : 0;
    if ((align & (align - 1)) != 0) {
        return hl_err_say(HL_ERR_INFO_VALUE, "mpi_minimum_memory_alignment %zu is not a power of two", align);
    }
    return rc;
}

int hl_hints_change(struct hl_win *w, const struct hl_info *user)
{
    return take(w, user, true);
}

HL_API(MPI_Win_set_info)
int PMPI_Win_set_info(MPI_Win win, MPI_Info info)
{
    struct hl_win *w = hl_win_of(win);
    struct hl_info *user = hl_info_of(info);
    int rc = w == NULL ? hl_win_bad() : 0;
    if (rc == 0 && user == NULL) {
        rc = hl_err_say(HL_ERR_INFO, "not an info object");
    }
    rc = rc != 0 ? rc : hl_hints_change(w, user);
    return rc == 0 ? MPI_SUCCESS : hl_win_raise(w, win, "MPI_Win_set_info", rc);
}

HL_API(MPI_Win_get_info)
int PMPI_Win_get_info(MPI_Win win, MPI_Info *info_used)
{
    struct hl_win *w = hl_win_of(win);
    struct hl_info *copy;
    int rc = w == NULL ? hl_win_bad() : hl_info_dup(w->info, &copy);
    if (rc != 0) {
        return hl_win_raise(w, win, "MPI_Win_get_info", rc);
    }
    *info_used = copy->handle;
    return MPI_SUCCESS;
}
