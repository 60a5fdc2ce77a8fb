/* Numbers of records between receive endpoints. They have no gaps: nobody acknowledges these records, and the
 * wait for a grant that a reset connection has lost would never end. A gap ends the job, at once where
 * receives complete in order, else when window.h takes it for a loss. tail.h decides when the last number of
 * a stream is told; that is done by a COUNT, which has the number of the record before it. */
#include "alive.h"
#include "inner.h"
#include "tail.h"

#include "err.h"
#include "job.h"
#include "log.h"
#include "util.h"

#include <stdlib.h>

struct stream {
    uint64_t sent, heard; /* numbers of the last record to and from that receive endpoint */
    struct hl_rx_tail tail;
};

enum { ASKS = 1 }; /* rec.index of a COUNT that asks for another one in return */

static struct stream *streams; /* [size] only pages of peers in use are touched */
static struct hl_rx_window window;

int hl_rx_streams_open(void)
{
    streams = calloc((size_t)hl_job.size, sizeof *streams);
    return streams != NULL ? 0 : hl_err_say(HL_ERR_NO_MEM, "no memory to number records");
}

void hl_rx_streams_close(void)
{
    free(streams);
    streams = NULL;
    hl_rx_window_free(&window);
}

uint64_t hl_rx_streams_number(int peer, unsigned op)
{
    return streams[peer].sent + (op != HL_WIRE_COUNT);
}

void hl_rx_streams_left(int peer, uint64_t number)
{
    streams[peer].sent = number;
}

static bool tell_heard(int peer, uint32_t index)
{
    struct hl_wire_rec rec = {.op = HL_WIRE_COUNT, .offset = streams[peer].heard, .index = index};
    return hl_rx_net_send(peer, &rec, NULL) == 0;
}

/* Ends the job when `missing` records before this one are lost; false: none is. Records of a dead rank, or of
 * one that counts this rank as dead, are not needed. */
static bool is_stream_loss(const struct hl_wire_head *head, unsigned op, uint64_t missing)
{
    if (missing == 0 || op == HL_WIRE_GONE || hl_rx_is_dead((int)head->from)) {
        return false;
    }
    hl_log(HL_LOG_ERROR,
           "%llu records of rank %u were lost by the network (a connection was reset): the job ends",
           (unsigned long long)missing, head->from);
    hl_job_abort(1);
    return true;
}

static uint64_t stream_from(int rank)
{
    return hl_rx_window_stream((uint32_t)rank, HL_WIRE_RX);
}

/* True when the COUNT's number shows that a record is lost. */
static bool shows_loss(const struct stream *s, const struct hl_wire_head *head)
{
    bool shown = hl_fab.ordered ? head->seq > s->heard
                                : hl_rx_window_probe(&window, stream_from((int)head->from), s->heard,
                                                     head->seq, hl_now_ns());
    return shown && is_stream_loss(head, HL_WIRE_COUNT, head->seq - s->heard);
}

static void hear_count(const struct hl_wire_head *head, const struct hl_wire_rec *rec)
{
    struct stream *s = &streams[head->from];
    if (shows_loss(s, head)) {
        return;
    }
    hl_rx_tail_answered(&s->tail, s->sent, rec->offset);
    hl_rx_alive_heard((int)head->from);
    if (rec->index == ASKS) {
        (void)tell_heard((int)head->from, 0); /* if it does not leave, they ask again */
    }
}

enum hl_rx_turn hl_rx_streams_take(const struct hl_wire_head *head)
{
    struct stream *s = &streams[head->from];
    const struct hl_wire_rec *rec = hl_wire_body(head);
    if (head->count != 1) {
        return HL_RX_OLD; /* receive endpoints send one record in a message */
    }
    if (s->heard == 0) {
        hl_fab_cloexec_request(); /* the peer has made a connection */
    }
    if (rec->op == HL_WIRE_COUNT) {
        hear_count(head, rec);
        return HL_RX_DONE;
    }
    if (head->seq <= s->heard) {
        return HL_RX_OLD;
    }
    bool early = head->seq != s->heard + 1;
    if (HL_UNLIKELY(early) && !hl_fab.ordered && rec->op != HL_WIRE_GONE && !hl_rx_is_dead((int)head->from)) {
        hl_rx_window_park(&window, stream_from((int)head->from), head->seq, head, head->len);
        return HL_RX_DONE;
    }
    (void)is_stream_loss(head, rec->op, head->seq - s->heard - 1);
    s->heard = head->seq;
    return HL_RX_NEXT;
}

struct hl_rx_parked *hl_rx_streams_next(int from)
{
    struct stream *s = &streams[from];
    struct hl_rx_parked *m =
        window.gaps != NULL ? hl_rx_window_take(&window, stream_from(from), s->heard + 1) : NULL;
    s->heard += m != NULL;
    return m;
}

bool hl_rx_streams_ask(int peer)
{
    return tell_heard(peer, ASKS);
}

void hl_rx_streams_look(void)
{
    for (int r = 0; r < hl_job.size; r++) {
        struct stream *s = &streams[r];
        if (s->sent != s->tail.known && hl_rx_tail_is_due(&s->tail, s->sent) && !hl_rx_is_dead(r) &&
            tell_heard(r, ASKS)) {
            hl_rx_tail_told(&s->tail);
        }
    }
    for (const struct hl_rx_gap *gap = window.gaps; gap != NULL; gap = gap->next) {
        int rank = hl_rx_window_rank(gap);
        if (!hl_rx_is_dead(rank)) {
            (void)tell_heard(rank, ASKS); /* a sender that goes on sending tells no last number by itself */
        }
    }
}
