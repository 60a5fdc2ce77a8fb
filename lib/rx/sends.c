/* Messages that the receive endpoint sends, and the list of those that wait. */
#include "sends.h"
#include "answers.h"
#include "rx_internal.h"
#include "stuck.h"

#include "buffer.h"
#include "err.h"
#include "stat.h"
#include "util.h"

static struct hl_fab_ep *endpoint;
static struct hl_mutex unused_lock = HL_MUTEX_INIT;
static struct hl_rx_outbound *unused HL_GUARDED_BY(unused_lock);
static struct hl_rx_outbound *waiting; /* oldest first */
static struct hl_rx_outbound **waiting_end = &waiting;
static struct hl_rx_stuck stuck; /* addresses that took nothing in this pass */

void hl_rx_sends_open(struct hl_fab_ep *ep)
{
    endpoint = ep;
}

struct hl_rx_outbound *hl_rx_sends_new(void)
{
    hl_mutex_lock(&unused_lock);
    struct hl_rx_outbound *out = unused;
    unused = out != NULL ? out->next : NULL;
    hl_mutex_unlock(&unused_lock);
    if (out == NULL) {
        out = hl_mem_buffer_take(sizeof *out + hl_fab.eager);
        if (out == NULL) {
            return NULL;
        }
        out->op.what = HL_RX_SENDS;
    }
    out->next = NULL;
    out->since_ns = 0;
    out->len = 0;
    out->needs_end = false;
    return out;
}

void hl_rx_sends_recycle(struct hl_rx_outbound *out)
{
    hl_mutex_lock(&unused_lock);
    out->next = unused;
    unused = out;
    hl_mutex_unlock(&unused_lock);
}

void hl_rx_sends_lose(struct hl_rx_outbound *out)
{
    hl_rx_answers_note_lost(out);
    hl_rx_sends_recycle(out);
}

/* Turns the provider's result into 0, HL_ERR_AGAIN or HL_ERR_OTHER. Without a descriptor for the connection
 * the message waits; look_at_limits ends the job if that lasts. */
static int judge_send(int rc)
{
    enum hl_fab_refusal why = rc != 0 ? hl_fab_refused(rc) : HL_FAB_NEVER;
    bool later = why == HL_FAB_LATER || why == HL_FAB_NO_FILE;
    return rc == 0 ? 0 : later ? HL_ERR_AGAIN : HL_ERR_OTHER;
}

int hl_rx_sends_post(struct hl_rx_outbound *out)
{
    if (out->len <= hl_fab.inject && !out->needs_end) {
        int rc = hl_fab_ep_inject(endpoint, out->to, out->bytes, out->len);
        if (rc == 0) {
            hl_rx_sends_recycle(out);
        }
        return judge_send(rc);
    }
    fi_addr_t to = out->to;
    uint32_t len = out->len;
    hl_handover_give(&out->op); /* to the thread that hears of its end, by way of the provider */
    return judge_send(hl_fab_ep_send(endpoint, to, out->bytes, len, &out->op.context));
}

void hl_rx_sends_send(struct hl_rx_outbound *out)
{
    int rc = waiting == NULL ? hl_rx_sends_post(out) : HL_ERR_AGAIN;
    if (rc == HL_ERR_AGAIN) {
        out->since_ns = hl_now_ns();
        *waiting_end = out;
        waiting_end = &out->next;
        hl_stat_rank_add(HL_STAT_RANK_rx_queued, 1);
    } else if (rc != 0) {
        hl_rx_sends_lose(out); /* the peer is gone, and has an error of its own, or will be told if it asks */
    }
}

int hl_rx_sends_again(void)
{
    int moved = 0;
    uint64_t now = waiting != NULL ? hl_now_ns() : 0;
    stuck.count = 0;
    for (struct hl_rx_outbound **at = &waiting; *at != NULL;) {
        struct hl_rx_outbound *out = *at;
        struct hl_rx_outbound *next = out->next;
        bool skip = hl_rx_stuck_has(&stuck, out->to);
        bool drops = hl_rx_is_dead(out->peer) || !hl_rx_answers_may_leave(out);
        int rc = drops ? HL_ERR_PROC_ABORTED : skip ? HL_ERR_AGAIN : hl_rx_sends_post(out);
        if (rc == HL_ERR_AGAIN && !hl_rx_gives_up(out->peer, now - out->since_ns)) {
            if (!skip && !hl_rx_stuck_note(&stuck, out->to)) {
                break;
            }
            at = &out->next;
            continue;
        }
        *at = next;
        if (next == NULL) {
            waiting_end = at;
        }
        if (rc != 0) {
            hl_rx_sends_lose(out);
        }
        moved++;
    }
    return moved;
}

static void free_buffers(struct hl_rx_outbound *list)
{
    while (list != NULL) {
        struct hl_rx_outbound *next = list->next;
        hl_mem_buffer_give(list);
        list = next;
    }
}

bool hl_rx_sends_wait(void)
{
    return waiting != NULL;
}

void hl_rx_sends_close(void)
{
    hl_mutex_lock(&unused_lock);
    free_buffers(unused);
    unused = NULL;
    hl_mutex_unlock(&unused_lock);
    free_buffers(waiting);
    waiting = NULL;
    waiting_end = &waiting;
    hl_rx_stuck_free(&stuck);
}
