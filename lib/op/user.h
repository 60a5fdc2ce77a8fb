/* Reduction operations that users define. */
#ifndef HL_OP_USER_H
#define HL_OP_USER_H

#include <mpi.h>
#include <stdbool.h>

#include "atomic.h"
#include "handle.h"

/* Read-only but for `refs`. One of the two functions is there. */
struct hl_op_user {
    struct hl_handle h; /* the MPI_Op is this address */
    hl_a32 refs;        /* the handle and each operation under way */
    MPI_User_function *fn;
    MPI_User_function_c *fn_large;
    bool commutes;
};

/* The operation behind a handle, or NULL for predefined, freed, foreign and garbage values. Any thread. */
HL_INLINE struct hl_op_user *hl_op_user_of(MPI_Op handle)
{
    return (uintptr_t)handle < 0x1000 ? NULL : hl_handle_get(handle, HL_KIND_OP);
}

/* A new one with one reference, the handle's; the other function is NULL. HL_ERR_NO_MEM. */
int hl_op_user_make(MPI_User_function *fn, MPI_User_function_c *fn_large, bool commutes,
                    struct hl_op_user **made);

/* MPI_Op_free: the handle is invalid now, the object dies with its last reference. */
void hl_op_user_free(struct hl_op_user *op);

void hl_op_user_ref(struct hl_op_user *op);
void hl_op_user_unref(struct hl_op_user *op);

#endif
