/* Entry points of sends and receives. */
#include <stdlib.h>

#include "api.h"
#include "args.h"
#include "flight.h"
#include "general.h"
#include "match.h"
#include "p2p_args.h"
#include "util.h"

HL_INLINE int send_now(const char *func, const struct hl_api_p2p *a, enum hl_send_mode mode)
{
    struct hl_comm *c;
    struct hl_send s;
    bool nobody = false;
    int err = hl_api_to_send(a, mode, &c, &s, &nobody);
    if (HL_UNLIKELY(err != 0 || nobody)) {
        return hl_api_end(c, func, err);
    }
    return hl_api_end_waited(c, s.ctx, func, hl_match_send(&hl_match_self, &s));
}

static int call_send(const char *func, const struct hl_api_p2p *a, enum hl_send_mode mode)
{
    hl_cs_in(HL_CS_call, NULL);
    int code = send_now(func, a, mode);
    hl_cs_out(HL_CS_call, NULL);
    return code;
}

HL_INLINE int isend_now(const char *func, const struct hl_api_p2p *a, enum hl_send_mode mode,
                        MPI_Request *request)
{
    struct hl_comm *c;
    struct hl_send s;
    struct hl_req *r;
    bool nobody = false;
    int err = hl_api_to_send(a, mode, &c, &s, &nobody);
    err = err == 0 ? hl_api_check_out(request, "request") : err;
    if (HL_UNLIKELY(err == 0 && nobody)) {
        /* The status of a send does not name the peer, so either shared request will do. Under HOTLANE_CS it
         * is the one for which a wait takes the full way. */
        *request = hl_req_handle(hl_cs_any() ? hl_req_proc_null() : hl_req_completed());
        return hl_api_end(c, func, 0);
    }
    err = err == 0 ? hl_match_isend(&hl_match_self, &s, &r) : err;
    if (err == 0) {
        *request = hl_req_handle(r);
    }
    return hl_api_end(c, func, err);
}

static int start_p2p_send(const char *func, const struct hl_api_p2p *a, enum hl_send_mode mode,
                          MPI_Request *request)
{
    hl_cs_in(HL_CS_call, NULL);
    int code = isend_now(func, a, mode, request);
    hl_cs_out(HL_CS_call, NULL);
    return code;
}

HL_INLINE int recv_now(const char *func, const struct hl_api_p2p *a, MPI_Status *status)
{
    struct hl_comm *c;
    struct hl_recv r;
    bool nobody = false;
    int err = hl_api_to_recv(a, &c, &r, &nobody);
    if (HL_UNLIKELY(err != 0)) {
        return hl_api_end(c, func, err);
    }
    if (nobody) {
        hl_api_nobody_status(status);
    } else {
        err = hl_match_recv(&hl_match_self, &r, status);
    }
    return hl_api_end_waited(c, r.ctx, func, err);
}

static int call_recv(const char *func, const struct hl_api_p2p *a, MPI_Status *status)
{
    hl_cs_in(HL_CS_call, NULL);
    int code = recv_now(func, a, status);
    hl_cs_out(HL_CS_call, NULL);
    return code;
}

HL_INLINE int irecv_now(const char *func, const struct hl_api_p2p *a, MPI_Request *request)
{
    struct hl_comm *c;
    struct hl_recv r;
    struct hl_req *req;
    bool nobody = false;
    int err = hl_api_to_recv(a, &c, &r, &nobody);
    err = err == 0 ? hl_api_check_out(request, "request") : err;
    if (HL_UNLIKELY(err == 0 && nobody)) {
        *request = hl_req_handle(hl_req_proc_null());
        return hl_api_end(c, func, 0);
    }
    err = err == 0 ? hl_match_irecv(&hl_match_self, &r, &req) : err;
    if (err == 0) {
        *request = hl_req_handle(req);
    }
    return hl_api_end(c, func, err);
}

static int start_p2p_recv(const char *func, const struct hl_api_p2p *a, MPI_Request *request)
{
    hl_cs_in(HL_CS_call, NULL);
    int code = irecv_now(func, a, request);
    hl_cs_out(HL_CS_call, NULL);
    return code;
}

