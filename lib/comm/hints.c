/* Hints of communicators: the assertions of the standard. They are kept and shown, and builds with checks
 * hold programs to the first three, by a line of log or by errors (HOTLANE_BROKEN_HINTS). Matching needs none
 * of them: it looks at the list of receives from any source only when there is one, and order costs nothing
 * where each pair of ranks has one ring or connection. */
#include <string.h>

#include "comm.h"
#include "conf.h"
#include "err.h"
#include "info.h"
#include "log.h"
#include "util.h"

/* The first three are in the order of enum hl_comm_assert. */
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

/* The assertions that `info` makes, as bits. */
static uint32_t asserts_of(const struct hl_info *info)
{
    uint32_t bits = 0;
    char value[8];
    int len;

    for (size_t i = 0; i < 3; i++) {
        if (hl_info_get(info, keys[i], value, sizeof value, &len) && strcmp(value, "true") == 0) {
            bits |= 1u << i;
        }
    }
    return bits;
}

int hl_comm_set_hints(struct hl_comm *c, const struct hl_info *user)
{
    struct hl_info *fresh;
    int err = hl_info_lay_over(&c->info, user, &(struct hl_info_keys){keys, HL_COUNT_OF(keys), true}, &fresh);

    if (err == 0) {
        /* relaxed: threads that receive meanwhile see either. */
        hl_a32_store_relaxed(&c->asserts, asserts_of(fresh));
        hl_info_put(&c->info, fresh);
    }
    return err;
}

int hl_comm_break_hint(struct hl_comm *c, uint32_t assert, const char *what)
{
    const char *key = keys[__builtin_ctz(assert)];

    if (hl_conf.broken_hints != 0) {
        return hl_err_say(HL_ERR_ARG, "%s is excluded by the communicator's hint %s", what, key);
    }
    /* full: of the threads that come here at once, one logs it. */
    if ((hl_a32_and_full(&c->asserts, ~assert) & assert) != 0) {
        char name[MPI_MAX_OBJECT_NAME];
        hl_comm_get_name(c, name);
        hl_log(HL_LOG_WARN,
               "%s on %s%s in spite of its hint %s: it goes on without the hint (HOTLANE_BROKEN_HINTS=error "
               "makes that an error)",
               what, name[0] != '\0' ? "communicator " : "a communicator without a name", name, key);
        hl_info_take_back(&c->info, key);
    }
    return 0;
}
