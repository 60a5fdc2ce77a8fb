/* The process's pool: opening, closing, sleeping. */
#include "lane_internal.h"

#include "conf.h"
#include "copy.h"
#include "cs.h"
#include "err.h"
#include "job.h"
#include "lock.h"
#include "log.h"
#include "short.h"
#include "util.h"

#include <sys/resource.h>

#define AGAIN_NS UINT64_C(10000000000) /* until lanes that did not open are wished for again */

static struct hl_mutex open_lock = HL_MUTEX_INIT;
static bool served_threads; /* what hl_lane_threads was told, as is served_cpus */
static int served_cpus;
static struct hl_mutex tick_lock =
    HL_MUTEX_INIT; /* held while the receive thread looks at the pool: it must not be closed then */

/* ---- progress, opening, closing ---- */

void hl_lane_short_wake(void)
{
    hl_prog_wake();
}

void hl_lane_short_fill(struct hl_lane *lane, uint8_t *at, const void *buf, size_t len)
{
    if (len % 8 != 0) {
        memset(at + HL_WIRE_PAD(len) - 8, 0, 8); /* the padding */
    }
    hl_copy(at, buf, len);
    (void)hl_lane_short_leave(lane, true);
}

/* Does hl_lane_arm's work for one lane that has something in flight. Only the lease's holder may use the
 * lane's descriptor. */
static enum hl_prog_armed arm_lane(struct hl_lane *lane)
{
    if (!lane->kept) {
        return HL_PROG_POLLED;
    }
    if (!hl_lease_try_any(&lane->lease)) {
        return HL_PROG_SERVED;
    }
    bool may_sleep = hl_fab_ep_may_sleep(lane->fab);
    if (may_sleep) {
        hl_prog_keeper_again(lane->fab->wait_fd);
    }
    hl_lane_leave(lane);
    return may_sleep ? HL_PROG_RINGS : HL_PROG_WAITING;
}

enum hl_prog_armed hl_lane_arm(void)
{
    enum hl_prog_armed armed = HL_PROG_RINGS;
    for (uint32_t i = 0; armed == HL_PROG_RINGS && i < hl_pool_count(&hl_pool); i++) {
        struct hl_lane *lane = hl_pool.head.lanes[i];
        /* relaxed: a guess, as poll_open makes it. */
        if (hl_a64_load_relaxed(&lane->issued) != hl_a64_load_relaxed(&lane->tail)) {
            armed = arm_lane(lane);
        }
    }
    return armed;
}

/* File descriptors: 10 for each lane, 10 for the receive side, and one for each connection of this rank's and
 * of its peers' lanes. */
static uint32_t afford_lanes(uint32_t lanes)
{
    static hl_a32 told;
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY) {
        return lanes;
    }
    uint64_t neighbours = hl_min_size((size_t)(hl_job.size - hl_job.node_size), 32);
    uint32_t fit = lanes;
    while (fit > 1 && 10 * fit + 10 + 2 * fit * neighbours + 64 > files.rlim_cur) {
        fit--;
    }
    if (fit < lanes && hl_a32_xchg_full(&told, fit) != fit) { /* full: rare. */
        hl_log(HL_LOG_WARN, "%u lane%s instead of %u: this process may open %llu files (ulimit -n)", fit,
               hl_plural(fit), lanes, (unsigned long long)files.rlim_cur);
    }
    return fit;
}

uint32_t hl_lane_plan(bool threads, int cpus)
{
    bool one_lock = hl_cs_mode == HL_CS_GLOBAL || hl_cs_mode == HL_CS_BRIEF;
    if (!threads || hl_conf.rma_mode != 0 || one_lock) { /* designs whose threads share one endpoint */
        return 1;
    }
    size_t most = hl_fab_is_open() ? hl_min_size(hl_fab.lanes_max, HL_LANES_MAX) : HL_LANES_MAX;
    size_t unasked = hl_fab_is_open() && hl_fab.row->lanes_unasked != 0 ? hl_fab.row->lanes_unasked : most;
    size_t lanes = hl_conf.lanes != 0 ? (size_t)hl_conf.lanes : hl_min_size((size_t)cpus, unasked);
    return afford_lanes((uint32_t)hl_min_size(lanes, most));
}