static HL_COLD int send_null(const void *buf, int count, MPI_Datatype datatype, int tag, MPI_Comm comm)
{
    return call_send("MPI_Send", &(struct hl_api_p2p){buf, count, datatype, MPI_PROC_NULL, tag, comm},
                     HL_SEND_STANDARD);
}

/* The most frequent calls are compiled each by itself, without the critical section, so that arguments stay
 * in registers. */
HL_API(MPI_Send);
int PMPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    /* Common at the borders of a grid. */
    if (HL_UNLIKELY(dest == MPI_PROC_NULL)) {
        return HL_LIKELY(hl_api_is_plain(count, datatype, tag, comm))
                   ? MPI_SUCCESS
                   : send_null(buf, count, datatype, tag, comm);
    }
    if (HL_UNLIKELY(hl_cs_on != HL_CS_LOCKFREE)) {
        return call_send("MPI_Send", &(struct hl_api_p2p){buf, count, datatype, dest, tag, comm},
                         HL_SEND_STANDARD);
    }
    return send_now("MPI_Send", &(struct hl_api_p2p){buf, count, datatype, dest, tag, comm},
                    HL_SEND_STANDARD);
}

HL_API(MPI_Isend);
int PMPI_Isend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
               MPI_Request *request)
{
    if (HL_UNLIKELY(hl_cs_on != HL_CS_LOCKFREE)) {
        return start_p2p_send("MPI_Isend", &(struct hl_api_p2p){buf, count, datatype, dest, tag, comm},
                              HL_SEND_STANDARD, request);
    }
    return isend_now("MPI_Isend", &(struct hl_api_p2p){buf, count, datatype, dest, tag, comm},
                     HL_SEND_STANDARD, request);
}

HL_API(MPI_Recv);
int PMPI_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
              MPI_Status *status)
{
    if (HL_UNLIKELY(source == MPI_PROC_NULL) && hl_api_is_plain(count, datatype, tag, comm)) {
        hl_api_nobody_status(status);
        return MPI_SUCCESS;
    }
    if (HL_UNLIKELY(hl_cs_on != HL_CS_LOCKFREE)) {
        return call_recv("MPI_Recv", &(struct hl_api_p2p){buf, count, datatype, source, tag, comm}, status);
    }
    return recv_now("MPI_Recv", &(struct hl_api_p2p){buf, count, datatype, source, tag, comm}, status);
}

HL_API(MPI_Irecv);
int PMPI_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
               MPI_Request *request)
{
    if (HL_UNLIKELY(hl_cs_on != HL_CS_LOCKFREE)) {
        return start_p2p_recv("MPI_Irecv", &(struct hl_api_p2p){buf, count, datatype, source, tag, comm},
                              request);
    }
    return irecv_now("MPI_Irecv", &(struct hl_api_p2p){buf, count, datatype, source, tag, comm}, request);
}

/* One row for each other form of both sends: names, type of the count, mode. */
#define SEND_ROWS(X)                                                                                         \
    X(MPI_Send_c, MPI_Isend_c, MPI_Count, HL_SEND_STANDARD)                                                  \
    X(MPI_Ssend, MPI_Issend, int, HL_SEND_SYNC)                                                              \
    X(MPI_Ssend_c, MPI_Issend_c, MPI_Count, HL_SEND_SYNC)                                                    \
    X(MPI_Rsend, MPI_Irsend, int, HL_SEND_STANDARD)                                                          \
    X(MPI_Rsend_c, MPI_Irsend_c, MPI_Count, HL_SEND_STANDARD)

#define X(name, iname, number, mode)                                                                         \
    HL_API(name);                                                                                            \
    int P##name(const void *buf, number count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)      \
    {                                                                                                        \
        return call_send(#name, &(struct hl_api_p2p){buf, count, datatype, dest, tag, comm}, mode);          \
    }                                                                                                        \
    HL_API(iname);                                                                                           \
    int P##iname(const void *buf, number count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,     \
                 MPI_Request *request)                                                                       \
    {                                                                                                        \
        return start_p2p_send(#iname, &(struct hl_api_p2p){buf, count, datatype, dest, tag, comm}, mode,     \
                              request);                                                                      \
    }
/* Defines: MPI_Send_c MPI_Isend_c MPI_Ssend MPI_Issend MPI_Ssend_c MPI_Issend_c MPI_Rsend MPI_Irsend
 * MPI_Rsend_c MPI_Irsend_c */
