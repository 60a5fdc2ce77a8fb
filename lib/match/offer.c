/* Large messages without their sender's help: copied from mapped memory of a node peer, or by reads over the
 * network.
 *
 * The request to send tells how its buffer can be reached: on the node, the segment that holds it; over the
 * network, a registration, which the sender ends when the receiver says FIN. A receiver that cannot use it
 * asks for the bytes (rndv.c). The receive keeps the offer from the match until the bytes are fetched. A read
 * goes on as a flight, because no inbox or port may wait for it. */
#include "match_internal.h"

#include "conf.h"
#include "fab.h"
#include "flight.h"
#include "lane.h"
#include "mr.h"
#include "near_map.h"
#include "stat.h"

#include <stdlib.h>

/* What the sender offers, and the read that uses it. */
struct hl_offer {
    struct hl_flight flight;
    struct hl_matcher *m;
    struct hl_req *recv;
    struct hl_req read; /* the request of the read */
    hl_a32 error;       /* error word of the read. atomic */
    uint64_t addr, key; /* from struct hl_msg_rts */
};

/* ---- The sender ---- */

/* Offers a buffer in one of this rank's segments, which is registered already. False: it is in none. */
static bool offer_segment(const struct hl_seg *seg, const char *block, struct hl_msg_rts *rts)
{
    struct hl_mr mr = {0};
    if (seg != NULL) {
        hl_mr_of(seg, &mr);
    }
    if (mr.key == 0) {
        return false;
    }
    rts->addr = mr.addr + (uint64_t)(block - seg->base);
    rts->key = mr.key;
    return true;
}

/* Registers the buffer until the message is over, and offers that. A request that is tried again still has
 * its registration. */
static bool offer_registered(struct hl_req *r, char *block, uint64_t len, struct hl_msg_rts *rts)
{
    struct hl_send_body *b = hl_send_body(r);
    if ((r->spare & HL_REQ_REGISTERED) == 0) {
        struct hl_mr mr;
        if (hl_mr_register(block, len, &mr) != 0) {
            return false; /* not an error: the receiver will ask for the bytes */
        }
        b->back = mr.id;
        b->offset = mr.key;
        r->spare |= HL_REQ_REGISTERED;
    }
    rts->addr = hl_fab.virt_addr ? (uint64_t)(uintptr_t)block : 0;
    rts->key = b->offset;
    return true;
}

void hl_offer_make(const struct hl_peer *p, struct hl_req *r, char *block, uint64_t len,
                   struct hl_msg_rts *rts)
{
    rts->addr = (uint64_t)(uintptr_t)block;
    rts->key = 0;
    if (block == NULL || len == 0) {
        return;
    }
    const struct hl_seg *seg = hl_mem_find(block, len);
    if (p->node >= 0) {
        rts->key = seg != NULL ? seg->id : 0;
        return;
    }
    bool wanted = hl_conf.read_min != 0 && len >= hl_conf.read_min;
    if (!wanted || (!offer_segment(seg, block, rts) && !offer_registered(r, block, len, rts))) {
        rts->addr = 0;
    }
}

void hl_offer_withdraw(struct hl_req *r)
{
    struct hl_send_body *b = hl_send_body(r);
    if (HL_LIKELY((r->spare & HL_REQ_REGISTERED) == 0)) {
        return;
    }
    hl_mr_unregister(b->back);
    r->spare &= (uint16_t)~HL_REQ_REGISTERED;
    b->back = 0;
    b->offset = 0;
}

/* ---- The receiver ---- */

void hl_offer_keep(struct hl_matcher *m, struct hl_req *r, const struct hl_msg_rts *rts, int from)
{
    struct hl_offer *o = rts->key != 0 && rts->cookie != 0 ? calloc(1, sizeof(*o)) : NULL;
    struct hl_fetch *f = &hl_recv_body(r)->fetch;
    uint64_t addr = from >= 0 || rts->cookie == 0 ? rts->addr : 0;
    *f = (struct hl_fetch){rts->cookie, addr, from, HL_FETCH_PLAIN};
    if (o == NULL) {
        return;
    }
    o->m = m;
    o->recv = r;
    o->addr = rts->addr;
    o->key = rts->key;
    f->addr = (uint64_t)(uintptr_t)o;
    f->offered = HL_FETCH_OFFER;
}

struct hl_offer *hl_offer_take(struct hl_req *r)
{
    struct hl_fetch *f = &hl_recv_body(r)->fetch;
    if (f->offered != HL_FETCH_OFFER) {
        return NULL;
    }
    struct hl_offer *o = (struct hl_offer *)(uintptr_t)f->addr;
    f->offered = HL_FETCH_PLAIN;
    f->addr = f->from >= 0 ? o->addr : 0;
    return o;
}

bool hl_offer_copy(const struct hl_peer *p, struct hl_req *r, const struct hl_offer *o)
{
    char *here;
    if (!hl_near_borrow(p->node, o->key, o->addr, (size_t)r->bytes, &here)) {
        return false;
    }
    bool ok = hl_recv_put(r, 0, here, (uint64_t)r->bytes) == 0;
    hl_near_unmap(p->node, o->key);
    if (ok) {
        hl_stat_rank_add(HL_STAT_RANK_messages_mapped, 1);
        hl_stat_rank_add(HL_STAT_RANK_bytes_mapped, (uint64_t)r->bytes);
    }
    return ok;
}

static bool step_reach(struct hl_flight *f)
{
    return hl_req_is_done(&HL_CONTAINER_OF(f, struct hl_offer, flight)->read);
}

static void end_reach(struct hl_flight *f)
{
    struct hl_offer *o = HL_CONTAINER_OF(f, struct hl_offer, flight);
    struct hl_matcher *m = o->m;
    struct hl_req *r = o->recv;
    int err = hl_req_finish(&o->read, MPI_STATUS_IGNORE);
    free(o);
    hl_prog_expect(-1);
    if (err == 0) {
        hl_stat_rank_add(HL_STAT_RANK_messages_read, 1);
    }
    hl_rndv_fetched(m, r, err);
}

bool hl_offer_read(const struct hl_peer *p, struct hl_req *r, struct hl_offer *o)
{
    const struct hl_recv_body *b = hl_recv_body(r);
    char *start;
    if (!hl_type_block(b->type, b->count, b->buf, &start) || !hl_lane_wish()) {
        return false;
    }
    hl_req_init_rma(&o->read, p->world);
    o->flight = (struct hl_flight){.step = step_reach, .end = end_reach};
    hl_req_add_parts(&o->read, 1); /* this function's part, until all pieces are issued */
    struct hl_xfer x = {.peer = p->world,
                        .addr = o->addr,
                        .key = o->key,
                        .buf = start,
                        .len = (size_t)r->bytes,
                        .error = &o->error,
                        .req = &o->read};
    hl_prog_expect(1); /* a lane's queue is only polled */
    /* If pieces were not issued, the part ends with the error, and the flight tells it. */
    hl_req_part_done(&o->read, hl_lane_read(&x));
    if (hl_flight_start(&o->flight) != 0) {
        hl_req_wait(&o->read); /* no source of progress is left, which practically cannot happen */
        end_reach(&o->flight);
    }
    return true;
}
