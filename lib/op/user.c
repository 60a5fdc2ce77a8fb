/* Objects of user-defined operations; modules that reduce call their functions. */
#include "user.h"

#include "err.h"

int hl_op_user_make(MPI_User_function *fn, MPI_User_function_c *fn_large, bool commutes,
                    struct hl_op_user **made)
{
    struct hl_op_user *op = hl_handle_new(HL_KIND_OP);

    if (op == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no handle is left for an operation: free some");
    }
    hl_refs_begin(&op->refs);
    op->fn = fn;
    op->fn_large = fn_large;
    op->commutes = commutes;
    *made = op;
    return 0;
}

void hl_op_user_ref(struct hl_op_user *op)
{
    hl_refs_add(&op->refs);
}

void hl_op_user_unref(struct hl_op_user *op)
{
    if (hl_refs_drop(&op->refs)) {
        hl_handle_free(op);
    }
}

void hl_op_user_free(struct hl_op_user *op)
{
    op->h.kind = HL_KIND_FREE;
    hl_op_user_unref(op);
}
