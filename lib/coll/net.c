/* Messages of schedules, carried by matching. */
#include "err.h"
#include "match.h"
#include "schedule.h"

static int send_matched(const struct hl_coll_msg *m, void **request)
{
    struct hl_send s = {.ctx = m->ctx,
                        .me = m->comm->rank,
                        .dest_world = hl_comm_world(m->comm, m->peer),
                        .tag = m->tag,
                        .mode = m->lost ? HL_SEND_LOST : HL_SEND_STANDARD,
                        .buf = m->data.buf,
                        .count = m->data.count,
                        .type = m->data.type};
    struct hl_req *r = NULL;
    int err = hl_match_isend(&hl_match_self, &s, &r);

    *request = r;
    return err;
}

static int recv_matched(const struct hl_coll_msg *m, void **request)
{
    struct hl_recv v = {.ctx = m->ctx,
                        .src = m->peer,
                        .src_world = hl_comm_world(m->comm, m->peer),
                        .tag = m->tag,
                        .buf = m->data.buf,
                        .count = m->data.count,
                        .type = m->data.type};
    struct hl_req *r = NULL;
    int err = hl_match_irecv(&hl_match_self, &v, &r);

    *request = r;
    return err;
}

/* Users know of no messages of a collective: its words are about bytes. */
static int end_matched(struct hl_req *r)
{
    int from = r->source;
    int64_t room = r->bytes, bytes = room + hl_req_excess(r);
    int err = hl_req_finish(r, MPI_STATUS_IGNORE);

    return err == HL_ERR_TRUNCATE ? hl_coll_say_long(bytes, from, room) : err;
}

static bool test_matched(void *request, int *err)
{
    struct hl_req *r = request;

    *err = 0;
    if (hl_req_end_plain(r, MPI_STATUS_IGNORE)) {
        return true;
    }
    if (!hl_req_is_done(r)) {
        return false;
    }
    *err = end_matched(r);
    return true;
}

static void await_matched(const void *request, struct hl_wait_desc *t)
{
    struct hl_wait_desc one = {0};

    if (!hl_req_is_done(request)) {
        hl_req_describe(request, &one);
        hl_desc_await_all(t, &one);
    }
}

const struct hl_coll_net hl_coll_net_match = {send_matched, recv_matched, test_matched, await_matched};

int hl_coll_send_bytes(const struct hl_comm *comm, int to, int tag, const void *buf, size_t len)
{
    struct hl_send s = {.ctx = comm->ctx,
                        .me = comm->rank,
                        .dest_world = hl_comm_world(comm, to),
                        .tag = tag,
                        .buf = buf,
                        .count = (int64_t)len,
                        .type = hl_type_of(MPI_BYTE)};

    return hl_match_send(&hl_match_self, &s);
}

int hl_coll_recv_bytes(const struct hl_comm *comm, int from, int tag, void *buf, size_t room)
{
    struct hl_recv v = {.ctx = comm->ctx,
                        .src = from,
                        .src_world = hl_comm_world(comm, from),
                        .tag = tag,
                        .buf = buf,
                        .count = (int64_t)room,
                        .type = hl_type_of(MPI_BYTE)};

    return hl_match_recv(&hl_match_self, &v, MPI_STATUS_IGNORE);
}
