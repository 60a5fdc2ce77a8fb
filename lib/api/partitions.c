/* Entry points of partitioned sends and receives. */
#include "partitioned.h"

#include "api.h"
#include "p2p_args.h"

static int check_partitions(int partitions)
{
    return partitions < 0 ? hl_err_say(HL_ERR_ARG, "the number of partitions, %d, is negative", partitions)
                          : 0;
}

static int check_rest(int partitions, MPI_Info info, const MPI_Request *request)
{
    struct hl_info *hints;
    int err = check_partitions(partitions);

    err = err == 0 ? hl_api_get_info(info, &hints) : err;
    return err == 0 ? hl_api_check_out(request, "request") : err;
}

static int psend_init(const char *func, const struct hl_api_p2p *a, int partitions, MPI_Info info,
                      MPI_Request *request)
{
    struct hl_comm *c;
    struct hl_send s;
    struct hl_req *r = NULL;
    bool nobody = false;
    int err = hl_api_enter(hl_api_to_send(a, HL_SEND_STANDARD, &c, &s, &nobody));

    err = err == 0 ? check_rest(partitions, info, request) : err;
    if (err == 0 && nobody) {
        err = hl_match_nobody_init(HL_REQ_PSEND, c->ctx, &r);
    } else if (err == 0) {
        s.ctx = c->ctx + HL_PLANE_PART;
        err = hl_part_send_init(&s, partitions, hl_comm_ctx_new(), &r);
    }
    return hl_api_leave_started(c, func, err, r, request);
}

static int precv_init(const char *func, const struct hl_api_p2p *a, int partitions, MPI_Info info,
                      MPI_Request *request)
{
    struct hl_comm *c;
    struct hl_recv v;
    struct hl_req *r = NULL;
    bool nobody = false;
    int err = hl_api_enter(hl_api_to_recv(a, &c, &v, &nobody));

    err = err == 0 ? hl_api_check_dest(c, a->peer) : err; /* wildcards are not allowed */
    err = err == 0 ? hl_api_check_tag(a->tag) : err;
    err = err == 0 ? check_rest(partitions, info, request) : err;
    if (err == 0 && nobody) {
        err = hl_match_nobody_init(HL_REQ_PRECV, c->ctx, &r);
    } else if (err == 0) {
        v.ctx = c->ctx + HL_PLANE_PART;
        err = hl_part_recv_init(&v, partitions, &r);
    }
    return hl_api_leave_started(c, func, err, r, request);
}

/* In the standard the names without _c already have MPI_Count (4.2.1); the header of its ABI has names with
 * _c, too. */
#define INIT_ROWS(X)                                                                                         \
    X(MPI_Psend_init, MPI_Precv_init)                                                                        \
    X(MPI_Psend_init_c, MPI_Precv_init_c)

#define X(send, recv)                                                                                        \
    HL_API(send);                                                                                            \
    int P##send(const void *buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest, int tag,  \
                MPI_Comm comm, MPI_Info info, MPI_Request *request)                                          \
    {                                                                                                        \
        return psend_init(#send, &(struct hl_api_p2p){buf, count, datatype, dest, tag, comm}, partitions,    \
                          info, request);                                                                    \
    }                                                                                                        \
    HL_API(recv);                                                                                            \
    int P##recv(void *buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest, int tag,        \
                MPI_Comm comm, MPI_Info info, MPI_Request *request)                                          \
    {                                                                                                        \
        return precv_init(#recv, &(struct hl_api_p2p){buf, count, datatype, dest, tag, comm}, partitions,    \
                          info, request);                                                                    \
    }
/* Defines: MPI_Psend_init MPI_Precv_init MPI_Psend_init_c MPI_Precv_init_c */
INIT_ROWS(X)
#undef X

/* The partitioned request behind a handle, which must be a `what`. *nobody: it is one with MPI_PROC_NULL,
 * which has no partitions. */
static int get_partitioned(MPI_Request handle, enum hl_req_what what, struct hl_req **r, bool *nobody)
{
    *r = hl_req_of(handle);
    if (*r == NULL) {
        return hl_err_say_none(HL_ERR_REQUEST, "request", handle);
    }
    if ((*r)->what != what) {
        return hl_err_say(HL_ERR_REQUEST, "%p is no request of MPI_%s_init", (void *)handle,
                          what == HL_REQ_PSEND ? "Psend" : "Precv");
    }
    *nobody = hl_match_is_nobody(*r);
    return 0;
}

static int get_started(MPI_Request handle, struct hl_req **r, bool *nobody)
{
    int err = get_partitioned(handle, HL_REQ_PSEND, r, nobody);

    return err == 0 && !hl_req_is_active(*r)
               ? hl_err_say(HL_ERR_REQUEST, "the send was not started (MPI_Start)")
               : err;
}

HL_API(MPI_Pready);
int PMPI_Pready(int partition, MPI_Request request)
{
    struct hl_req *r;
    bool nobody = false;
    int err = hl_api_enter(get_started(request, &r, &nobody));

    err = err == 0 && !nobody ? hl_part_ready(r, partition, partition) : err;
    return hl_api_leave_ctx(r != NULL ? r->ctx : 0, "MPI_Pready", err);
}

HL_API(MPI_Pready_range);
int PMPI_Pready_range(int partition_low, int partition_high, MPI_Request request)
{
    struct hl_req *r;
    bool nobody = false;
    int err = hl_api_enter(get_started(request, &r, &nobody));

    err = err == 0 && !nobody ? hl_part_ready(r, partition_low, partition_high) : err;
    return hl_api_leave_ctx(r != NULL ? r->ctx : 0, "MPI_Pready_range", err);
}

HL_API(MPI_Pready_list);
int PMPI_Pready_list(int length, const int array_of_partitions[], MPI_Request request)
{
    struct hl_req *r;
    bool nobody = false;
    int err = hl_api_enter(get_started(request, &r, &nobody));

    err = err == 0 ? hl_api_check_count(length) : err;
    err = err == 0 && length > 0 ? hl_api_check_out(array_of_partitions, "array_of_partitions") : err;
    for (int i = 0; i < length && err == 0 && !nobody; i++) {
        err = hl_part_ready(r, array_of_partitions[i], array_of_partitions[i]);
    }
    return hl_api_leave_ctx(r != NULL ? r->ctx : 0, "MPI_Pready_list", err);
}

HL_API(MPI_Parrived);
int PMPI_Parrived(MPI_Request request, int partition, int *flag)
{
    struct hl_req *r = NULL;
    bool nobody = request == MPI_REQUEST_NULL, arrived = true; /* nothing of no request is missing */
    int err = hl_api_enter(nobody ? 0 : get_partitioned(request, HL_REQ_PRECV, &r, &nobody));

    err = err == 0 ? hl_api_check_out(flag, "flag") : err;
    err = err == 0 && !nobody ? hl_part_arrived(r, partition, &arrived) : err;
    if (err == 0) {
        *flag = arrived;
    }
    return hl_api_leave_ctx(r != NULL ? r->ctx : 0, "MPI_Parrived", err);
}
