/* Error texts for wrong arguments. */
#include "args.h"

#include <limits.h>

int hl_api_bad_comm(MPI_Comm comm)
{
    if (!hl_job_is_open()) {
        return hl_job_refuse();
    }
    return hl_err_say_none(HL_ERR_COMM, "communicator", comm);
}

int hl_api_bad_sort(const struct hl_comm *c)
{
    return hl_err_say(HL_ERR_COMM,
                      hl_comm_is_inter(c)
                          ? "the communicator is an intercommunicator, which this call does not take"
                          : "the communicator is not an intercommunicator, which this call needs");
}

int hl_api_bad_type(MPI_Datatype type)
{
    return hl_err_say_none(HL_ERR_TYPE, "datatype", type);
}

int hl_api_bad_info(MPI_Info info)
{
    return hl_err_say_none(HL_ERR_INFO, "info object", info);
}

int hl_api_bad_group(MPI_Group group)
{
    return hl_err_say_none(HL_ERR_GROUP, "group", group);
}

int hl_api_bad_count(int64_t count)
{
    return hl_err_say(HL_ERR_COUNT, "count %lld is negative", (long long)count);
}

int hl_api_bad_rank(const struct hl_comm *c, int rank)
{
    return hl_err_say(HL_ERR_RANK, "rank %d is not in the %s of %d rank%s", rank,
                      hl_comm_is_inter(c) ? "remote group" : "communicator", c->n_peers,
                      hl_plural(c->n_peers));
}

int hl_api_bad_tag(int tag)
{
    return hl_err_say(HL_ERR_TAG, "tag %d is not between 0 and %d", tag, INT_MAX);
}

int hl_api_bad_root(const struct hl_comm *c, int root)
{
    return hl_err_say(HL_ERR_ROOT, "root %d is not in the %s of %d rank%s", root,
                      hl_comm_is_inter(c) ? "remote group" : "communicator", c->n_peers,
                      hl_plural(c->n_peers));
}

int hl_api_uncommitted(const struct hl_type *t)
{
    char name[MPI_MAX_OBJECT_NAME];

    hl_type_get_name(t, name);
    return hl_err_say(HL_ERR_TYPE, "datatype %s of %lld bytes is not committed (MPI_Type_commit)",
                      name[0] != 0 ? name : "(no name)", (long long)t->size);
}

int hl_api_bad_buffer(const void *buf, int64_t count, const struct hl_type *t)
{
    const char *what = buf == NULL ? "NULL" : buf == MPI_IN_PLACE ? "MPI_IN_PLACE" : "MPI_BUFFER_AUTOMATIC";
    char name[MPI_MAX_OBJECT_NAME];

    hl_type_get_name(t, name);
    return hl_err_say(HL_ERR_BUFFER, "the buffer is %s for %lld element%s of %s", what, (long long)count,
                      hl_plural(count), name[0] != 0 ? name : "a derived datatype");
}

int hl_api_check_thread(void)
{
    if (!hl_job_is_open() || hl_life_level() > MPI_THREAD_FUNNELED || hl_life_is_main_thread()) {
        return 0;
    }
    return hl_err_say(HL_ERR_OTHER,
                      "called by another thread than the main one, but MPI_THREAD_%s was granted: ask "
                      "MPI_Init_thread for MPI_THREAD_SERIALIZED or MPI_THREAD_MULTIPLE",
                      hl_life_level() == MPI_THREAD_SINGLE ? "SINGLE" : "FUNNELED");
}

int hl_api_no_address(const void *address, const char *what)
{
    return address == NULL ? hl_err_say(HL_ERR_ARG, "argument %s is NULL", what)
                           : hl_err_say(HL_ERR_ARG, "argument %s is %p, which is no address", what, address);
}
