/* Records that this rank sends to other receive threads: at once where possible, else queued here.
 *
 * Any thread appends to the list under a lock; the receive thread takes it over and sends. `queued` counts
 * the records that have not left, so that a later record does not overtake an earlier one. */
#include "rx_internal.h"
#include "stuck.h"

#include "conf.h"
#include "err.h"
#include "job.h"
#include "log.h"
#include "stat.h"
#include "util.h"

#include <stdlib.h>
#include <string.h>

static struct hl_mutex out_lock = HL_MUTEX_INIT;
static struct hl_rx_out *first HL_GUARDED_BY(out_lock);
static struct hl_rx_out **last HL_GUARDED_BY(out_lock) = &first;
static hl_a32 queued;             /* atomic: records that have not left */
static struct hl_rx_out *waiting; /* taken over, not yet sent; the receive thread's, as the next two */
static struct hl_rx_out **waiting_end = &waiting;
static struct hl_rx_stuck stuck; /* ranks that took nothing in this pass */

static int try_send(int peer, const struct hl_wire_rec *rec, const void *payload)
{
    int node_rank = hl_job_node_of(peer);
    if (node_rank >= 0) {
        return hl_rx_near_send(node_rank, rec, payload) ? 0 : HL_ERR_AGAIN;
    }
    return hl_rx_net_send(peer, rec, payload);
}

/* Sends a record where this thread can do it at once; else HL_ERR_AGAIN. */
static int send_unqueued(int peer, const struct hl_wire_rec *rec, const void *payload)
{
    if (hl_rx_on_thread() || hl_job_node_of(peer) >= 0) {
        return try_send(peer, rec, payload);
    }
    return hl_rx_net_send_at_once(peer, rec, payload) ? 0 : HL_ERR_AGAIN;
}

static int enqueue_record(int peer, const struct hl_wire_rec *rec, const void *payload)
{
    struct hl_rx_out *out = calloc(1, sizeof *out);
    if (out == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for a message to rank %d", peer);
    }
    out->peer = peer;
    out->rec = *rec;
    if (rec->len > 0) {
        memcpy(out->payload, payload, rec->len);
    }
    hl_mutex_lock(&out_lock);
    *last = out;
    last = &out->next;
    /* full: counted before this thread's next hl_rx_send looks; the lock orders the list. */
    hl_a32_add_full(&queued, 1);
    hl_mutex_unlock(&out_lock);
    hl_rx_kick();
    return 0;
}

int hl_rx_send(int peer, const struct hl_wire_rec *rec, const void *payload)
{
    if (rec->len > HL_WIRE_NEAR_MAX - sizeof *rec) {
        return hl_err_say(HL_ERR_INTERN, "a record of %u bytes was to be sent to rank %d: it has at most %zu",
                          rec->len, peer, (size_t)HL_WIRE_NEAR_MAX - sizeof *rec);
    }
    if (hl_rx_is_dead(peer)) {
        return hl_err_say(HL_ERR_PROC_ABORTED, "rank %d has ended", peer);
    }
    /* acquire: at 0 all records queued before have left; pairs with the subtraction in hl_rx_out_poll. */
    if (hl_a32_load_acquire(&queued) == 0) {
        int rc = send_unqueued(peer, rec, payload);
        if (rc != HL_ERR_AGAIN) {
            return rc;
        }
    }
    return enqueue_record(peer, rec, payload);
}

static void move_to_waiting(void)
{
    hl_mutex_lock(&out_lock);
    if (first != NULL) {
        *waiting_end = first;
        waiting_end = last;
        first = NULL;
        last = &first;
    }
    hl_mutex_unlock(&out_lock);
}

/* Tries to send a record; true when it is done with: sent, or dropped. */
static bool settle_out(struct hl_rx_out *out, uint64_t now)
{
    int rc = hl_rx_is_dead(out->peer) ? HL_ERR_PROC_ABORTED : try_send(out->peer, &out->rec, out->payload);
    if (rc == HL_ERR_AGAIN) {
        if (out->since_ns == 0) {
            if (!hl_rx_may_ask(out->peer)) {
                return false;
            }
            out->since_ns = now;
            hl_stat_rank_add(HL_STAT_RANK_rx_queued, 1);
        }
        if (now - out->since_ns > HL_RX_SUSPECT_NS) {
            hl_rx_suspect(out->peer);
        }
        if (!hl_rx_gives_up(out->peer, now - out->since_ns)) {
            return false;
        }
        char where[HL_RX_WHERE];
        hl_log(HL_LOG_WARN,
               "a message to %s %d%s could not leave for %lld s: it cannot be reached (is it dead, or out of "
               "file descriptors?)",
               hl_log_unit(), out->peer, hl_rx_where(out->peer, where), (long long)hl_conf.peer_timeout);
    } else if (rc != 0 && rc != HL_ERR_PROC_ABORTED) {
        hl_log(HL_LOG_WARN, "a message to rank %d is lost: %s", out->peer, hl_err_text(rc));
    }
    return true;
}

int hl_rx_out_poll(void)
{
    if (hl_a32_load_acquire(&queued) == 0) { /* acquire: the lock below orders the list; only a glance. */
        return 0;
    }
    move_to_waiting();
    int moved = 0;
    uint64_t now = hl_now_ns();
    stuck.count = 0;
    for (struct hl_rx_out **at = &waiting; *at != NULL;) {
        struct hl_rx_out *out = *at;
        bool skip = hl_rx_stuck_has(&stuck, (uint64_t)out->peer);
        if (skip || !settle_out(out, now)) {
            if (!skip && !hl_rx_stuck_note(&stuck, (uint64_t)out->peer)) {
                break;
            }
            at = &out->next;
            continue;
        }
        *at = out->next;
        if (*at == NULL) {
            waiting_end = at;
        }
        free(out);
        /* full: the record has left; pairs with the acquire in hl_rx_send. */
        hl_a32_add_full(&queued, UINT32_MAX);
        moved++;
    }
    return moved;
}

bool hl_rx_out_waits(void)
{
    return waiting != NULL;
}

void hl_rx_out_close(void)
{
    move_to_waiting();
    while (waiting != NULL) {
        struct hl_rx_out *out = waiting;
        waiting = out->next;
        free(out);
    }
    waiting_end = &waiting;
    hl_rx_stuck_free(&stuck);
    hl_a32_store_relaxed(&queued, 0); /* relaxed: no other thread is left. */
}