static void count_death(int rank)
{
    (void)rank;
    /* full: rare; the rank's mark before the count. Pairs with the acquire in hl_lane_progress. */
    hl_a32_add_full(&hl_pool.deaths, 1);
}

static bool tick_lanes(void)
{
    hl_mutex_lock(&tick_lock);
    bool busy = hl_pool_count(&hl_pool) != 0 && hl_pool_tick(&hl_pool);
    hl_mutex_unlock(&tick_lock);
    return busy;
}

static int set_up_pool(void)
{
    int rc = hl_rx_on_death(count_death);
    rc = rc == 0 ? hl_rx_on_tick(tick_lanes) : rc;
    rc = rc == 0 ? hl_pool_open(&hl_pool, hl_lane_plan(served_threads, served_cpus), hl_job.size) : rc;
    if (rc != 0) {
        return rc;
    }
    struct hl_lane *lane = hl_pool.head.lanes[0];
    bool ready = false;
    if (hl_lease_try(&lane->lease)) {
        ready = hl_lane_make_ready(lane) == 0;
        hl_lane_leave(lane);
    }
    if (!ready) {
        hl_mutex_lock(&tick_lock);
        hl_pool_close(&hl_pool);
        hl_mutex_unlock(&tick_lock);
        const char *why = hl_err_text(HL_ERR_OTHER);
        why = why != hl_err_words(HL_ERR_OTHER) ? why : hl_err_text(HL_ERR_NO_MEM);
        return hl_err_say(HL_ERR_OTHER, "no lane opens: %s", why);
    }
    rc = hl_prog_register(hl_lane_poll, NULL, 1);
    if (rc != 0) {
        hl_lane_close();
    }
    return rc;
}

void hl_lane_threads(bool threads, int cpus)
{
    served_threads = threads;
    served_cpus = cpus;
}

int hl_lane_open(void)
{
    int rc = 0;
    if (hl_lane_is_open()) {
        return 0;
    }
    hl_mutex_lock(&open_lock);
    if (hl_pool_count(&hl_pool) == 0) {
        rc = set_up_pool();
    }
    hl_mutex_unlock(&open_lock);
    return rc;
}

bool hl_lane_wish(void)
{
    static hl_a64 not_before_ns;
    if (HL_LIKELY(hl_lane_is_open())) {
        return true;
    }
    uint64_t now = hl_now_ns();
    if (now < hl_a64_load_relaxed(&not_before_ns)) { /* relaxed, both: a hint about when to try. */
        return false;
    }
    if (hl_lane_open() == 0) {
        return true;
    }
    if (hl_a64_xchg_full(&not_before_ns, now + AGAIN_NS) == 0) { /* full: rare. */
        hl_log(HL_LOG_WARN, "%s; so long messages pass through buffers", hl_err_text(HL_ERR_OTHER));
    }
    return false;
}

void hl_lane_expect(int peer)
{
    /* relaxed and full: rare; one caller asks. */
    if (hl_pool_count(&hl_pool) != 0 && hl_a32_load_relaxed(&hl_pool.expected) == 0 &&
        hl_a32_xchg_full(&hl_pool.expected, 1) == 0) {
        (void)hl_lane_open_async(&hl_pool, 0, peer); /* not: then the first operation connects */
    }
}

bool hl_lane_is_open(void)
{
    /* acquire: lane 0; pairs with the full or in hl_lane_make_ready. */
    return hl_a64_load_acquire(&hl_pool.opened) != 0 && hl_pool_count(&hl_pool) != 0;
}

void hl_lane_close(void)
{
    if (hl_pool_count(&hl_pool) != 0) {
        hl_lane_open_async_stop();
        hl_prog_unregister(hl_lane_poll, NULL);
        hl_mutex_lock(&tick_lock);
        hl_pool_close(&hl_pool);
        hl_mutex_unlock(&tick_lock);
    }
}

hl_a64 hl_lane_errors;

void hl_lane_forget(void)
{
    for (uint32_t i = 0; i < hl_pool_count(&hl_pool); i++) {
        hl_a64_store_relaxed(&hl_pool.head.lanes[i]->last.takes, 0); /* relaxed: no other thread is left. */
        hl_lease_unwant(&hl_pool.head.lanes[i]->lease);              /* owners find it closed */
    }
    hl_a32_store_relaxed(&hl_pool.head.count, 0);
}
