/* One-sided operations: cut into posts, each on a leased lane. */
#include "inner.h"

#include "boot.h"
#include "conf.h"
#include "err.h"
#include "lock.h"
#include "log.h"
#include "topo.h"
#include "util.h"

#include <sys/resource.h>

struct hl_pool hl_pool;

static struct hl_mutex open_lock = HL_MUTEX_INIT;

/* Posts on the preferred lane when that is free and takes it. */
HL_INLINE int issue(struct hl_pool *p, struct hl_issue *op)
{
    if (!op->ordered) {
        op->at = hl_lane_preferred;
    }
    if (HL_UNLIKELY(op->at >= p->count)) {
        op->at = hl_lane_assign(p);
        if (op->at == HL_LANES_MAX) {
            return hl_lane_issue_slow(p, op, 0);
        }
    }
    struct hl_lane *lane = p->lanes[op->at];
    if (HL_UNLIKELY(!hl_lease_try(&lane->lease))) {
        return hl_lane_issue_slow(p, op, 0);
    }
    int rc = hl_lane_post(lane, op);
    hl_lane_leave(lane);
    return HL_LIKELY(rc == 0) ? 0 : hl_lane_issue_slow(p, op, rc);
}

/* The parts of a request that will not be issued end with the error. */
static HL_COLD int give_up(struct hl_req *req, size_t parts, int rc)
{
    for (; req != NULL && parts > 0; parts--) {
        (void)hl_req_part_done(req, rc);
    }
    return rc;
}

HL_INLINE int transfer(const struct hl_xfer *x, enum hl_op_what what)
{
    struct hl_issue op = {
        .what = what, .peer = x->peer, .error = x->error, .req = x->req, .addr = x->addr, .key = x->key};
    op.buf = x->buf;
    size_t left = x->len;
    size_t pieces = (left + HL_PIECE - 1) / HL_PIECE;
    if (x->req != NULL && pieces > 0) {
        hl_req_add_parts(x->req, (uint32_t)pieces);
    }
    for (; left > 0; pieces--) {
        op.len = hl_min_size(left, HL_PIECE);
        int rc = issue(&hl_pool, &op);
        if (HL_UNLIKELY(rc != 0)) {
            return give_up(x->req, pieces, rc);
        }
        op.addr += op.len;
        op.buf = (char *)op.buf + op.len;
        left -= op.len;
    }
    return 0;
}

int hl_lane_write(const struct hl_xfer *x)
{
    return transfer(x, HL_ISSUE_WRITE);
}

int hl_lane_read(const struct hl_xfer *x)
{
    return transfer(x, HL_ISSUE_READ);
}

/* Ordered operations of one key share a lane; one that does not open is lane 0 for good. */
static uint32_t ordered_lane(uint64_t key)
{
    return hl_pool.count > 1 ? (uint32_t)(hl_mix64(key) % hl_pool.count) : 0;
}

static enum hl_fab_atomic kind_of(bool fetch, bool compare)
{
    return compare ? HL_FAB_COMPARE : fetch ? HL_FAB_FETCH : HL_FAB_ATOMIC;
}

bool hl_lane_can_atomic(enum hl_op_kind op, enum hl_basic basic, bool fetch, bool compare)
{
    return hl_fab_can_atomic(kind_of(fetch, compare), compare ? HL_OP_REPLACE : op, basic);
}

int hl_lane_atomic(const struct hl_lane_atomic *a)
{
    const struct hl_xfer *x = &a->x;
    struct hl_issue op = {.what = HL_ISSUE_ATOMIC,
                          .ordered = a->ordered,
                          .peer = x->peer,
                          .error = x->error,
                          .req = x->req,
                          .addr = x->addr,
                          .key = x->key,
                          .buf = x->buf,
                          .atomic = a,
                          .result = a->result};
    op.at = a->ordered ? ordered_lane(a->order_key) : 0;
    size_t limit = hl_fab_atomic_limit(kind_of(a->result != NULL, a->compare != NULL),
                                       a->compare != NULL ? HL_OP_REPLACE : a->op, a->basic);
    size_t size = hl_op_size(a->basic);
    if (limit == 0) {
        return hl_err_say(HL_ERR_INTERN, "provider %s has no %s of %s", hl_fab.provider,
                          hl_op_kind_name(a->op), hl_op_basic_name(a->basic));
    }
    size_t pieces = (a->n + limit - 1) / limit;
    if (x->req != NULL && pieces > 0) {
        hl_req_add_parts(x->req, (uint32_t)pieces);
    }
    for (size_t left = a->n; left > 0; left -= op.len, pieces--) {
        op.len = hl_min_size(left, limit);
        int rc = issue(&hl_pool, &op);
        if (rc != 0) {
            return give_up(x->req, pieces, rc);
        }
        op.addr += op.len * size;
        op.buf = op.buf != NULL ? (char *)op.buf + op.len * size : NULL;
        op.result = op.result != NULL ? (char *)op.result + op.len * size : NULL;
    }
    return 0;
}

size_t hl_lane_payload_max(void)
{
    return HL_WIRE_PAYLOAD_MAX(hl_fab.eager) & ~(size_t)7;
}

