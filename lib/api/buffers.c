/* Buffered sends and the buffers that users attach for them. */
#include "api.h"
#include "buffered.h"
#include "p2p_args.h"
#include "session.h"

static struct hl_buffered_from buffers_of(struct hl_comm *c)
{
    struct hl_session *s = hl_session_alive(&c->origin);

    return (struct hl_buffered_from){&c->buffered, s != NULL ? &s->buffered : NULL};
}

/* Sends by the buffer, with a request unless `blocking`. Both forms end as soon as the message is copied. */
static int send_buffered(const char *func, const struct hl_api_p2p *a, bool blocking, MPI_Request *request)
{
    struct hl_comm *c;
    struct hl_send s;
    bool nobody = false;
    int err = hl_api_enter(hl_api_to_send(a, HL_SEND_STANDARD, &c, &s, &nobody));

    err = err == 0 && !blocking ? hl_api_check_out(request, "request") : err;
    if (err == 0 && !nobody) {
        struct hl_buffered_from from = buffers_of(c);
        err = hl_buffered_send(&s, &from);
    }
    if (err == 0 && !blocking) {
        *request = hl_req_handle(nobody ? hl_req_proc_null() : hl_req_completed());
    }
    return hl_api_leave(c, func, err);
}

static void let_go_buffer(void *comm)
{
    hl_comm_unref(comm);
}

static int bsend_init(const char *func, const struct hl_api_p2p *a, MPI_Request *request)
{
    struct hl_comm *c;
    struct hl_send s;
    struct hl_req *r = NULL;
    bool nobody = false;
    int err = hl_api_enter(0);

    err = hl_api_to_send(a, HL_SEND_STANDARD, &c, &s, &nobody);
    err = err == 0 ? hl_api_check_out(request, "request") : err;
    if (err == 0 && nobody) {
        err = hl_match_nobody_init(HL_REQ_SEND, c->ctx, &r);
    } else if (err == 0) {
        struct hl_buffered_from from = buffers_of(c);
        err = hl_buffered_send_init(&s, &from, &(struct hl_buffered_hold){let_go_buffer, c}, &r);
        if (err == 0) {
            hl_comm_ref(c);
        }
    }
    return hl_api_leave_started(c, func, err, r, request);
}

/* One row for each type of the count. */
#define SEND_ROWS(X)                                                                                         \
    X(MPI_Bsend, MPI_Ibsend, MPI_Bsend_init, int)                                                            \
    X(MPI_Bsend_c, MPI_Ibsend_c, MPI_Bsend_init_c, MPI_Count)

