/* Entry points of persistent sends and receives. */
#include "api.h"
#include "p2p_args.h"

static int send_init(const char *func, const struct hl_api_p2p *a, enum hl_send_mode mode,
                     MPI_Request *request)
{
    struct hl_comm *c;
    struct hl_send s;
    struct hl_req *r = NULL;
    bool nobody = false;
    int err = hl_api_enter(0);

    err = hl_api_to_send(a, mode, &c, &s, &nobody);
    err = err == 0 ? hl_api_check_out(request, "request") : err;
    if (err == 0) {
        err = nobody ? hl_match_nobody_init(HL_REQ_SEND, c->ctx, &r) : hl_match_send_init(&s, &r);
    }
    return hl_api_leave_started(c, func, err, r, request);
}

static int recv_init(const char *func, const struct hl_api_p2p *a, MPI_Request *request)
{
    struct hl_comm *c;
    struct hl_recv v;
    struct hl_req *r = NULL;
    bool nobody = false;
    int err = hl_api_enter(0);

    err = hl_api_to_recv(a, &c, &v, &nobody);
    err = err == 0 ? hl_api_check_out(request, "request") : err;
    if (err == 0) {
        err = nobody ? hl_match_nobody_init(HL_REQ_RECV, c->ctx, &r) : hl_match_recv_init(&v, &r);
    }
    return hl_api_leave_started(c, func, err, r, request);
}

/* One row for each function: name, type of the count, mode. */
#define SEND_ROWS(X)                                                                                         \
    X(MPI_Send_init, int, HL_SEND_STANDARD)                                                                  \
    X(MPI_Send_init_c, MPI_Count, HL_SEND_STANDARD)                                                          \
    X(MPI_Ssend_init, int, HL_SEND_SYNC)                                                                     \
    X(MPI_Ssend_init_c, MPI_Count, HL_SEND_SYNC)                                                             \
    X(MPI_Rsend_init, int, HL_SEND_STANDARD)                                                                 \
    X(MPI_Rsend_init_c, MPI_Count, HL_SEND_STANDARD)

#define X(name, number, mode)                                                                                \
    HL_API(name);                                                                                            \
    int P##name(const void *buf, number count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,      \
                MPI_Request *request)                                                                        \
    {                                                                                                        \
        return send_init(#name, &(struct hl_api_p2p){buf, count, datatype, dest, tag, comm}, mode, request); \
    }
/* Defines: MPI_Send_init MPI_Send_init_c MPI_Ssend_init MPI_Ssend_init_c MPI_Rsend_init MPI_Rsend_init_c */
SEND_ROWS(X)
#undef X

HL_API(MPI_Recv_init);
int PMPI_Recv_init(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                   MPI_Request *request)
{
    return recv_init("MPI_Recv_init", &(struct hl_api_p2p){buf, count, datatype, source, tag, comm}, request);
}

HL_API(MPI_Recv_init_c);
int PMPI_Recv_init_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                     MPI_Request *request)
{
    return recv_init("MPI_Recv_init_c", &(struct hl_api_p2p){buf, count, datatype, source, tag, comm},
                     request);
}
