/* Lanes that get ready in the background.
 *
 * Opening a lane costs tcp;ofi_rxm 35 MB of fresh pages, some tens of milliseconds of which its first
 * connection takes half. So a thread whose lane is not open yet borrows one that is, and a helper
 * thread, which lives while there are wishes, opens the lane and connects it to the rank that the thread
 * spoke to:
 *
 *   closed --borrower asks--> opening --helper: acknowledged, or it failed--> used by its threads
 *
 * A ping makes the connection: a message that says HELLO and holds no record. It takes no slot, so that no
 * flush waits for it, and has no number, so that losing it loses nothing: the first numbered message says
 * HELLO again. Until the ping is acknowledged, only operations whose order binds them to the lane choose
 * it. */
#include "lane_internal.h"

#include "buffer.h"
#include "lock.h"
#include "thread.h"
#include "util.h"

#include <string.h>
#include <time.h>

#define NAP_NS 50000
#define TIMEOUT_NS UINT64_C(2000000000)

static struct {
    struct hl_mutex lock;
    pthread_t thread;
    bool running;            /* the helper thread runs; guarded by lock, as are the fields below */
    bool joinable;           /* `thread` was started and not joined */
    int peers[HL_LANES_MAX]; /* by lane: 1 + the world rank to connect it to, 0: no wish */
} helper = {.lock = HL_MUTEX_INIT};
static hl_a32 stopping;

/* ---- pings ---- */

int hl_lane_ping(struct hl_lane *lane, struct hl_way *way)
{
    struct hl_ping *k = lane->pings;
    while (k != NULL && k->way != way) {
        k = k->next;
    }
    int rc = k != NULL ? -FI_EAGAIN : lane->fab->receives == NULL ? hl_rx_listen(lane->fab, HL_ACK_BUFS) : 0;
    if (rc != 0) {
        return rc;
    }
    k = hl_mem_buffer_take(sizeof *k);
    if (k == NULL) {
        return -FI_ENOMEM;
    }
    struct hl_wire_head head = {.seq = way->messages, .flags = HL_WIRE_HELLO, .len = sizeof k->message};
    hl_lane_write_head(lane, head, k->message);
    rc = hl_fab_ep_send(lane->fab, way->addr, k->message, sizeof k->message, &k->context);
    if (rc != 0) {
        hl_mem_buffer_give(k);
        return rc;
    }
    k->way = way;
    k->next = lane->pings;
    lane->pings = k;
    return 0;
}

bool hl_lane_end_ping(struct hl_lane *lane, const void *context)
{
    struct hl_ping **at = &lane->pings;
    while (*at != NULL && context != &(*at)->context) {
        at = &(*at)->next;
    }
    struct hl_ping *k = *at;
    if (k == NULL) {
        return false;
    }
    *at = k->next;
    hl_mem_buffer_give(k);
    return true;
}

/* Makes one step towards a way on which the peer has answered. True when that is so, or will not be. `card`:
 * the peer's, where there is no way yet. */
static bool step_open_async(struct hl_lane *lane, int peer, const struct hl_rx_card *card)
    HL_REQUIRES(lane->lease)
{
    if (lane->ep == NULL && hl_lane_make_ready(lane) != 0) {
        return true; /* threads that come to this lane find it broken, too */
    }
    int rc = 0;
    struct hl_way *way = hl_way_find(lane, peer);
    way = way == NULL && card != NULL ? hl_way_make(lane, peer, card, &rc) : way;
    if (way == NULL || way->heard || way->dead || way->lost) {
        return true;
    }
    if (lane->connected == NULL) {
        rc = hl_lane_ping(lane, way);
        lane->connected = rc == 0 ? way : NULL;
    } else if (lane->connected != way) {
        return true; /* a ping to another rank touched the provider's pages already */
    }
    (void)hl_lane_progress(lane);
    return way->heard || (rc != 0 && hl_fab_refused(rc) != HL_FAB_LATER);
}

/* ---- the helper ---- */

static bool is_stopping(void)
{
    return hl_a32_load_acquire(&stopping) !=
           0; /* acquire: pairs with the release in hl_lane_open_async_stop. */
}

static void connect_lane(struct hl_lane *lane, int peer)
{
    int rc = 0;
    const struct hl_rx_card *card = hl_way_find(lane, peer) == NULL ? hl_rx_card_of(peer, &rc) : NULL;
    bool over = rc != 0;
    uint64_t begin = hl_now_ns();
    while (!over && !is_stopping() && hl_now_ns() - begin < TIMEOUT_NS) {
        if (hl_lease_try_any(&lane->lease)) {
            over = step_open_async(lane, peer, card);
            hl_lane_leave(lane);
        }
        if (!over) {
            clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){0, NAP_NS}, NULL);
        }
    }
    if (card != NULL) {
        hl_rx_cloexec(); /* the new sockets must be close-on-exec */
    }
}

/* Takes the next wish. False: there is none, and the helper thread ends. */
static bool next_wish(uint32_t *lane, int *peer)
{
    bool found = false;
    hl_mutex_lock(&helper.lock);
    for (uint32_t i = 0; i < HL_LANES_MAX && !found; i++) {
        found = helper.peers[i] != 0;
        *lane = i;
        *peer = helper.peers[i] - 1;
        helper.peers[i] = 0;
    }
    helper.running = found = found && !is_stopping();
    hl_mutex_unlock(&helper.lock);
    return found;
}

static void *open_wished_lanes(void *arg)
{
    struct hl_lane_pool *p = arg;
    uint32_t lane;
    int peer;
    while (next_wish(&lane, &peer)) {
        connect_lane(p->head.lanes[lane], peer);
        /* full: rare; after the lane is open. Pairs with the acquires in next_lane and hl_lane_assign
         * (issue.c). */
        hl_a64_and_full(&p->opening, ~(UINT64_C(1) << lane));
    }
    return NULL;
}

static bool start_helper(struct hl_lane_pool *p)
{
    if (helper.joinable) {
        pthread_join(helper.thread, NULL); /* it ends: under the lock it saw no wish */
    }
    helper.joinable = hl_thread_start(&helper.thread, "hotlane-open", 0, open_wished_lanes, p) == 0;
    return helper.joinable;
}

bool hl_lane_open_async(struct hl_lane_pool *p, uint32_t lane, int peer)
{
    hl_mutex_lock(&helper.lock);
    bool will = !is_stopping() && (helper.running || start_helper(p));
    helper.running = will;
    if (will) {
        helper.peers[lane] = peer + 1;
    }
    hl_mutex_unlock(&helper.lock);
    return will;
}

void hl_lane_open_async_stop(void)
{
    hl_a32_store_release(&stopping, 1); /* release: pairs with the acquire in is_stopping. */
    hl_mutex_lock(&helper.lock);
    bool joinable = helper.joinable;
    helper.joinable = false;
    hl_mutex_unlock(&helper.lock);
    if (joinable) {
        pthread_join(helper.thread, NULL);
    }
    memset(helper.peers, 0, sizeof helper.peers);
    hl_a32_store_relaxed(&stopping, 0); /* relaxed: no other thread is left. */
}
