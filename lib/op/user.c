/* Objects of user-defined operations; modules that reduce call their functions. */
#include "user.h"

#include "err.h"

int hl_op_user_make(MPI_User_function *fn, MPI_User_function_c *fn_large, bool commutes,
                    struct hl_op_user **made)
{
    struct hl_op_user *op = hl_handle_new(HL_KIND_OP);

    if (op == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no handle left for an operation");
    }
    op->refs.v = 1;
    op->fn = fn;
    op->fn_large = fn_large;
    op->commutes = commutes;
    *made = op;
    return 0;
}

void hl_op_user_ref(struct hl_op_user *op)
{
    /* relaxed: the caller holds a reference or a living handle. */
    hl_a32_add_relaxed(&op->refs, 1);
}

void hl_op_user_unref(struct hl_op_user *op)
{
    /* full: the last thread sees the others' use before it frees; pairs with itself in other threads. */
    if (hl_a32_add_full(&op->refs, UINT32_MAX) == 1) {
        hl_handle_free(op);
    }
}

void hl_op_user_free(struct hl_op_user *op)
{
    op->h.kind = HL_KIND_FREE;
    hl_op_user_unref(op);
}