int hl_lane_message(const struct hl_lane_message *m)
{
    if (m->rec->len > hl_lane_payload_max() || m->reply_cap > hl_lane_payload_max()) {
        return hl_err_say(HL_ERR_INTERN, "message of %u bytes, answer of %zu", m->rec->len, m->reply_cap);
    }
    struct hl_issue op = {.what = HL_ISSUE_MESSAGE,
                          .ordered = m->ordered,
                          .peer = m->peer,
                          .error = m->error,
                          .req = m->req,
                          .message = m};
    op.at = m->ordered ? ordered_lane(m->order_key) : 0;
    if (m->req != NULL) {
        hl_req_add_parts(m->req, 1);
    }
    int rc = issue(&hl_pool, &op);
    return rc == 0 ? 0 : give_up(m->req, 1, rc);
}

int hl_lane_flush(int peer, enum hl_lane_scope scope)
{
    (void)scope; /* local and remote completion are one event, see lane.h */
    return hl_pool_flush(&hl_pool, peer);
}

int hl_lane_flush_all(enum hl_lane_scope scope)
{
    (void)scope;
    return hl_pool_flush_all(&hl_pool);
}

bool hl_lane_is_quiet(int peer)
{
    if (hl_pool.count == 0) {
        return true;
    }
    /* acquire: pairs with the full and in hl_way_sweep. */
    for (uint64_t rest = hl_a64_load_acquire(&hl_pool.used[peer]); rest != 0; rest &= rest - 1) {
        const struct hl_way *way = hl_way_find(hl_pool.lanes[__builtin_ctzll(rest)], peer);
        /* acquire: pairs with the releases in commit and advance_way. */
        if (way != NULL && hl_a64_load_acquire(&way->done) < hl_a64_load_acquire(&way->issued)) {
            return false;
        }
    }
    return true;
}

/* ---- progress, opening, closing ---- */

static int poll_open(uint32_t index)
{
    struct hl_lane *lane = hl_pool.lanes[index];
    /* relaxed: a guess whether anything is in flight. */
    if (hl_a64_load_relaxed(&lane->issued) == hl_a64_load_relaxed(&lane->tail) ||
        !hl_lease_try(&lane->lease)) {
        return 0;
    }
    int moved = hl_lane_progress(lane);
    hl_lane_leave(lane);
    return moved;
}

/* The caller's own lane and one other in turn: threads that wait do not all try the same leases. */
int hl_lane_poll(void *unused)
{
    static __thread uint32_t turn __attribute__((tls_model("initial-exec")));
    (void)unused;
    uint32_t count = hl_pool.count;
    if (count == 0) {
        return 0;
    }
    uint32_t own = hl_lane_preferred < count ? hl_lane_preferred : 0;
    uint32_t other = ++turn % count;
    int moved = poll_open(own);
    return other == own ? moved : moved + poll_open(other);
}

/* Descriptors: 8 a lane, 10 for the receive side, one for each connection of mine and of my peers' lanes. */
static uint32_t afford(uint32_t lanes)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY) {
        return lanes;
    }
    uint64_t neighbours = hl_min_size((size_t)(hl_boot.size - hl_boot.node_size), 32);
    uint32_t fit = lanes;
    while (fit > 1 && 8 * fit + 10 + 2 * fit * neighbours + 64 > files.rlim_cur) {
        fit--;
    }
    if (fit < lanes) {
        hl_log(HL_LOG_WARN, "%u lanes instead of %u: this process may open %llu files (ulimit -n)", fit,
               lanes, (unsigned long long)files.rlim_cur);
    }
    return fit;
}

uint32_t hl_lane_plan(bool threads)
{
    if (!threads) {
        return 1;
    }
    size_t lanes = hl_conf.lanes != 0 ? (size_t)hl_conf.lanes : hl_min_size((size_t)hl_topo_cpu_count(), 16);
    size_t most = hl_fab_is_open() ? hl_min_size(hl_fab.lanes_max, HL_LANES_MAX) : HL_LANES_MAX;
    return afford((uint32_t)hl_min_size(lanes, most));
}

static void note_death(int rank)
{
    (void)rank;
    /* full: rare; the rank's mark before the count. Pairs with the acquire in hl_lane_progress. */
    hl_a32_add_full(&hl_pool.deaths, 1);
}

static int open_first(bool threads)
{
    int rc = hl_rx_on_death(note_death);
    rc = rc == 0 ? hl_pool_open(&hl_pool, hl_lane_plan(threads), hl_boot.size) : rc;
    if (rc != 0) {
        return rc;
    }
    struct hl_lane *lane = hl_pool.lanes[0];
    bool ready = false;
    if (hl_lease_try(&lane->lease)) {
        ready = hl_lane_make_ready(lane) == 0;
        hl_lane_leave(lane);
    }
    if (!ready) {
        hl_pool_close(&hl_pool);
        return hl_err_say(HL_ERR_OTHER, "no lane opens: %s", hl_err_text(HL_ERR_OTHER));
    }
    return hl_prog_register(hl_lane_poll, NULL, 1);
}

int hl_lane_open(bool threads)
{
    int rc = 0;
    hl_mutex_lock(&open_lock);
    if (hl_pool.count == 0) {
        rc = open_first(threads);
    }
    hl_mutex_unlock(&open_lock);
    return rc;
}

bool hl_lane_is_open(void)
{
    return hl_pool.count != 0;
}

void hl_lane_close(void)
{
    if (hl_pool.count != 0) {
        hl_prog_unregister(hl_lane_poll, NULL);
        hl_pool_close(&hl_pool);
    }
}

int hl_lane_count(void)
{
    return (int)hl_pool.count;
}

void hl_lane_forget(void)
{
    hl_pool.count = 0;
}
