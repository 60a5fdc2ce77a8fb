/* New communicators. */
#include "api.h"
#include "args.h"
#include "coll.h"
#include "keyval.h"

/* Hands a new communicator (NULL: none for this rank) to the user, with its parent's error handler. */
static void give(const struct hl_comm *parent, struct hl_comm *made, MPI_Comm *newcomm)
{
    if (made != NULL) {
        hl_errh_copy(&made->errh, &parent->errh);
    }
    *newcomm = made != NULL ? made->handle : MPI_COMM_NULL;
}

/* hints NULL: none. */
static int dup(const char *func, MPI_Comm comm, const struct hl_info *hints, MPI_Comm *newcomm)
{
    struct hl_comm *c, *made = NULL;
    int err = hl_api_get_comm(comm, &c);

    err = err == 0 ? hl_api_check_out(newcomm, "newcomm") : err;
    err = err == 0 ? hl_coll_comm_dup(c, &made) : err;
    if (err == 0) {
        err = hl_attr_copy_all(&c->attrs, c->handle, &made->attrs);
        err = err == 0 && hints != NULL ? hl_info_dup(hints, &made->info) : err;
        if (err != 0) {
            hl_attr_delete_all(&made->attrs, made->handle);
            hl_comm_free(made);
        } else {
            give(c, made, newcomm);
        }
    }
    return hl_api_end(c, func, err);
}

HL_API(MPI_Comm_dup)
int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm *newcomm)
{
    return dup("MPI_Comm_dup", comm, NULL, newcomm);
}

HL_API(MPI_Comm_dup_with_info)
int PMPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm)
{
    struct hl_info *hints;
    int err = hl_api_get_info(info, &hints);

    if (err != 0) {
        return hl_api_end(hl_comm_of(comm), "MPI_Comm_dup_with_info", err);
    }
    return dup("MPI_Comm_dup_with_info", comm, hints, newcomm);
}

HL_API(MPI_Comm_split)
int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *newcomm)
{
    struct hl_comm *c, *made = NULL;
    int err = hl_api_get_comm(comm, &c);

    if (err == 0 && color < 0 && color != MPI_UNDEFINED) {
        err = hl_err_say(HL_ERR_ARG, "color %d is negative and not MPI_UNDEFINED", color);
    }
    err = err == 0 ? hl_coll_comm_split(c, color, key, &made) : err;
    if (err == 0) {
        give(c, made, newcomm);
    }
    return hl_api_end(c, "MPI_Comm_split", err);
}

HL_API(MPI_Comm_split_type)
int PMPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm *newcomm)
{
    struct hl_comm *c, *made = NULL;
    int err = hl_api_get_comm(comm, &c);

    if (err != 0) {
        return hl_api_end(c, "MPI_Comm_split_type", err);
    }
    if (split_type == MPI_COMM_TYPE_SHARED || split_type == MPI_UNDEFINED) {
        /* who asks for nothing takes part in the split all the same */
        err = hl_coll_comm_split_node(c, key, &made);
        if (err == 0 && split_type == MPI_UNDEFINED) {
            hl_comm_free(made);
            made = NULL;
        }
    } else if (split_type == MPI_COMM_TYPE_HW_UNGUIDED || split_type == MPI_COMM_TYPE_HW_GUIDED ||
               split_type == MPI_COMM_TYPE_RESOURCE_GUIDED) {
        err = hl_err_say(HL_ERR_UNSUPPORTED_OPERATION, "splitting by hardware is not built yet");
    } else {
        err = hl_err_say(HL_ERR_ARG, "%d is no kind of split", split_type);
    }
    if (err == 0) {
        give(c, made, newcomm);
    }
    return hl_api_end(c, "MPI_Comm_split_type", err);
}

HL_API(MPI_Comm_create)
int PMPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm)
{
    struct hl_comm *c, *made = NULL;
    struct hl_group *g;
    int err = hl_api_get_comm(comm, &c);

    err = err == 0 ? hl_api_get_group(group, &g) : err;
    err = err == 0 ? hl_coll_comm_create(c, g, &made) : err;
    if (err == 0) {
        give(c, made, newcomm);
    }
    return hl_api_end(c, "MPI_Comm_create", err);
}
