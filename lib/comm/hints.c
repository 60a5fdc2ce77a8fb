/* Hints of communicators: the assertions of the standard. None changes what the library does yet: they are
 * kept and shown. */
#include <string.h>

#include "comm.h"
#include "info.h"
#include "util.h"

static const char *const keys[] = {
    "mpi_assert_no_any_tag",
    "mpi_assert_no_any_source",
    "mpi_assert_exact_length",
    "mpi_assert_allow_overtaking",
    "mpi_assert_strict_persistent_collective_ordering",
};

int hl_comm_get_hints(const struct hl_comm *c, struct hl_info **made)
{
    int len, err = hl_info_copy(&c->info, made);

    for (size_t i = 0; err == 0 && i < HL_COUNT_OF(keys); i++) {
        if (!hl_info_get(*made, keys[i], NULL, 0, &len)) {
            err = hl_info_set(*made, keys[i], "false");
        }
    }
    return err == 0 ? hl_info_set(*made, "mpi_memory_alloc_kinds", "mpi,system") : err;
}

int hl_comm_set_hints(struct hl_comm *c, const struct hl_info *user)
{
    struct hl_info *fresh;
    int len, err = hl_info_copy(&c->info, &fresh);

    if (err != 0) {
        return err;
    }
    for (size_t i = 0; err == 0 && i < HL_COUNT_OF(keys); i++) {
        char value[8];
        if (hl_info_get(user, keys[i], value, sizeof value, &len) &&
            (strcmp(value, "true") == 0 || strcmp(value, "false") == 0)) {
            err = hl_info_set(fresh, keys[i], value);
        }
    }
    if (err != 0) {
        hl_info_free(fresh);
        return err;
    }
    hl_info_put(&c->info, fresh);
    return 0;
}