SEND_ROWS(X)
#undef X

HL_API(MPI_Recv_c);
int PMPI_Recv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                MPI_Status *status)
{
    return call_recv("MPI_Recv_c", &(struct hl_api_p2p){buf, count, datatype, source, tag, comm}, status);
}

HL_API(MPI_Irecv_c);
int PMPI_Irecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                 MPI_Request *request)
{
    return start_p2p_recv("MPI_Irecv_c", &(struct hl_api_p2p){buf, count, datatype, source, tag, comm},
                          request);
}

static int sendrecv_now(const char *func, const struct hl_api_p2p *to, const struct hl_api_p2p *from,
                        MPI_Status *status)
{
    struct hl_comm *c;
    struct hl_send s;
    struct hl_recv r;
    bool no_dest = false, no_source = false;
    int err = hl_api_enter(0);

    err = hl_api_to_send(to, HL_SEND_STANDARD, &c, &s, &no_dest);
    err = err == 0 ? hl_api_to_recv(from, &c, &r, &no_source) : err;
    if (err != 0) {
        return hl_api_leave(c, func, err);
    }
    uint64_t ctx = c->ctx + HL_PLANE_P2P; /* another thread may free `c` while this one waits */
    if (no_source) {
        hl_api_nobody_status(status);
        err = no_dest ? 0 : hl_match_send(&hl_match_self, &s);
    } else {
        err = no_dest ? hl_match_recv(&hl_match_self, &r, status)
                      : hl_match_sendrecv(&hl_match_self, &s, &r, status);
    }
    return hl_api_leave_waited(c, ctx, func, err);
}

/* ---- A send and a receive as one request, whose status is the receive's ---- */

struct sendrecv_pair {
    struct hl_flight flight;
    struct hl_req *both, *send, *recv;
    void *aside; /* the outgoing data, packed, or NULL; from malloc */
};

static bool step_sendrecv(struct hl_flight *f)
{
    const struct sendrecv_pair *p = HL_CONTAINER_OF(f, struct sendrecv_pair, flight);

    return hl_req_is_done(p->send) && hl_req_is_done(p->recv);
}

static void end_pair(struct hl_flight *f)
{
    struct sendrecv_pair *p = HL_CONTAINER_OF(f, struct sendrecv_pair, flight);
    struct hl_req *r = p->both;
    MPI_Status status;
    /* relaxed, both: ordered by the acquire of DONE in step_sendrecv. */
    uint32_t of_send = hl_a32_load_relaxed(&p->send->parts), of_recv = hl_a32_load_relaxed(&p->recv->parts);
    int sent = hl_req_finish(p->send, MPI_STATUS_IGNORE), got = hl_req_finish(p->recv, &status);

    r->source = status.MPI_SOURCE;
    r->tag = status.MPI_TAG;
    r->bytes = hl_req_status_bytes(&status);
    if (got != 0 || sent != 0) {
        hl_req_fail(r, got != 0 ? got : sent);
        /* what the error's text tells; relaxed: published with DONE. */
        hl_a32_store_relaxed(&r->parts, got != 0 ? of_recv : of_send);
    }
    free(p->aside);
    free(p);
    hl_req_done(r);
}

/* Starts the receive, then the send. After an error neither is under way. */
static int begin_pair(struct sendrecv_pair *p, const struct hl_send *s, const struct hl_recv *v)
{
    int err = hl_flight_ready();

    err = err == 0 && v != NULL ? hl_match_irecv(&hl_match_self, v, &p->recv) : err;
    if (err != 0 || s == NULL) {
        return err;
    }
    err = hl_match_isend(&hl_match_self, s, &p->send);
    if (err != 0 && v != NULL) {
        hl_match_cancel(&hl_match_self, p->recv);
        if (!hl_req_is_done(p->recv)) { /* its data may be on their way into the buffer */
            hl_req_fail(p->both, err);
            return 0;
        }
        hl_req_finish(p->recv, MPI_STATUS_IGNORE);
    }
    return err;
}

