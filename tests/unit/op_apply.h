/* Operations on elements in memory of one thread: what tests compare with. */
#ifndef HL_TEST_OP_APPLY_H
#define HL_TEST_OP_APPLY_H

#include "err.h"
#include "op.h"

/* Combines n elements: inout = inout op in. Returns 0, or HL_ERR_OP when the operation is not defined for the
 * type. */
static inline int apply_op(enum hl_op_kind kind, enum hl_basic basic, void *inout, const void *in, size_t n)
{
    hl_op_fn *kernel = hl_op_kernel(kind, basic);
    if (kernel == NULL) {
        return HL_ERR_OP;
    }
    kernel(inout, in, n);
    return 0;
}

#endif
