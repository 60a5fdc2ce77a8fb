/* Communicators: questions, names, info, and their end. */
#include <string.h>

#include "api.h"
#include "args.h"
#include "buffered.h"
#include "keyval.h"

HL_API(MPI_Comm_rank);
int PMPI_Comm_rank(MPI_Comm comm, int *rank)
{
    struct hl_comm *c;
    int err = hl_api_enter(hl_api_get_comm(comm, &c));

    err = err == 0 ? hl_api_check_out(rank, "rank") : err;
    if (err == 0) {
        *rank = c->rank;
    }
    return hl_api_leave(c, "MPI_Comm_rank", err);
}

HL_API(MPI_Comm_size);
int PMPI_Comm_size(MPI_Comm comm, int *size)
{
    struct hl_comm *c;
    int err = hl_api_enter(hl_api_get_comm(comm, &c));

    err = err == 0 ? hl_api_check_out(size, "size") : err;
    if (err == 0) {
        *size = c->size;
    }
    return hl_api_leave(c, "MPI_Comm_size", err);
}

HL_API(MPI_Comm_test_inter);
int PMPI_Comm_test_inter(MPI_Comm comm, int *flag)
{
    struct hl_comm *c;
    int err = hl_api_enter(hl_api_get_comm(comm, &c));

    err = err == 0 ? hl_api_check_out(flag, "flag") : err;
    if (err == 0) {
        *flag = hl_comm_is_inter(c);
    }
    return hl_api_leave(c, "MPI_Comm_test_inter", err);
}

HL_API(MPI_Comm_remote_size);
int PMPI_Comm_remote_size(MPI_Comm comm, int *size)
{
    struct hl_comm *c;
    int err = hl_api_enter(hl_api_get_comm(comm, &c));

    err = err == 0 ? hl_api_check_inter(c) : err;
    err = err == 0 ? hl_api_check_out(size, "size") : err;
    if (err == 0) {
        *size = c->n_peers;
    }
    return hl_api_leave(c, "MPI_Comm_remote_size", err);
}

HL_API(MPI_Comm_remote_group);
int PMPI_Comm_remote_group(MPI_Comm comm, MPI_Group *group)
{
    struct hl_comm *c;
    int err = hl_api_enter(hl_api_get_comm(comm, &c));

    err = err == 0 ? hl_api_check_inter(c) : err;
    err = err == 0 ? hl_api_check_out(group, "group") : err;
    if (err == 0) {
        hl_group_ref(c->peers);
        *group = hl_group_give(c->peers);
    }
    return hl_api_leave(c, "MPI_Comm_remote_group", err);
}

HL_API(MPI_Comm_get_parent);
int PMPI_Comm_get_parent(MPI_Comm *parent)
{
    int err = hl_api_enter(hl_api_check_open());

    err = err == 0 ? hl_api_check_out(parent, "parent") : err;
    if (err == 0) {
        *parent = MPI_COMM_NULL; /* no process is spawned */
    }
    return hl_api_leave(NULL, "MPI_Comm_get_parent", err);
}

HL_API(MPI_Comm_compare);
int PMPI_Comm_compare(MPI_Comm comm1, MPI_Comm comm2, int *result)
{
    struct hl_comm *a, *b;
    int err = hl_api_enter(hl_api_get_comm(comm1, &a));

    err = err == 0 ? hl_api_get_comm(comm2, &b) : err;
    err = err == 0 ? hl_api_check_out(result, "result") : err;
    if (err == 0) {
        *result = hl_comm_compare(a, b);
    }
    return hl_api_leave(a, "MPI_Comm_compare", err);
}

HL_API(MPI_Comm_group);
int PMPI_Comm_group(MPI_Comm comm, MPI_Group *group)
{
    struct hl_comm *c;
    int err = hl_api_enter(hl_api_get_comm(comm, &c));

    err = err == 0 ? hl_api_check_out(group, "group") : err;
    if (err == 0) {
        hl_group_ref(c->group);
        *group = hl_group_give(c->group);
    }
    return hl_api_leave(c, "MPI_Comm_group", err);
}

/* Frees the user's communicator. Attributes are deleted first, since their callbacks may refuse. */
static int end_comm(const char *func, MPI_Comm *comm)
{
    struct hl_comm *c = NULL;
    int err = hl_api_enter(hl_api_check_out(comm, "comm"));

    err = err == 0 ? hl_api_get_comm(*comm, &c) : err;
    if (err == 0 && (c == &hl_comm_world_object || c == &hl_comm_self_object)) {
        err = hl_err_say(HL_ERR_COMM, "a predefined communicator cannot be freed");
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

HL_API(MPI_Comm_set_name);
int PMPI_Comm_set_name(MPI_Comm comm, const char *comm_name)
{
    struct hl_comm *c;
    int err = hl_api_enter(hl_api_get_comm(comm, &c));

    err = err == 0 ? hl_api_check_out(comm_name, "comm_name") : err;
    err = err == 0 ? hl_comm_set_name(c, comm_name) : err;
    return hl_api_leave(c, "MPI_Comm_set_name", err);
}

HL_API(MPI_Comm_get_name);
int PMPI_Comm_get_name(MPI_Comm comm, char *comm_name, int *resultlen)
{
    struct hl_comm *c = NULL;
    int err = hl_api_enter(comm != MPI_COMM_NULL ? hl_api_get_comm(comm, &c) : 0);

    err = err == 0 ? hl_api_check_out(comm_name, "comm_name") : err;
    err = err == 0 ? hl_api_check_out(resultlen, "resultlen") : err;
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

HL_API(MPI_Comm_set_info);
int PMPI_Comm_set_info(MPI_Comm comm, MPI_Info info)
{
    struct hl_comm *c;
    struct hl_info *hints;
    int err = hl_api_enter(hl_api_get_comm(comm, &c));

    err = err == 0 ? hl_api_get_info(info, &hints) : err;
    err = err == 0 ? hl_comm_set_hints(c, hints) : err;
    return hl_api_leave(c, "MPI_Comm_set_info", err);
}

HL_API(MPI_Comm_get_info);
int PMPI_Comm_get_info(MPI_Comm comm, MPI_Info *info_used)
{
    struct hl_comm *c;
    struct hl_info *copy;
    int err = hl_api_enter(hl_api_get_comm(comm, &c));

    err = err == 0 ? hl_api_check_out(info_used, "info_used") : err;
    err = err == 0 ? hl_comm_get_hints(c, &copy) : err;
    if (err == 0) {
        *info_used = copy->handle;
    }
    return hl_api_leave(c, "MPI_Comm_get_info", err);
}