/* Starts both as one request; takes `aside` over if it succeeds. */
static int start_pair(const struct hl_send *s, const struct hl_recv *v, void *aside, struct hl_req **both)
{
    struct sendrecv_pair *p = malloc(sizeof *p);
    struct hl_req *r = hl_req_new(HL_REQ_PAIR);
    int err = p == NULL || r == NULL ? hl_err_say(HL_ERR_NO_MEM, "no memory for a request") : 0;

    if (err == 0) {
        *p = (struct sendrecv_pair){
            {.step = step_sendrecv, .end = end_pair}, r, hl_req_proc_null(), hl_req_proc_null(), aside};
        r->ctx = s != NULL ? s->ctx : v != NULL ? v->ctx : 0;
        err = begin_pair(p, s, v);
    }
    err = err == 0 ? hl_flight_start(&p->flight) : err;
    if (err != 0) {
        free(p);
        if (r != NULL) {
            hl_req_free(r);
        }
        return err;
    }
    *both = r;
    return 0;
}

/* Starts a send and a receive. `aside`: NULL, or the packed data that `to` sends, which this call takes
 * over. */
static int start_sendrecv(const char *func, const struct hl_api_p2p *to, const struct hl_api_p2p *from,
                          void *aside, MPI_Request *request)
{
    struct hl_comm *c;
    struct hl_send s;
    struct hl_recv v;
    struct hl_req *both = NULL;
    bool no_dest = false, no_source = false;
    int err = hl_api_enter(0);

    err = hl_api_to_send(to, HL_SEND_STANDARD, &c, &s, &no_dest);
    err = err == 0 ? hl_api_to_recv(from, &c, &v, &no_source) : err;
    err = err == 0 ? hl_api_check_out(request, "request") : err;
    err = err == 0 ? start_pair(no_dest ? NULL : &s, no_source ? NULL : &v, aside, &both) : err;
    if (err == 0) {
        *request = hl_req_handle(both);
    } else {
        free(aside);
    }
    return hl_api_leave(c, func, err);
}

/* Packs the outgoing data into *aside, from malloc; for MPI_PROC_NULL there are none. */
static int put_aside(const struct hl_api_p2p *a, struct hl_comm **c, char **aside, int64_t *bytes)
{
    struct hl_type *t = NULL;
    bool nobody = a->peer == MPI_PROC_NULL;
    int err = hl_api_get_comm(a->comm, c);

    err = err == 0 ? hl_api_get_message(a->buf, a->count, a->type, nobody, &t) : err;
    if (err == 0 && !nobody && !hl_type_bytes(t, a->count, bytes)) {
        err = hl_err_say(HL_ERR_COUNT, "%lld elements of %lld bytes do not fit 63 bits", (long long)a->count,
                         (long long)t->size);
    } else if (err == 0 && (*aside = malloc((size_t)*bytes + 1)) == NULL) {
        err = hl_err_say(HL_ERR_NO_MEM, "no memory for a copy of %lld bytes", (long long)*bytes);
    }
    return err == 0 && !nobody ? hl_type_pack(t, a->count, a->buf, 0, *aside, *bytes) : err;
}

/* Sends and receives in one buffer; request NULL: the call blocks. */
static int sendrecv_replace(const char *func, const struct hl_api_p2p *a, const struct hl_api_p2p *from,
                            MPI_Status *status, MPI_Request *request)
{
    struct hl_comm *c;
    char *aside = NULL;
    int64_t bytes = 0;
    int err = put_aside(a, &c, &aside, &bytes);

    if (err != 0) {
        free(aside);
        return hl_api_end(c, func, err);
    }
    struct hl_api_p2p to = {aside, bytes, MPI_PACKED, a->peer, a->tag, a->comm};
    if (request != NULL) {
        return start_sendrecv(func, &to, from, aside, request);
    }
    int code = sendrecv_now(func, &to, from, status);
    free(aside);
    return code;
}

static int start_sendrecv_replace(const char *func, const struct hl_api_p2p *to,
                                  const struct hl_api_p2p *from, MPI_Request *request)
{
    int err = hl_api_check_out(request, "request");

    return err != 0 ? hl_api_end(hl_comm_of(to->comm), func, err)
                    : sendrecv_replace(func, to, from, MPI_STATUS_IGNORE, request);
}

