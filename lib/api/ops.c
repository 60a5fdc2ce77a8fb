/* Entry points of reduction operations. */
#include "api.h"
#include "args.h"
#include "op.h"
#include "reducer.h"
#include "user.h"

static int create_op(const char *func, MPI_User_function *fn, MPI_User_function_c *fn_large, int commute,
                     MPI_Op *op)
{
    struct hl_op_user *made;
    int err = hl_api_enter(fn == NULL && fn_large == NULL ? hl_api_no_address(NULL, "user_fn") : 0);

    err = err == 0 ? hl_api_check_out(op, "op") : err;
    err = err == 0 ? hl_op_user_make(fn, fn_large, commute != 0, &made) : err;
    if (err == 0) {
        *op = (MPI_Op)(void *)made;
    }
    return hl_api_leave(NULL, func, err);
}

HL_API(MPI_Op_create);
int PMPI_Op_create(MPI_User_function *user_fn, int commute, MPI_Op *op)
{
    return create_op("MPI_Op_create", user_fn, NULL, commute, op);
}

HL_API(MPI_Op_create_c);
int PMPI_Op_create_c(MPI_User_function_c *user_fn, int commute, MPI_Op *op)
{
    return create_op("MPI_Op_create_c", NULL, user_fn, commute, op);
}

HL_API(MPI_Op_free);
int PMPI_Op_free(MPI_Op *op)
{
    struct hl_op_user *user;
    int err = hl_api_enter(hl_api_check_out(op, "op"));

    if (err == 0 && hl_op_kind_of(*op) != HL_OP_KINDS) {
        err = hl_err_say(HL_ERR_OP, "%s is predefined and cannot be freed",
                         hl_op_kind_name(hl_op_kind_of(*op)));
    }
    if (err == 0) {
        user = hl_op_user_of(*op);
        if (user == NULL) {
            err = hl_err_say_none(HL_ERR_OP, "operation", *op);
        } else {
            hl_op_user_free(user);
            *op = MPI_OP_NULL;
        }
    }
    return hl_api_leave(NULL, "MPI_Op_free", err);
}

HL_API(MPI_Op_commutative);
int PMPI_Op_commutative(MPI_Op op, int *commute)
{
    const struct hl_op_user *user = hl_op_user_of(op);
    int err = hl_api_enter(hl_api_check_out(commute, "commute"));

    if (err != 0) {
        return hl_api_leave(NULL, "MPI_Op_commutative", err);
    }
    if (user != NULL) {
        *commute = user->commutes;
    } else if (hl_op_kind_of(op) != HL_OP_KINDS) {
        *commute = op != MPI_REPLACE && op != MPI_NO_OP;
    } else {
        err = hl_err_say_none(HL_ERR_OP, "operation", op);
    }
    return hl_api_leave(NULL, "MPI_Op_commutative", err);
}

static int reduce_local(const char *func, const void *in, void *inout, int64_t count, MPI_Datatype datatype,
                        MPI_Op op)
{
    struct hl_reducer r;
    struct hl_type *t = NULL;
    int err = hl_api_enter(hl_api_get_data(in, count, datatype, &t));

    err = err == 0 ? hl_api_check_buffer(inout, count, t) : err;
    if (err == 0 && in == inout && in != MPI_BOTTOM && count > 0 && t->size > 0) {
        err = hl_err_say(HL_ERR_BUFFER, "both operands are the one at %p", inout);
    }
    err = err == 0 ? hl_reducer_init(&r, op, t) : err;
    if (err == 0) {
        void *right = (void *)(uintptr_t)in;
        bool left =
            hl_reducer_writes_left(&r); /* predefined operations commute: either side may get the result */
        hl_reducer_apply(&r, left ? inout : right, left ? right : inout, count);
    }
    return hl_api_leave(NULL, func, err);
}

HL_API(MPI_Reduce_local);
int PMPI_Reduce_local(const void *inbuf, void *inoutbuf, int count, MPI_Datatype datatype, MPI_Op op)
{
    return reduce_local("MPI_Reduce_local", inbuf, inoutbuf, count, datatype, op);
}

HL_API(MPI_Reduce_local_c);
int PMPI_Reduce_local_c(const void *inbuf, void *inoutbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op)
{
    return reduce_local("MPI_Reduce_local_c", inbuf, inoutbuf, count, datatype, op);
}