#define X(name, iname, init, number)                                                                         \
    HL_API(name);                                                                                            \
    int P##name(const void *buf, number count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)      \
    {                                                                                                        \
        return send_buffered(#name, &(struct hl_api_p2p){buf, count, datatype, dest, tag, comm}, true,       \
                             NULL);                                                                          \
    }                                                                                                        \
    HL_API(iname);                                                                                           \
    int P##iname(const void *buf, number count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,     \
                 MPI_Request *request)                                                                       \
    {                                                                                                        \
        return send_buffered(#iname, &(struct hl_api_p2p){buf, count, datatype, dest, tag, comm}, false,     \
                             request);                                                                       \
    }                                                                                                        \
    HL_API(init);                                                                                            \
    int P##init(const void *buf, number count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,      \
                MPI_Request *request)                                                                        \
    {                                                                                                        \
        return bsend_init(#init, &(struct hl_api_p2p){buf, count, datatype, dest, tag, comm}, request);      \
    }
/* Defines: MPI_Bsend MPI_Ibsend MPI_Bsend_init MPI_Bsend_c MPI_Ibsend_c MPI_Bsend_init_c */
SEND_ROWS(X)
#undef X

/* ---- Buffers ---- */

static int attach_buffer(hl_aptr *slot, void *buffer, int64_t size)
{
    if (buffer != MPI_BUFFER_AUTOMATIC && size < 0) {
        return hl_err_say(HL_ERR_ARG, "the size of the buffer, %lld, is negative", (long long)size);
    }
    if (buffer == NULL && size > 0) {
        return hl_err_say(HL_ERR_BUFFER, "the buffer is NULL for %lld bytes", (long long)size);
    }
    return hl_buffered_attach(slot, buffer, size);
}

static int detach_buffer(hl_aptr *slot, void *buffer_addr, int64_t *size)
{
    int err = hl_api_check_out(buffer_addr, "buffer_addr");
    void *base;

    err = err == 0 ? hl_api_check_out(size, "size") : err;
    if (err == 0) {
        hl_buffered_detach(slot, &base, size);
        *(void **)buffer_addr = base;
    }
    return err;
}

static int flush_buffer(hl_aptr *slot)
{
    hl_buffered_flush(slot);
    return 0;
}

static int start_buffer_flush(hl_aptr *slot, MPI_Request *request)
{
    struct hl_req *r = NULL;
    int err = hl_api_check_out(request, "request");

    err = err == 0 ? hl_buffered_iflush(slot, &r) : err;
    if (err == 0) {
        *request = hl_req_handle(r);
    }
    return err;
}

/* To what a buffer is attached: a communicator, a session, or, with both NULL, the process. */
struct owner {
    hl_aptr *slot;
    struct hl_comm *comm;
    struct hl_session *session;
};

static int of_process(struct owner *o)
{
    *o = (struct owner){.slot = &hl_buffered_process};
    return hl_api_check_open();
}

static int of_comm(MPI_Comm comm, struct owner *o)
{
    *o = (struct owner){0};
    int err = hl_api_get_comm(comm, &o->comm);

    o->slot = err == 0 ? &o->comm->buffered : NULL;
    return err;
}

static int of_session(MPI_Session session, struct owner *o)
{
    *o = (struct owner){0};
    int err = hl_api_get_session(session, &o->session);

    o->slot = err == 0 ? &o->session->buffered : NULL;
    return err;
}

static int leave_buffers(const struct owner *o, const char *func, int err)
{
    int code =
        o->session != NULL ? hl_api_end_session(o->session, func, err) : hl_api_end(o->comm, func, err);

    hl_cs_out(HL_CS_call, NULL);
    return code;
}

static int detach_int(const struct owner *o, void *buffer_addr, int *size)
{
    int64_t n = 0;
    int err = detach_buffer(o->slot, buffer_addr, hl_is_address(size) ? &n : NULL);

    if (err == 0) {
        *size = hl_api_narrow(n);
    }
    return err;
}

static int detach_c(const struct owner *o, void *buffer_addr, MPI_Count *size)
{
    return detach_buffer(o->slot, buffer_addr, size);
}

/* One row for each function: name, parameters, whose buffer, what is done with it. */
#define OWNER_ROWS(X)                                                                                        \
    X(MPI_Buffer_attach, (void *buffer, int size), of_process(&o), attach_buffer(o.slot, buffer, size))      \
    X(MPI_Buffer_attach_c, (void *buffer, MPI_Count size), of_process(&o),                                   \
      attach_buffer(o.slot, buffer, size))                                                                   \
    X(MPI_Buffer_detach, (void *buffer_addr, int *size), of_process(&o), detach_int(&o, buffer_addr, size))  \
    X(MPI_Buffer_detach_c, (void *buffer_addr, MPI_Count *size), of_process(&o),                             \
      detach_c(&o, buffer_addr, size))                                                                       \
    X(MPI_Buffer_flush, (void), of_process(&o), flush_buffer(o.slot))                                        \
    X(MPI_Buffer_iflush, (MPI_Request * request), of_process(&o), start_buffer_flush(o.slot, request))       \
    X(MPI_Comm_attach_buffer, (MPI_Comm comm, void *buffer, int size), of_comm(comm, &o),                    \
      attach_buffer(o.slot, buffer, size))                                                                   \
    X(MPI_Comm_attach_buffer_c, (MPI_Comm comm, void *buffer, MPI_Count size), of_comm(comm, &o),            \
      attach_buffer(o.slot, buffer, size))                                                                   \
    X(MPI_Comm_detach_buffer, (MPI_Comm comm, void *buffer_addr, int *size), of_comm(comm, &o),              \
      detach_int(&o, buffer_addr, size))                                                                     \
    X(MPI_Comm_detach_buffer_c, (MPI_Comm comm, void *buffer_addr, MPI_Count *size), of_comm(comm, &o),      \
      detach_c(&o, buffer_addr, size))                                                                       \
    X(MPI_Comm_flush_buffer, (MPI_Comm comm), of_comm(comm, &o), flush_buffer(o.slot))                       \
    X(MPI_Comm_iflush_buffer, (MPI_Comm comm, MPI_Request * request), of_comm(comm, &o),                     \
      start_buffer_flush(o.slot, request))                                                                   \
    X(MPI_Session_attach_buffer, (MPI_Session session, void *buffer, int size), of_session(session, &o),     \
      attach_buffer(o.slot, buffer, size))                                                                   \
    X(MPI_Session_attach_buffer_c, (MPI_Session session, void *buffer, MPI_Count size),                      \
      of_session(session, &o), attach_buffer(o.slot, buffer, size))                                          \
    X(MPI_Session_detach_buffer, (MPI_Session session, void *buffer_addr, int *size),                        \
      of_session(session, &o), detach_int(&o, buffer_addr, size))                                            \
    X(MPI_Session_detach_buffer_c, (MPI_Session session, void *buffer_addr, MPI_Count *size),                \
      of_session(session, &o), detach_c(&o, buffer_addr, size))                                              \
    X(MPI_Session_flush_buffer, (MPI_Session session), of_session(session, &o), flush_buffer(o.slot))        \
    X(MPI_Session_iflush_buffer, (MPI_Session session, MPI_Request * request), of_session(session, &o),      \
      start_buffer_flush(o.slot, request))

#define X(name, params, whose, what)                                                                         \
    HL_API(name);                                                                                            \
    int P##name params                                                                                       \
    {                                                                                                        \
        struct owner o;                                                                                      \
        int err = hl_api_enter(whose);                                                                       \
                                                                                                             \
        return leave_buffers(&o, #name, err == 0 ? what : err);                                              \
    }
/* Defines: MPI_Buffer_attach MPI_Buffer_attach_c MPI_Buffer_detach MPI_Buffer_detach_c MPI_Buffer_flush
 * MPI_Buffer_iflush MPI_Comm_attach_buffer MPI_Comm_attach_buffer_c MPI_Comm_detach_buffer
 * MPI_Comm_detach_buffer_c MPI_Comm_flush_buffer MPI_Comm_iflush_buffer MPI_Session_attach_buffer
 * MPI_Session_attach_buffer_c MPI_Session_detach_buffer MPI_Session_detach_buffer_c MPI_Session_flush_buffer
 * MPI_Session_iflush_buffer */
OWNER_ROWS(X)
#undef X
