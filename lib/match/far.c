/* Messages over the network: has those that come matched. */
#include "far.h"
#include "flow.h"

#include "conf.h"
#include "err.h"
#include "fab.h"
#include "job.h"
#include "log.h"
#include "port.h"
#include "stat.h"

#include <stdlib.h>
#include <string.h>

uint64_t hl_far_piece_max(const struct hl_matcher *m)
{
    return hl_net_piece(m->net);
}

/* True if the message goes without a request to send: in one buffer, or in several if the receiver would not
 * read it by itself. */
bool hl_far_is_eager(const struct hl_matcher *m, uint64_t len)
{
    uint64_t piece = hl_net_piece(m->net);
    return len <= piece ||
           (len <= HL_EAGER_SEGMENTS * piece && (hl_conf.read_min == 0 || len < hl_conf.read_min));
}

/* Node peers send through memory: a message over the network must not name theirs, or our own. */
static bool is_near(const struct hl_matcher *m, uint32_t world)
{
    /* acquire: the record is initialised; pairs with the release in make_far. */
    const struct hl_peer *p = hl_aptr_load_acquire(&m->peers[world]);
    return p != NULL && p->node >= 0;
}

static HL_COLD void count_dropped(void)
{
    hl_stat_rank_add(HL_STAT_RANK_rx_dropped, 1);
}

/* Takes the first buffer of several. An earlier message that is incomplete will stay so, and is dropped. */
static void start_segments(const struct hl_far_head *h, struct hl_far_segments **segments)
{
    if (*segments != NULL) {
        free(*segments);
        *segments = NULL;
        count_dropped();
    }
    if (h->head.len > HL_EAGER_SEGMENTS * hl_fab.eager) {
        count_dropped();
        return;
    }
    struct hl_far_segments *t = malloc(sizeof(*t) + h->head.len);
    if (t == NULL) {
        hl_log(HL_LOG_ERROR, "no memory for a message of %u bytes from rank %u; the job ends", h->head.len,
               h->from);
        hl_job_abort(1);
    }
    t->head = h->head;
    t->got = h->len;
    memcpy(t->data, h + 1, h->len);
    *segments = t;
}

/* Takes a later buffer of several: with the last one the message is complete. */
static void add_segment(struct hl_matcher *m, const struct hl_far_head *h, struct hl_far_segments **segments,
                        struct hl_work *w)
{
    struct hl_far_segments *t = *segments;
    if (t == NULL || h->area.piece.offset != t->got || h->len > t->head.len - t->got) {
        count_dropped();
        return;
    }
    memcpy(t->data + t->got, h + 1, h->len);
    t->got += h->len;
    if (t->got == t->head.len) {
        struct hl_arrival a = {.ctx = t->head.ctx,
                               .len = t->got,
                               .src = t->head.src,
                               .tag = t->head.tag,
                               .from = ~(int)h->from,
                               .kind = HL_MSG_EAGER,
                               .payload = t->data};
        *segments = NULL;
        hl_inbox_receive(m, &a, w);
        free(t);
    }
}

void hl_far_take(struct hl_matcher *m, const struct hl_far_head *h, struct hl_far_segments **segments,
                 struct hl_work *w)
{
    const unsigned char *payload = (const unsigned char *)(h + 1);
    w->n++;
    if (h->head.kind >= HL_MSG_XOFF) {
        hl_flow_told(m, h->from, h->head.kind == HL_MSG_XOFF);
        return;
    }
    if (h->head.kind == HL_MSG_HELP || h->head.kind == HL_MSG_ENDED) { /* only node peers send them */
        count_dropped();
        return;
    }
    if (h->head.kind == HL_MSG_DATA && h->area.piece.cookie == 0) {
        add_segment(m, h, segments, w);
        return;
    }
    if (h->head.kind == HL_MSG_EAGER && h->head.len > h->len) {
        start_segments(h, segments);
        return;
    }
    if (h->head.kind > HL_MSG_REVOKE) {
        struct hl_ring_slot slot;
        slot.head = h->head;
        slot.area = h->area;
        if (h->head.kind != HL_MSG_DATA || h->area.piece.n == h->len) {
            hl_rndv_control(m, &slot, payload);
        }
        return;
    }
    struct hl_arrival a = {.ctx = h->head.ctx,
                           .len = h->len,
                           .src = h->head.src,
                           .tag = h->head.tag,
                           .from = ~(int)h->from,
                           .kind = h->head.kind,
                           .payload = payload};
    if (h->head.kind == HL_MSG_RTS && !is_near(m, h->from)) {
        a.len = h->area.rts.len;
        a.payload = &h->area.rts;
    } else if (h->head.kind == HL_MSG_REVOKE) {
        a.len = sizeof(h->area.fin);
        a.payload = &h->area.fin;
    } else if (h->head.kind != HL_MSG_EAGER) {
        count_dropped();
        return;
    }
    hl_inbox_receive(m, &a, w);
}

bool hl_far_idle(const struct hl_matcher *m)
{
    return hl_net_idle(m->net);
}

void hl_far_visit(struct hl_matcher *m, void (*fn)(struct hl_matcher *m, unsigned port, struct hl_work *w),
                  struct hl_work *w)
{
    if (m->net != NULL) {
        hl_net_visit(m->net, fn, w);
    }
}

int hl_far_open(struct hl_matcher *m, unsigned ports)
{
    return hl_net_open(m, ports);
}

void hl_far_close(struct hl_matcher *m)
{
    hl_net_close(m);
}

int hl_far_add_peer(struct hl_matcher *m, struct hl_peer *p)
{
    if (m->net == NULL) {
        return hl_err_say(HL_ERR_OTHER, "rank %d is on another node and the network is not open", p->world);
    }
    return hl_net_add_peer(m->net, p);
}