/* One row for each type of the counts: the four names. */
#define PAIR_ROWS(X)                                                                                         \
    X(MPI_Sendrecv, MPI_Isendrecv, MPI_Sendrecv_replace, MPI_Isendrecv_replace, int)                         \
    X(MPI_Sendrecv_c, MPI_Isendrecv_c, MPI_Sendrecv_replace_c, MPI_Isendrecv_replace_c, MPI_Count)

#define TO(buf, count, type) (&(struct hl_api_p2p){buf, count, type, dest, sendtag, comm})
#define FROM(buf, count, type) (&(struct hl_api_p2p){buf, count, type, source, recvtag, comm})
#define X(name, iname, replace_name, ireplace_name, number)                                                  \
    HL_API(name);                                                                                            \
    int P##name(const void *sendbuf, number sendcount, MPI_Datatype sendtype, int dest, int sendtag,         \
                void *recvbuf, number recvcount, MPI_Datatype recvtype, int source, int recvtag,             \
                MPI_Comm comm, MPI_Status *status)                                                           \
    {                                                                                                        \
        return sendrecv_now(#name, TO(sendbuf, sendcount, sendtype), FROM(recvbuf, recvcount, recvtype),     \
                            status);                                                                         \
    }                                                                                                        \
    HL_API(iname);                                                                                           \
    int P##iname(const void *sendbuf, number sendcount, MPI_Datatype sendtype, int dest, int sendtag,        \
                 void *recvbuf, number recvcount, MPI_Datatype recvtype, int source, int recvtag,            \
                 MPI_Comm comm, MPI_Request *request)                                                        \
    {                                                                                                        \
        return start_sendrecv(#iname, TO(sendbuf, sendcount, sendtype), FROM(recvbuf, recvcount, recvtype),  \
                              NULL, request);                                                                \
    }                                                                                                        \
    HL_API(replace_name);                                                                                    \
    int P##replace_name(void *buf, number count, MPI_Datatype datatype, int dest, int sendtag, int source,   \
                        int recvtag, MPI_Comm comm, MPI_Status *status)                                      \
    {                                                                                                        \
        return sendrecv_replace(#replace_name, TO(buf, count, datatype), FROM(buf, count, datatype), status, \
                                NULL);                                                                       \
    }                                                                                                        \
    HL_API(ireplace_name);                                                                                   \
    int P##ireplace_name(void *buf, number count, MPI_Datatype datatype, int dest, int sendtag, int source,  \
                         int recvtag, MPI_Comm comm, MPI_Request *request)                                   \
    {                                                                                                        \
        return start_sendrecv_replace(#ireplace_name, TO(buf, count, datatype), FROM(buf, count, datatype),  \
                                      request);                                                              \
    }
/* Defines: MPI_Sendrecv MPI_Isendrecv MPI_Sendrecv_replace MPI_Isendrecv_replace MPI_Sendrecv_c
 * MPI_Isendrecv_c MPI_Sendrecv_replace_c MPI_Isendrecv_replace_c */
PAIR_ROWS(X)
#undef X

/* ---- Cancelling ---- */

HL_API(MPI_Cancel);
int PMPI_Cancel(MPI_Request *request)
{
    int err = hl_api_enter(hl_api_check_out(request, "request"));
    struct hl_req *r = err == 0 ? hl_req_of(*request) : NULL;

    if (r == NULL) {
        err = err == 0 ? hl_err_say_none(HL_ERR_REQUEST, "request", *request) : err;
    } else if (r->what == HL_REQ_GENERAL) {
        err = hl_req_general_cancel(r);
    } else if (r->what == HL_REQ_SEND || r->what == HL_REQ_RECV) {
        err = hl_req_is_active(r) ? hl_match_cancel(&hl_match_self, r)
                                  : hl_err_say(HL_ERR_REQUEST, "the request is not active");
    } else if (r->what == HL_REQ_RMA) {
        err = hl_err_say(HL_ERR_REQUEST, "a one-sided operation cannot be cancelled: wait for its request "
                                         "(MPI_Wait, MPI_Test)");
    } else if (r->what != HL_REQ_WIN) { /* a flush: no effect */
        err = hl_err_say(HL_ERR_REQUEST, "only sends, receives and generalized requests can be cancelled");
    }
    return hl_api_leave_ctx(r != NULL ? r->ctx : 0, "MPI_Cancel", err);
}
