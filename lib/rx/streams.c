/* Numbers of records between receive endpoints. They have no gaps: nobody acknowledges these records, and the
 * wait for a grant that a reset connection has lost would never end. A gap ends the job, at once where
 * receives complete in order, else when window.h takes it for a loss. tail.h decides when the last number of
 * a stream is told; that is done by a COUNT, which has the number of the record before it. */
#include "alive.h"
#include "rx_internal.h"
#include "tail.h"

#include "err.h"
#include "job.h"
#include "util.h"

#include <stdlib.h>

struct hl_mutex hl_rx_numbers = HL_MUTEX_INIT;

struct stream {
    uint64_t sent HL_GUARDED_BY(hl_rx_numbers); /* number of the last record to that receive endpoint */
    uint64_t heard;                             /* and of the last one from it */
    struct hl_rx_tail tail;
    struct stream *next; /* in the list `spoken_to` */
    bool is_listed;
};

enum { ASKS = 1 }; /* rec.index of a COUNT that asks for another one in return */

/* All else belongs to the receive thread. */
static struct stream *streams;   /* [size] only pages of peers in use are touched */
static struct stream *spoken_to; /* list of streams to peers to which something was sent */
static struct hl_rx_window window;

int hl_rx_streams_open(void)
{
    streams = calloc((size_t)hl_job.size, sizeof *streams);
    return streams != NULL ? 0 : hl_err_say(HL_ERR_NO_MEM, "no memory to number records");
}

void hl_rx_streams_close(void)
{
    free(streams);
    streams = spoken_to = NULL;
    hl_rx_window_free(&window);
}

uint64_t hl_rx_streams_number(int peer, unsigned op)
{
    return streams[peer].sent + (op != HL_WIRE_COUNT);
}

void hl_rx_streams_left(int peer, uint64_t number)
{
    struct stream *s = &streams[peer];
    s->sent = number;
    if (!s->is_listed) {
        s->is_listed = true;
        s->next = spoken_to;
        spoken_to = s;
        hl_fab_cloexec_request(); /* this rank has made a connection */
    }
}

bool hl_rx_streams_spoken_to(int peer)
{
    return streams != NULL && streams[peer].is_listed;
}

static uint64_t last_sent(struct stream *s)
{
    hl_mutex_lock(&hl_rx_numbers);
    uint64_t sent = s->sent;
    hl_mutex_unlock(&hl_rx_numbers);
    return sent;
}

static bool tell_heard(int peer, uint32_t index)
{
    struct hl_wire_rec rec = {.op = HL_WIRE_COUNT, .offset = streams[peer].heard, .index = index};
    return hl_rx_net_send(peer, &rec, NULL) == 0;
}

static uint64_t stream_from(int rank)
{
    return hl_rx_window_stream((uint32_t)rank, HL_WIRE_RX);
}

static void hear_count(const struct hl_wire_head *head, const struct hl_wire_rec *rec)
{
    struct stream *s = &streams[head->from];
    uint64_t stream = stream_from((int)head->from);
    if (hl_rx_window_probe(&window, stream, s->heard, head->seq, hl_now_ns()) &&
        hl_rx_window_loss(stream, head->seq - s->heard, hl_rx_is_dead((int)head->from))) {
        return;
    }
    hl_rx_tail_answered(&s->tail, last_sent(s), rec->offset);
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
    uint64_t stream = stream_from((int)head->from), number = head->seq;
    /* Of a dead rank, and of one that counts this rank as dead, nothing is waited for. */
    bool waits = rec->op != HL_WIRE_GONE && !hl_rx_is_dead((int)head->from);
    uint64_t heard = !waits && number > s->heard ? number - 1 : s->heard;
    enum hl_rx_turn turn = hl_rx_window_turn(&window, stream, heard, number, head, head->len);
    if (turn == HL_RX_GAP) {
        (void)hl_rx_window_loss(stream, number - heard - 1, false);
        turn = HL_RX_NEXT;
    }
    s->heard = turn == HL_RX_NEXT ? number : s->heard;
    return turn;
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

/* Tells the last number of a stream that rests. */
static void look_at_stream(struct stream *s)
{
    int rank = (int)(s - streams);
    uint64_t sent = last_sent(s);
    if (sent != s->tail.known && hl_rx_tail_is_due(&s->tail, sent) && !hl_rx_is_dead(rank) &&
        tell_heard(rank, ASKS)) {
        hl_rx_tail_told(&s->tail);
    }
}

int hl_rx_streams_look(void)
{
    int looks = 0;
    for (struct stream *s = spoken_to; s != NULL; s = s->next, looks++) {
        look_at_stream(s);
    }
    for (const struct hl_rx_gap *gap = window.gaps; gap != NULL; gap = gap->next) {
        int rank = hl_rx_window_rank(gap);
        if (!hl_rx_is_dead(rank)) {
            (void)tell_heard(rank, ASKS); /* a sender that goes on sending tells no last number by itself */
        }
    }
    return looks;
}
