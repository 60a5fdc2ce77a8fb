/* One reduction: a predefined kernel or the user's function, over one datatype. */
#ifndef HL_REDUCER_H
#define HL_REDUCER_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "op.h"
#include "type.h"
#include "user.h"

struct hl_reducer {
    struct hl_type *type;
    hl_op_fn *kernel; /* NULL: the user's function is called */
    struct hl_op_user *user;
    bool commutes;
};

/* HL_ERR_OP when `op` is no operation, or is not defined for `type`. */
int hl_reducer_init(struct hl_reducer *r, MPI_Op op, struct hl_type *type);

/* True if the result goes into the left operand's memory, as predefined kernels do; users' functions write
 * the right one. */
HL_INLINE bool hl_reducer_writes_left(const struct hl_reducer *r)
{
    return r->kernel != NULL;
}

/* Combines `count` elements, left op right, into the operand that hl_reducer_writes_left names. The user's
 * function is called with whole datatypes, at most INT_MAX at a time unless it is of the large kind. */
void hl_reducer_apply(const struct hl_reducer *r, void *left, void *right, int64_t count);

#endif
