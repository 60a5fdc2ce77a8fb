/* What answers senders: the lanes that send to this rank, known by their HELLO, get acknowledgements with
 * answers.
 *
 * After the records of a message an acknowledgement with the answers goes to the sender's lane; messages
 * without answers that came from one lane in one pass get one acknowledgement together. */
#include "answers.h"

#include "err.h"
#include "job.h"
#include "log.h"
#include "stat.h"
#include "util.h"

#include <string.h>

static struct hl_rx_senders senders;
static struct {
    int rank;
    unsigned lane;
} due[HL_RX_ANSWERS_PASS]; /* lanes that wait for an acknowledgement without answers */
static size_t n_due;

void hl_rx_answers_drop(size_t len, const char *why)
{
    hl_stat_rank_add(HL_STAT_RANK_rx_dropped, 1);
    hl_log(HL_LOG_DEBUG, "message of %zu bytes dropped: %s", len, why);
}

struct hl_rx_outbound *hl_rx_answers_new(const struct hl_wire_head *head, struct hl_rx_answers *a)
{
    struct hl_rx_outbound *out = hl_rx_sends_new();
    if (out == NULL) {
        hl_rx_answers_drop(head->len, "no memory for its answer");
        return NULL;
    }
    out->peer = (int)head->from;
    *a = (struct hl_rx_answers){.bytes = out->bytes, .len = sizeof *head};
    return out;
}

void hl_rx_answers_send(const struct hl_rx_sender *s, struct hl_rx_outbound *out, struct hl_wire_head ack)
{
    ack.nonce = hl_job.nonce;
    ack.from = (uint32_t)hl_job.rank;
    ack.kind = HL_WIRE_ACK;
    memcpy(out->bytes, &ack, sizeof ack);
    out->len = ack.len;
    out->needs_end = out->needs_end || ack.flags != 0;
    out->to = s->addr;
    hl_rx_sends_send(out);
}

/* ---- senders ---- */

struct hl_rx_sender *hl_rx_answers_sender(const struct hl_wire_head *head)
{
    struct hl_rx_sender *s = hl_rx_senders_get(&senders, (int)head->from, head->lane);
    const struct hl_wire_hello *hello = hl_wire_hello_of(head);
    if (s == NULL || hello == NULL) {
        return s != NULL && s->known ? s : NULL;
    }
    /* A lane that has lost its connection says HELLO again, with the same address. */
    if (!s->known && s->unanswered != 0 && head->count > 0) { /* pings say HELLO whatever they know */
        hl_rx_answers_anew(s, head);
    } else if (!s->known && s->unanswered == 0 &&
               hl_rx_net_insert(hello->name, (size_t)hello->len, &s->addr) == 0) {
        s->known = true;
    }
    hl_fab_cloexec_request();
    return s->known ? s : NULL;
}

/* ---- answers that are lost ----
 *
 * The provider reports that an answer has ended with an error, refuses it, or takes nothing for too long. It
 * reports nothing of what is injected: so refusals and answers with flags are sent (needs_end); an answer
 * with data the lane misses, and for a bare acknowledgement it asks.
 *
 * The lane would ask for a lost answer without end, or take the next acknowledgement of all that came for it.
 * So the messages up to it count as lost: pings, and messages of an ordered stream, are answered so until the
 * lane says HELLO. It says that after any loss, also before it has heard of this one, so it is told once
 * more. */

/* True for an answer that no later one replaces. */
static bool is_needed(const struct hl_wire_head *head)
{
    return head->seq != 0 && (head->count > 0 || head->flags != 0); /* 0: to a ping, all is well */
}

void hl_rx_answers_note_lost(const struct hl_rx_outbound *out)
{
    const struct hl_wire_head *head = (const void *)out->bytes;
    struct hl_rx_sender *s =
        head->kind == HL_WIRE_ACK ? hl_rx_senders_find(&senders, out->peer, head->lane) : NULL;
    if (s == NULL || !is_needed(head)) {
        return;
    }
    hl_log(HL_LOG_DEBUG, "the answer to message %llu of lane %u of rank %d is lost",
           (unsigned long long)head->seq, head->lane, out->peer);
    s->unanswered = head->seq > s->unanswered ? head->seq : s->unanswered;
    if (hl_fab.ordered) {
        s->known = s->ack_due = false; /* what comes is refused: an acknowledgement of it would cover all */
    }
}

