/* Communicators: questions, names, info, and their end. */
#include <string.h>

#include "api.h"
#include "args.h"
#include "buffered.h"
#include "keyval.h"

static int compare_comms(const struct hl_comm *a, MPI_Comm comm2, int *result)
{
    struct hl_comm *b;
    int err = hl_api_get_comm(comm2, &b);

    return err == 0 ? hl_api_give(result, "result", hl_comm_compare(a, b)) : err;
}

static int set_comm_info(struct hl_comm *c, MPI_Info info)
{
    struct hl_info *hints;
    int err = hl_api_get_info(info, &hints);

    return err == 0 ? hl_comm_set_hints(c, hints) : err;
}

static int get_comm_info(struct hl_comm *c, MPI_Info *info)
{
    struct hl_info *copy = NULL;

    return hl_api_give_info(hl_comm_get_hints(c, &copy), &copy, info);
}

HL_CALL_COMM(MPI_Comm_rank, (MPI_Comm comm, int *rank), 0, hl_api_give(rank, "rank", c->rank))
HL_CALL_COMM(MPI_Comm_size, (MPI_Comm comm, int *size), 0, hl_api_give(size, "size", c->size))
HL_CALL_COMM(MPI_Comm_test_inter, (MPI_Comm comm, int *flag), 0,
             hl_api_give(flag, "flag", hl_comm_is_inter(c)))
HL_CALL_COMM(MPI_Comm_remote_size, (MPI_Comm comm, int *size), hl_api_check_inter(c),
             hl_api_give(size, "size", c->n_peers))
HL_CALL_COMM(MPI_Comm_group, (MPI_Comm comm, MPI_Group *group), 0, hl_api_give_group(c->group, group))
HL_CALL_COMM(MPI_Comm_remote_group, (MPI_Comm comm, MPI_Group *group), hl_api_check_inter(c),
             hl_api_give_group(c->peers, group))
HL_CALL_COMM(MPI_Comm_compare, (MPI_Comm comm, MPI_Comm comm2, int *result), 0,
             compare_comms(c, comm2, result))
HL_CALL_COMM(MPI_Comm_set_name, (MPI_Comm comm, const char *comm_name),
             hl_api_check_out(comm_name, "comm_name"), hl_comm_set_name(c, comm_name))
HL_CALL_COMM(MPI_Comm_set_info, (MPI_Comm comm, MPI_Info info), 0, set_comm_info(c, info))
HL_CALL_COMM(MPI_Comm_get_info, (MPI_Comm comm, MPI_Info *info_used),
             hl_api_check_out(info_used, "info_used"), get_comm_info(c, info_used))

HL_API(MPI_Comm_get_name);
int PMPI_Comm_get_name(MPI_Comm comm, char *comm_name, int *resultlen)
{
    struct hl_comm *c = NULL;
    int err = hl_api_enter(comm != MPI_COMM_NULL ? hl_api_get_comm(comm, &c) : 0);

    err = err == 0 ? hl_api_check_text(comm_name, "comm_name", resultlen) : err;
    if (err == 0) {
        if (c != NULL) {
            hl_comm_get_name(c, comm_name);
        } else {
            strcpy(comm_name, "MPI_COMM_NULL");
        }
        *resultlen = (int)strlen(comm_name);
    }
    return hl_api_leave(c, "MPI_Comm_get_name", err);
}

/* No process is spawned. */
HL_API(MPI_Comm_get_parent);
int PMPI_Comm_get_parent(MPI_Comm *parent)
{
    int err = hl_api_enter(hl_api_check_open());

    err = err == 0 ? hl_api_check_out(parent, "parent") : err;
    if (err == 0) {
        *parent = MPI_COMM_NULL;
    }
    return hl_api_leave(NULL, "MPI_Comm_get_parent", err);
}

/* Frees the user's communicator. Attributes are deleted first, since their callbacks may refuse. */
static int end_comm(const char *func, MPI_Comm *comm)
{
    struct hl_comm *c = NULL;
    int err = hl_api_enter(hl_api_check_out(comm, "comm"));

    err = err == 0 ? hl_api_get_comm(*comm, &c) : err;
    if (err == 0 && (c == &hl_comm_world_object || c == &hl_comm_self_object)) {
        err = hl_err_say(HL_ERR_COMM, "%s is predefined and cannot be freed",
                         c == &hl_comm_world_object ? "MPI_COMM_WORLD" : "MPI_COMM_SELF");
    }
    err = err == 0 ? hl_attr_delete_all(&c->attrs, c->handle) : err;
    if (err == 0) {
        hl_errh_keep(c);
        hl_buffered_drop(&c->buffered); /* waits, since later the user could not find out */
        hl_comm_free(c);
        *comm = MPI_COMM_NULL;
        return hl_api_leave(NULL, func, 0);
    }
    return hl_api_leave(c, func, err);
}

HL_API(MPI_Comm_free);
int PMPI_Comm_free(MPI_Comm *comm)
{
    return end_comm("MPI_Comm_free", comm);
}

/* All processes stay connected through MPI_COMM_WORLD, so nothing is disconnected. The call only waits for
 * requests that the user has freed. */
HL_API(MPI_Comm_disconnect);
int PMPI_Comm_disconnect(MPI_Comm *comm)
{
    struct hl_comm *c = hl_is_address(comm) ? hl_comm_of(*comm) : NULL;

    if (c != NULL) {
        hl_req_complete(c->ctx);
    }
    return end_comm("MPI_Comm_disconnect", comm);
}
