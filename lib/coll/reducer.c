/* Reductions: chooses the kernel or the user's function, and calls it. */
#include "reducer.h"

#include <limits.h>
#include <string.h>

#include "cs.h"
#include "err.h"

int hl_reducer_init(struct hl_reducer *r, MPI_Op op, struct hl_type *type)
{
    memset(r, 0, sizeof *r);
    r->type = type;
    r->user = hl_op_user_of(op);
    if (r->user != NULL) {
        r->commutes = r->user->commutes;
        return 0;
    }
    enum hl_op_kind kind = hl_op_kind_of(op);
    if (kind == HL_OP_KINDS) {
        return hl_err_say_none(HL_ERR_OP, "operation", op);
    }
    if (kind >= HL_OP_REPLACE) {
        return hl_err_say(HL_ERR_OP, "%s is not an operation for reductions", hl_op_kind_name(kind));
    }
    if (type->predefined && type->basic != HL_BASIC_MIXED) {
        r->kernel = hl_op_kernel(kind, type->basic);
    }
    if (r->kernel == NULL) {
        return hl_err_say(HL_ERR_OP, "%s is not defined for %s", hl_op_kind_name(kind),
                          type->predefined ? hl_op_basic_words(type->basic) : "derived datatypes");
    }
    r->commutes = true;
    return 0;
}

static void apply_user(const struct hl_reducer *r, char *left, char *right, int64_t count)
{
    MPI_Datatype handle = r->type->handle;
    MPI_Count large = count;

    if (r->user->fn_large != NULL) {
        r->user->fn_large(left, right, &large, &handle);
        return;
    }
    for (int64_t at = 0; at < count; at += INT_MAX) {
        int n = count - at < INT_MAX ? (int)(count - at) : INT_MAX;
        int64_t offset = at * hl_type_extent(r->type);
        r->user->fn(left + offset, right + offset, &n, &handle);
    }
}

void hl_reducer_apply(const struct hl_reducer *r, void *left, void *right, int64_t count)
{
    if (r->kernel != NULL) {
        r->kernel(left, right, (size_t)count);
    } else {
        struct hl_cs_outside o;
        hl_cs_step_out(&o);
        apply_user(r, left, right, count);
        hl_cs_step_in(&o);
    }
}