bool hl_rx_answers_may_leave(const struct hl_rx_outbound *out)
{
    const struct hl_wire_head *head = (const void *)out->bytes;
    bool covers = head->kind == HL_WIRE_ACK && head->flags == 0;
    const struct hl_rx_sender *s = covers ? hl_rx_senders_find(&senders, out->peer, head->lane) : NULL;
    return s == NULL || s->unanswered == 0;
}

bool hl_rx_answers_lost(const struct hl_rx_sender *s, const struct hl_wire_head *head, uint64_t seq)
{
    struct hl_rx_answers none;
    struct hl_rx_outbound *out = hl_rx_answers_new(head, &none);
    if (out != NULL) {
        hl_rx_answers_send(s, out,
                           (struct hl_wire_head){
                               .seq = seq, .lane = head->lane, .flags = HL_WIRE_LOST, .len = sizeof *head});
    }
    return out != NULL;
}

void hl_rx_answers_anew(struct hl_rx_sender *s, const struct hl_wire_head *head)
{
    uint64_t seq = s->unanswered;
    s->unanswered = 0;
    s->known = true;
    if (!hl_rx_answers_lost(s, head, seq)) {
        s->unanswered = seq;
        s->known = !hl_fab.ordered;
    }
}

void hl_rx_answers_refuse(const struct hl_wire_head *head)
{
    const struct hl_rx_sender *s = hl_rx_senders_find(&senders, (int)head->from, head->lane);
    if (s != NULL && s->unanswered != 0) {
        (void)hl_rx_answers_lost(s, head, head->seq);
    } else {
        hl_rx_answers_drop(head->len, "from a lane that said no HELLO");
    }
}

/* ---- after a message ---- */

/* Sends `out` as acknowledgement of all messages that came from the lane. */
static void acknowledge_lane(struct hl_rx_sender *s, unsigned lane, struct hl_rx_outbound *out,
                             uint32_t count)
{
    s->ack_due = false;
    hl_rx_answers_send(
        s, out,
        (struct hl_wire_head){.seq = s->applied, .lane = (uint16_t)lane, .len = out->len, .count = count});
}

void hl_rx_answers_give_due(void)
{
    for (size_t i = 0; i < n_due; i++) {
        struct hl_rx_sender *s = hl_rx_senders_find(&senders, due[i].rank, due[i].lane);
        struct hl_rx_outbound *out = s != NULL && s->ack_due ? hl_rx_sends_new() : NULL;
        if (out != NULL) {
            out->len = sizeof(struct hl_wire_head);
            out->peer = due[i].rank;
            acknowledge_lane(s, due[i].lane, out, 0);
        } else if (s != NULL) {
            s->ack_due = false; /* without memory: the lane's next message, or its ping, asks again */
        }
    }
    n_due = 0;
}

/* Notes that the lane is to get an acknowledgement at the end of this pass. */
static void ack_at_end(struct hl_rx_sender *s, const struct hl_wire_head *head)
{
    if (!s->ack_due && n_due < HL_COUNT_OF(due)) { /* there are places for all completions of a pass */
        s->ack_due = true;
        due[n_due].rank = (int)head->from;
        due[n_due++].lane = head->lane;
    }
}

void hl_rx_answers_give(struct hl_rx_sender *s, const struct hl_wire_head *head, struct hl_rx_outbound *out,
                        const struct hl_rx_answers *a, bool handled)
{
    out->len = a->len;
    out->needs_end = a->refuses;
    if (HL_UNLIKELY(!handled)) {
        hl_rx_answers_send(
            s, out,
            (struct hl_wire_head){
                .seq = head->seq, .lane = head->lane, .flags = HL_WIRE_LOST, .len = sizeof *head});
    } else if (a->count > 0) {
        acknowledge_lane(s, head->lane, out, a->count);
    } else {
        hl_rx_sends_recycle(out);
        ack_at_end(s, head);
    }
}

void hl_rx_answers_close(void)
{
    n_due = 0;
    hl_rx_senders_free(&senders);
}
