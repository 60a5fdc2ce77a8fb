/* Messages of lanes that come in any order: each waits for those before it (window.h), and has an
 * acknowledgement of its own. */
#include "answers.h"

#include "util.h"

#include <stdlib.h>

static struct hl_rx_window window; /* messages that came before their turn */

/* Handles a message before which nothing is missing, and acknowledges it. False: there is no memory for
 * that. */
static bool run_in_turn(struct hl_rx_sender *s, const struct hl_wire_head *head)
{
    struct hl_rx_answers a;
    struct hl_rx_outbound *out = hl_rx_answers_new(head, &a);
    if (out == NULL) {
        return false;
    }
    if (s->unanswered != 0 && hl_wire_hello_of(head) != NULL) {
        hl_rx_answers_anew(s, head);
    }
    s->applied = head->seq;
    hl_rx_apply_records(head, &a);
    hl_rx_answers_send(
        s, out,
        (struct hl_wire_head){
            .seq = head->seq, .lane = head->lane, .flags = HL_WIRE_ONE, .len = a.len, .count = a.count});
    return true;
}

/* Gives up messages that are lost. If a waiting message has HELLO, the lane knows of the loss, and its stream
 * goes on from there: true. Else all up to `seq` have failed. */
static bool give_up_gap(struct hl_rx_sender *s, uint64_t stream, uint64_t seq)
{
    const struct hl_rx_parked *m = hl_rx_window_first(&window, stream);
    while (m != NULL && hl_wire_hello_of((const void *)m->bytes) == NULL) {
        m = m->next;
    }
    s->applied = m != NULL ? m->seq - 1 : seq;
    return m != NULL;
}

/* Answers a ping: it says the number of the message before it, and asks whether that one came. */
static void answer_ping(struct hl_rx_sender *s, uint64_t stream, const struct hl_wire_head *head)
{
    bool lost = hl_rx_window_probe(&window, stream, s->applied, head->seq, hl_now_ns()) &&
                !give_up_gap(s, stream, head->seq);
    if (lost || s->unanswered != 0) {
        (void)hl_rx_answers_lost(s, head, lost ? head->seq : s->unanswered);
        return;
    }
    struct hl_rx_answers none;
    struct hl_rx_outbound *out = hl_rx_answers_new(head, &none);
    if (out != NULL) {
        hl_rx_answers_send(
            s, out, (struct hl_wire_head){.lane = head->lane, .flags = HL_WIRE_ONE, .len = sizeof *head});
    }
}

void hl_rx_unordered_take(const struct hl_wire_head *head)
{
    uint64_t stream = hl_rx_window_stream(head->from, head->lane);
    struct hl_rx_sender *s = hl_rx_answers_sender(head);
    uint64_t applied =
        s != NULL ? s->applied : 0; /* without a sender the message with HELLO is still to come */
    struct hl_rx_parked *next;
    if (head->count == 0 && s != NULL) {
        answer_ping(s, stream, head);
    } else if (head->count == 0 || head->seq <= applied) {
        hl_rx_answers_drop(head->len, head->count > 0 ? HL_RX_ANSWERS_OLD : "a ping of nobody");
    } else if (s == NULL || head->seq != applied + 1) {
        hl_rx_window_park(&window, stream, head->seq, head, head->len);
    } else {
        (void)run_in_turn(s, head);
    }
    while (s != NULL && (next = hl_rx_window_take(&window, stream, s->applied + 1)) != NULL) {
        (void)run_in_turn(s, (const void *)next->bytes);
        free(next);
    }
}

void hl_rx_unordered_close(void)
{
    hl_rx_window_free(&window);
}
