/* Entry points of probes and matched receives. */
#include "api.h"
#include "p2p_args.h"

static int to_probe(int source, int tag, MPI_Comm comm, struct hl_comm **c, struct hl_recv *p)
{
    int err = hl_api_get_comm(comm, c);

    err = err == 0 ? hl_api_check_source(*c, source) : err;
    err = err == 0 ? hl_api_check_recv_tag(*c, tag) : err;
    if (err == 0) {
        *p = (struct hl_recv){.ctx = (*c)->ctx + HL_PLANE_P2P,
                              .src = source,
                              .src_world = source >= 0 ? hl_comm_world(*c, source) : -1,
                              .tag = tag};
    }
    return err;
}

HL_API(MPI_Probe);
int PMPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    struct hl_comm *c;
    struct hl_recv p;
    int err = hl_api_enter(0);

    err = to_probe(source, tag, comm, &c, &p);
    if (err != 0) {
        return hl_api_leave(c, "MPI_Probe", err);
    }
    if (source == MPI_PROC_NULL) {
        hl_api_nobody_status(status);
    } else {
        err = hl_match_probe(&hl_match_self, &p, status);
    }
    return hl_api_leave_waited(c, p.ctx, "MPI_Probe", err);
}

HL_API(MPI_Iprobe);
int PMPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    struct hl_comm *c;
    struct hl_recv p;
    bool found = true;
    int err = hl_api_enter(0);

    err = to_probe(source, tag, comm, &c, &p);
    err = err == 0 ? hl_api_check_out(flag, "flag") : err;
    if (err == 0 && source == MPI_PROC_NULL) {
        hl_api_nobody_status(status);
    } else {
        err = err == 0 ? hl_match_iprobe(&hl_match_self, &p, &found, status) : err;
    }
    if (err == 0) {
        *flag = found;
    }
    return hl_api_leave(c, "MPI_Iprobe", err);
}

/* Both matched probes: waiting, or not. */
static int take_matched(const char *func, const struct hl_recv *p, bool wait, MPI_Message *message,
                        MPI_Status *status, struct hl_comm *c)
{
    struct hl_message *m = NULL;
    int err;

    if (p->src == MPI_PROC_NULL) {
        hl_api_nobody_status(status);
        *message = MPI_MESSAGE_NO_PROC;
        return hl_api_leave(c, func, 0);
    }
    err = wait ? hl_match_mprobe(&hl_match_self, p, &m, status)
               : hl_match_improbe(&hl_match_self, p, &m, status);
    if (err == 0) {
        *message = m != NULL ? hl_match_message_handle(m) : MPI_MESSAGE_NULL;
    }
    return hl_api_leave_waited(c, p->ctx, func, err);
}

HL_API(MPI_Mprobe);
int PMPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
    struct hl_comm *c;
    struct hl_recv p;
    int err = hl_api_enter(0);

    err = to_probe(source, tag, comm, &c, &p);
    err = err == 0 ? hl_api_check_out(message, "message") : err;
    return err == 0 ? take_matched("MPI_Mprobe", &p, true, message, status, c)
                    : hl_api_leave(c, "MPI_Mprobe", err);
}

HL_API(MPI_Improbe);
int PMPI_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status)
{
    struct hl_comm *c;
    struct hl_recv p;
    int err = hl_api_enter(0);

    err = to_probe(source, tag, comm, &c, &p);
    err = err == 0 ? hl_api_check_out(flag, "flag") : err;
    err = err == 0 ? hl_api_check_out(message, "message") : err;
    if (err != 0) {
        return hl_api_leave(c, "MPI_Improbe", err);
    }
    int code = take_matched("MPI_Improbe", &p, false, message, status, c);
    if (code == MPI_SUCCESS) {
        *flag = *message != MPI_MESSAGE_NULL;
    }
    return code;
}

/* The arguments of a matched receive. */
struct take {
    struct hl_recv r;
    struct hl_message *m; /* NULL: MPI_MESSAGE_NO_PROC */
    uint64_t ctx;         /* of the communicator whose handler gets errors; 0: no living message */
};

static int to_receive(const void *buf, int64_t count, MPI_Datatype datatype, const MPI_Message *message,
                      struct take *x)
{
    int err = hl_api_enter(hl_api_check_out(message, "message"));

    *x = (struct take){.r = {.buf = (void *)(uintptr_t)buf, .count = count}};
    if (err == 0 && *message != MPI_MESSAGE_NO_PROC) {
        x->m = hl_match_message_of(*message);
        if (x->m == NULL) {
            return hl_err_say_none(HL_ERR_REQUEST, "message", *message);
        }
        x->ctx = hl_match_message_ctx(x->m);
    }
    return err == 0 ? hl_api_get_message(buf, count, datatype, x->m == NULL, &x->r.type) : err;
}

static int recv_matched_now(const char *func, const struct take *x, int err, MPI_Message *message,
                            MPI_Status *status)
{
    if (err == 0) {
        *message = MPI_MESSAGE_NULL;
        if (x->m == NULL) {
            hl_api_nobody_status(status);
        } else {
            err = hl_match_mrecv(&hl_match_self, x->m, &x->r, status);
        }
    }
    return hl_api_leave_ctx(x->ctx, func, err);
}

static int start_matched_recv(const char *func, const struct take *x, int err, MPI_Message *message,
                              MPI_Request *request)
{
    err = err == 0 ? hl_api_check_out(request, "request") : err;
    if (err == 0) {
        *message = MPI_MESSAGE_NULL;
        *request =
            hl_req_handle(x->m != NULL ? hl_match_imrecv(&hl_match_self, x->m, &x->r) : hl_req_proc_null());
    }
    return hl_api_leave_ctx(x->ctx, func, err);
}

#define RECEIVE_ROWS(X)                                                                                      \
    X(MPI_Mrecv, MPI_Imrecv, int)                                                                            \
    X(MPI_Mrecv_c, MPI_Imrecv_c, MPI_Count)

#define X(name, iname, number)                                                                               \
    HL_API(name);                                                                                            \
    int P##name(void *buf, number count, MPI_Datatype datatype, MPI_Message *message, MPI_Status *status)    \
    {                                                                                                        \
        struct take x;                                                                                       \
        int err = to_receive(buf, count, datatype, message, &x);                                             \
                                                                                                             \
        return recv_matched_now(#name, &x, err, message, status);                                            \
    }                                                                                                        \
    HL_API(iname);                                                                                           \
    int P##iname(void *buf, number count, MPI_Datatype datatype, MPI_Message *message, MPI_Request *request) \
    {                                                                                                        \
        struct take x;                                                                                       \
        int err = to_receive(buf, count, datatype, message, &x);                                             \
                                                                                                             \
        return start_matched_recv(#iname, &x, err, message, request);                                        \
    }
/* Defines: MPI_Mrecv MPI_Imrecv MPI_Mrecv_c MPI_Imrecv_c */
RECEIVE_ROWS(X)
#undef X
