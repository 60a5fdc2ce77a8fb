/* Reduction operations that users define. */
#ifndef HL_OP_USER_H
#define HL_OP_USER_H

#include <mpi.h>
#include <stdbool.h>

#include "atomic.h"
#include "handle.h"

/* Read-only but for `refs`. Exactly one of the two functions is set. */
struct hl_op_user {
    struct hl_handle h; /* the MPI_Op is this address */
    hl_a32 refs;        /* atomic: one for the handle, one for each operation under way */
    MPI_User_function *fn;
    MPI_User_function_c *fn_large;
    bool commutes;
};

/* The operation behind a handle; NULL for a predefined or freed one and for any other value. Any thread. */
HL_INLINE struct hl_op_user *hl_op_user_of(MPI_Op handle)
{
    return (uintptr_t)handle < 0x1000 ? NULL : hl_handle_get(handle, HL_KIND_OP);
}

/* Makes an operation with one reference, that of the handle; one of fn and fn_large is NULL. Returns 0 and
 * sets *made, or returns HL_ERR_NO_MEM with the text. */
int hl_op_user_make(MPI_User_function *fn, MPI_User_function_c *fn_large, bool commutes,
                    struct hl_op_user **made);

/* For MPI_Op_free: makes the handle invalid; the object is freed with its last reference. */
void hl_op_user_free(struct hl_op_user *op);

void hl_op_user_ref(struct hl_op_user *op);
void hl_op_user_unref(struct hl_op_user *op);

#endif
