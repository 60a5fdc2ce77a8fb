/* From an operation to the wire: it is cut into posts, and each gets a leased lane, a slot, a way, and a call
 * of the provider. */
#include "lane_internal.h"

#include "conf.h"
#include "err.h"
#include "log.h"
#include "util.h"

struct hl_lane_pool hl_pool = {.piece = HL_PIECE}; /* not 0, also before it is opened */

/* ---- one post under the lease ---- */

/* The next slot if it is free and the ring has room, else NULL. */
HL_INLINE struct hl_lane_slot *next_slot(struct hl_lane *lane) HL_REQUIRES(lane->lease)
{
    /* relaxed: both are written by the leaseholder only. */
    uint64_t number = hl_a64_load_relaxed(&lane->issued);
    struct hl_lane_slot *slot = &lane->slots[number % HL_LANE_SLOTS];
    if (HL_UNLIKELY(number - hl_a64_load_relaxed(&lane->tail) >= HL_LANE_SLOTS || slot->quarantined)) {
        return NULL;
    }
    slot->number = number;
    return slot;
}

HL_INLINE ssize_t post_rma(struct hl_lane *lane, const struct hl_way *way, struct hl_lane_slot *slot,
                           const struct hl_xfer *x, bool reads) HL_REQUIRES(lane->lease)
{
    struct iovec iov = {x->buf, x->len};
    struct fi_rma_iov rma = {x->addr, x->len, x->key};
    struct fi_msg_rma msg = {.msg_iov = &iov,
                             .iov_count = 1,
                             .addr = way->addr,
                             .rma_iov = &rma,
                             .rma_iov_count = 1,
                             .context = &slot->context};
    slot->open = HL_PART_POST;
    if (reads) {
        return fi_readmsg(lane->ep, &msg, FI_COMPLETION);
    }
    return fi_writemsg(lane->ep, &msg, FI_COMPLETION | FI_DELIVERY_COMPLETE);
}

int hl_lane_post_rma(struct hl_lane *lane, const struct hl_way *way, struct hl_lane_slot *slot,
                     const struct hl_xfer *x, bool reads)
{
    return (int)post_rma(lane, way, slot, x, reads);
}

static ssize_t post_transfer(struct hl_lane *lane, const struct hl_way *way, struct hl_lane_slot *slot,
                             const struct hl_issue *op) HL_REQUIRES(lane->lease)
{
    struct hl_xfer x = {.addr = op->addr, .key = op->key, .buf = op->buf, .len = op->len};
    return post_rma(lane, way, slot, &x, op->what == HL_ISSUE_READ);
}

static ssize_t post_atomic(struct hl_lane *lane, const struct hl_way *way, struct hl_lane_slot *slot,
                           const struct hl_issue *op) HL_REQUIRES(lane->lease)
{
    const struct hl_lane_atomic *a = op->atomic;
    struct fi_ioc iov = {op->buf != NULL ? op->buf : op->result, op->len};
    struct fi_ioc result = {op->result, op->len};
    struct fi_ioc compare = {(void *)(uintptr_t)a->compare, op->len};
    struct fi_rma_ioc rma = {op->addr, op->len, op->key};
    struct fi_msg_atomic msg = {.msg_iov = &iov,
                                .iov_count = 1,
                                .addr = way->addr,
                                .rma_iov = &rma,
                                .rma_iov_count = 1,
                                .datatype = (enum fi_datatype)hl_fab_datatype(a->basic),
                                .op = (enum fi_op)hl_fab_op(a->op, a->compare != NULL),
                                .context = &slot->context};
    slot->open = HL_PART_POST;
    if (a->compare != NULL) {
        return fi_compare_atomicmsg(lane->ep, &msg, &compare, NULL, 1, &result, NULL, 1, FI_COMPLETION);
    }
    if (op->result != NULL) {
        return fi_fetch_atomicmsg(lane->ep, &msg, &result, NULL, 1, FI_COMPLETION);
    }
    return fi_atomicmsg(lane->ep, &msg, FI_COMPLETION | FI_DELIVERY_COMPLETE);
}

static void count_operation(struct hl_lane *lane, const struct hl_issue *op) HL_REQUIRES(lane->lease)
{
    switch (op->what) {
    case HL_ISSUE_WRITE:
        hl_stat_lane_add(&lane->stat, HL_STAT_LANE_writes, 1);
        hl_stat_lane_add(&lane->stat, HL_STAT_LANE_bytes_written, op->len);
        break;
    case HL_ISSUE_READ:
        hl_stat_lane_add(&lane->stat, HL_STAT_LANE_reads, 1);
        hl_stat_lane_add(&lane->stat, HL_STAT_LANE_bytes_read, op->len);
        break;
    case HL_ISSUE_ATOMIC:
        hl_stat_lane_add(&lane->stat, HL_STAT_LANE_atomics, 1);
        break;
    case HL_ISSUE_MESSAGE:
        break;
    }
}

int hl_lane_refused(struct hl_lane *lane, struct hl_way *way, int rc)
{
    enum hl_fab_refusal why = hl_fab_refused(rc);
    if (why != HL_FAB_LATER) {
        return hl_err_say(why == HL_FAB_NO_MEM ? HL_ERR_NO_MEM : HL_ERR_OTHER,
                          "provider %s does not take an operation to rank %d: %s%s", hl_fab.provider,
                          way->peer, hl_fab_strerror(rc), why == HL_FAB_NO_FILE ? hl_err_hint(-rc) : "");
    }
    hl_stat_lane_add(&lane->stat, HL_STAT_LANE_again, 1);
    (void)hl_lane_progress(lane);
    uint64_t done = hl_a64_load_relaxed(&way->done); /* relaxed: written by the leaseholder only. */
    if (done != way->done_at_refuse) {
        way->refused.looked_ns = 0;
        way->done_at_refuse = done;
    }
    uint64_t waited = hl_stall_timer_read(&way->refused);
    if (waited > HL_RX_SUSPECT_NS) {
        hl_rx_suspect(way->peer);
    }
    if (hl_conf.peer_timeout != 0 && waited > (uint64_t)hl_conf.peer_timeout * 1000000000u) {
        return hl_err_say(HL_ERR_PROC_ABORTED,
                          "rank %d has taken nothing for %lld s: it cannot be reached (is it dead, or out of "
                          "file descriptors?)",
                          way->peer, (long long)hl_conf.peer_timeout);
    }
    /* Before anything has ended, the connection is being made: other lanes would have to make theirs, too. */
    if (done == 0) {
        hl_rx_connecting();
    }
    return done == 0 ? HL_LANE_STAY : HL_LANE_ELSEWHERE;
}

/* Does the provider not take the operation for its memory, which this process can copy from or to? */
static HL_COLD bool is_memory_refused(const struct hl_issue *op, int rc)
{
    enum hl_fab_refusal why = hl_fab_refused(rc);
    return why == HL_FAB_NO_MEM || (why == HL_FAB_HIDDEN && op->what != HL_ISSUE_READ);
}

int hl_lane_post_direct(struct hl_lane *lane, struct hl_way *way, const struct hl_issue *op)
{
    struct hl_lane_slot *slot = hl_lane_slot_take(lane);
    if (HL_UNLIKELY(slot == NULL)) {
        return HL_LANE_ELSEWHERE;
    }
    int rc = (int)(op->what == HL_ISSUE_ATOMIC ? post_atomic(lane, way, slot, op)
                                               : post_transfer(lane, way, slot, op));
    if (HL_LIKELY(rc == 0)) {
        slot->chain = NULL;
        slot->error = op->error;
        slot->req = op->req;
        way->refused.looked_ns = 0;
        hl_lane_slot_commit(lane, way, slot, true);
        count_operation(lane, op);
        return 0;
    }
    slot->open = 0; /* nothing was posted */
    return is_memory_refused(op, rc) ? HL_LANE_AS_RECORDS : hl_lane_refused(lane, way, rc);
}

HL_INLINE void commit_direct(struct hl_lane *lane, struct hl_way *way, struct hl_lane_slot *slot,
                             const struct hl_xfer *x, bool reads) HL_REQUIRES(lane->lease)
{
    slot->chain = NULL;
    slot->error = x->error;
    slot->req = NULL;
    way->refused.looked_ns = 0;
    hl_lane_slot_commit(lane, way, slot, true);
    hl_stat_lane_add(&lane->stat, HL_STAT_LANE_leases, 1);
    hl_stat_lane_add(&lane->stat, reads ? HL_STAT_LANE_reads : HL_STAT_LANE_writes, 1);
    hl_stat_lane_add(&lane->stat, reads ? HL_STAT_LANE_bytes_read : HL_STAT_LANE_bytes_written, x->len);
}

/* Posts under the lease, if nothing has to be waited for, made, reported or tried again; else false.
 * `copies`: the data of a put is at most 8 bytes and is copied, so its buffer is the caller's again. */
HL_INLINE bool post_at_once(struct hl_lane *lane, const struct hl_xfer *x, bool reads, bool copies)
    HL_REQUIRES(lane->lease)
{
    struct hl_way *way = lane->last.way;
    if (HL_UNLIKELY(way == NULL || way->peer != x->peer || !way->marked)) {
        return false;
    }
    struct hl_lane_slot *slot = next_slot(lane);
    if (HL_UNLIKELY(slot == NULL)) {
        return false;
    }
    struct hl_xfer copy;
    if (copies) {
        copy = *x;
        copy.buf = memcpy(&lane->copied[slot - lane->slots], x->buf, x->len);
    }
    if (HL_UNLIKELY(post_rma(lane, way, slot, copies ? &copy : x, reads) != 0)) {
        slot->open = 0; /* nothing was posted */
        return false;
    }
    commit_direct(lane, way, slot, x, reads);
    return true;
}

/* True for a transfer without a request that is one direct operation: longer than a chain takes, and no
 * longer than a piece. (One comparison for both: a shorter length wraps around.) */
HL_INLINE bool does_go_direct(const struct hl_xfer *x)
{
    return x->len - hl_pool.head.chain_max - 1 < hl_pool.piece - hl_pool.head.chain_max && x->req == NULL;
}

/* Posts a whole transfer on the thread's lane. False: nothing was done; issue_pieces() does it, and finds out
 * what is wrong. */
HL_INLINE bool transfer_at_once(const struct hl_xfer *x, bool reads, bool copies)
{
    uint32_t at = hl_lane_preferred;
    if (HL_UNLIKELY(at >= hl_pool_count(&hl_pool) || !does_go_direct(x))) {
        return false;
    }
    struct hl_lane *lane = hl_pool.head.lanes[at];
    if (HL_UNLIKELY(!hl_lease_try(&lane->lease))) {
        return false;
    }
    bool done = post_at_once(lane, x, reads, copies);
    hl_lane_leave_quietly(lane);
    return done;
}

/* transfer_at_once on the lane that the caller names. */
HL_INLINE bool transfer_at_once_on(struct hl_lane *lane, const struct hl_xfer *x, bool reads, bool copies)
{
    if (HL_UNLIKELY(hl_pool_count(&hl_pool) == 0 || !does_go_direct(x) || !hl_lease_try_any(&lane->lease))) {
        return false;
    }
    bool done = post_at_once(lane, x, reads, copies);
    hl_lane_leave_quietly(lane);
    return done;
}

/* Finds or makes the way to op->peer, which is not the lane's recent one. NULL: *rc is a status or an
 * error. */
static struct hl_way *other_way(struct hl_lane *lane, const struct hl_issue *op, int *rc)
    HL_REQUIRES(lane->lease)
{
    if (lane->ep == NULL) {
        *rc = hl_lane_make_ready(lane);
        if (*rc != 0) {
            return NULL;
        }
    }
    struct hl_way *way = hl_way_find(lane, op->peer);
    if (way == NULL && op->card == NULL) {
        *rc = HL_LANE_NEED_CARD;
        return NULL;
    }
    if (way == NULL) {
        way = hl_way_make(lane, op->peer, op->card, rc);
    }
    if (way != NULL) {
        lane->last.way = way;
    }
    return way;
}

/* True if a way's first atomic operation may go, on providers whose row says `greets`. A target's rxm
 * (libfabric 1.17) that has not noticed yet that a connection stands applies an atomic twice: its answer
 * cannot leave, so it takes the request up again. An acknowledged message proves that answers leave, so the
 * first atomic waits for one. */
static bool is_greeted(struct hl_way *way)
{
    way->greeted = way->greeted || (way->messages > way->greeted_from && way->unacked == 0);
    return way->greeted;
}

static int greet_peer(struct hl_lane *lane, struct hl_way *way) HL_REQUIRES(lane->lease)
{
    struct hl_wire_rec rec = {.op = HL_WIRE_GREET};
    struct hl_lane_message message = {.peer = way->peer, .rec = &rec, .error = &way->greeting};
    struct hl_issue op = {
        .what = HL_ISSUE_MESSAGE, .peer = way->peer, .error = &way->greeting, .message = &message};
    if (way->messages > way->greeted_from || way->chain != NULL) {
        (void)hl_chain_send(lane, way, HL_CHAIN_AS_MESSAGE);
        (void)hl_lane_progress(lane);
        return HL_LANE_STAY;
    }
    int rc = hl_chain_append(lane, way, &op);
    return rc < 0 ? rc : HL_LANE_STAY;
}

/* Keeps order with operations before a fence that are not done: records follow in the stream, reads have no
 * order with them, and other operations wait. 0, a status or an error. */
static HL_COLD int keep_fence(struct hl_lane *lane, struct hl_way *way, const struct hl_issue *op)
    HL_REQUIRES(lane->lease)
{
    if (!hl_way_is_fenced(way)) {
        way->fenced = 0;
        hl_way_mark(lane, way);
        return 0;
    }
    if (op->what == HL_ISSUE_READ || hl_issue_is_chained(op)) {
        return 0;
    }
    int rc = hl_chain_send(lane, way, HL_CHAIN_AS_MESSAGE);
    (void)hl_lane_progress(lane);
    return rc < 0 ? rc : HL_LANE_STAY;
}

/* Settles what must come before a way's first operation, and before each atomic: 0, a status or an error. */
static int prepare_way(struct hl_lane *lane, struct hl_way *way, const struct hl_issue *op)
    HL_REQUIRES(lane->lease)
{
    if (way->dead) {
        return hl_err_say(HL_ERR_PROC_ABORTED, "rank %d has ended", op->peer);
    }
    int rc = way->lost ? hl_lane_reconnect(lane, way) : 0;
    if (rc != 0) {
        return rc;
    }
    if (way->fenced != 0) {
        rc = keep_fence(lane, way, op);
        if (rc != 0) {
            return rc;
        }
    } else if (!way->marked) {
        hl_way_mark(lane, way);
    }
    return op->what == HL_ISSUE_ATOMIC && lane->pool->greets && !is_greeted(way) ? greet_peer(lane, way) : 0;
}

int hl_lane_post(struct hl_lane *lane, const struct hl_issue *op)
{
    hl_stat_lane_add(&lane->stat, HL_STAT_LANE_leases, 1);
    struct hl_way *way = lane->last.way;
    if (HL_UNLIKELY(way == NULL || way->peer != op->peer)) {
        int rc = 0;
        way = other_way(lane, op, &rc);
        if (way == NULL) {
            return rc;
        }
    }
    if (HL_UNLIKELY(!way->marked || op->what == HL_ISSUE_ATOMIC)) {
        int rc = prepare_way(lane, way, op);
        if (rc != 0) {
            return rc;
        }
    }
    return hl_issue_is_chained(op) ? hl_chain_append(lane, way, op) : hl_lane_post_direct(lane, way, op);
}

/* ---- operations ---- */

/* A lane that the caller names may be owned; one that the pool chooses never is. */
HL_INLINE bool enter_first(struct hl_lane *lane, bool named) HL_TRY_ACQUIRE(true, lane->lease) HL_NO_TSA
{
    return named ? hl_lease_try_any(&lane->lease) : hl_lease_try(&lane->lease);
}

/* Posts on `own` or else on the preferred lane, at once if that is free and accepts it. */
HL_INLINE int issue_op(struct hl_issue *op, struct hl_lane *own)
{
    struct hl_lane_pool *p = &hl_pool;
    if (own != NULL) {
        op->ordered = op->named = true;
        op->lane_index = own->index;
    } else if (!op->ordered) {
        op->lane_index = hl_lane_preferred;
    }
    if (HL_UNLIKELY(op->lane_index >= hl_pool_count(p))) {
        op->lane_index = hl_lane_assign(p, op->peer);
        if (op->lane_index == HL_LANES_MAX) {
            return hl_lane_issue_slow(p, op, 0);
        }
    }
    struct hl_lane *lane = p->head.lanes[op->lane_index];
    if (HL_UNLIKELY(!enter_first(lane, own != NULL))) {
        return hl_lane_issue_slow(p, op, 0);
    }
    int rc = hl_lane_post(lane, op);
    hl_lane_leave(lane);
    return HL_LIKELY(rc == 0) ? 0 : hl_lane_issue_slow(p, op, rc);
}

/* Ends the parts of a request that will not be issued, with the error; returns it. */
static HL_COLD int give_up(struct hl_req *req, size_t parts, int rc)
{
    for (; req != NULL && parts > 0; parts--) {
        (void)hl_req_part_done(req, rc);
    }
    return rc;
}

/* Goes on by so many bytes. */
HL_INLINE void move_issue(struct hl_issue *op, size_t bytes)
{
    op->addr += bytes;
    op->buf = op->buf != NULL ? (char *)op->buf + bytes : NULL;
    op->result = op->result != NULL ? (char *)op->result + bytes : NULL;
}

static struct hl_issue issue_of(const struct hl_xfer *x, enum hl_op_what what)
{
    return (struct hl_issue){.what = what,
                             .peer = x->peer,
                             .error = x->error,
                             .token = x->token,
                             .req = x->req,
                             .addr = x->addr,
                             .key = x->key,
                             .buf = x->buf};
}

/* The posts that `len` bytes take, which are not 0. */
HL_INLINE size_t count_pieces(size_t len)
{
    return HL_LIKELY(len <= hl_pool.piece) ? 1 : (len + hl_pool.piece - 1) / hl_pool.piece;
}

/* Issues as records, in slices of elements of `size` bytes, what the provider refuses for its memory. `op`
 * stays as it is. */
static HL_COLD int issue_records(struct hl_lane *own, struct hl_issue *op, size_t size)
{
    size_t len = op->len, most = hl_chain_room() / size, parts = (len + most - 1) / most, at = 0;
    int rc = 0;
    op->recorded = true;
    if (op->req != NULL) {
        hl_req_add_parts(op->req, (uint32_t)parts - 1);
    }
    for (; rc == 0 && at < len * size; parts--) {
        op->len = hl_min_size(len - at / size, most);
        rc = issue_op(op, own);
        at += op->len * size;
        move_issue(op, op->len * size);
    }
    move_issue(op, -at);
    op->len = len;
    op->recorded = false;
    return rc == 0 ? 0 : give_up(op->req, parts, rc); /* the caller gives up one part */
}

/* `own`, also in the other inlined functions: the caller's lane; NULL: the thread's. It is a constant for the
 * compiler. */
HL_INLINE int issue_pieces(struct hl_lane *own, const struct hl_xfer *x, enum hl_op_what what)
{
    struct hl_issue op = issue_of(x, what);
    size_t left = x->len;
    if (x->req != NULL && left > 0) {
        hl_req_add_parts(x->req, (uint32_t)count_pieces(left));
    }
    while (left > 0) {
        op.len = hl_min_size(left, hl_pool.piece);
        int rc = issue_op(&op, own);
        if (HL_UNLIKELY(rc != 0) && (rc != HL_LANE_AS_RECORDS || (rc = issue_records(own, &op, 1)) != 0)) {
            return give_up(x->req, count_pieces(left), rc);
        }
        op.addr += op.len;
        op.buf = (char *)op.buf + op.len;
        left -= op.len;
    }
    return 0;
}

int hl_lane_write(const struct hl_xfer *x)
{
    return HL_LIKELY(transfer_at_once(x, false, false)) ? 0 : issue_pieces(NULL, x, HL_ISSUE_WRITE);
}

int hl_lane_read(const struct hl_xfer *x)
{
    return HL_LIKELY(transfer_at_once(x, true, false)) ? 0 : issue_pieces(NULL, x, HL_ISSUE_READ);
}

int hl_lane_write_on(struct hl_lane *lane, const struct hl_xfer *x)
{
    if (lane == NULL) {
        return hl_lane_write(x);
    }
    return HL_LIKELY(transfer_at_once_on(lane, x, false, false)) ? 0 : issue_pieces(lane, x, HL_ISSUE_WRITE);
}

int hl_lane_read_on(struct hl_lane *lane, const struct hl_xfer *x)
{
    if (lane == NULL) {
        return hl_lane_read(x);
    }
    return HL_LIKELY(transfer_at_once_on(lane, x, true, false)) ? 0 : issue_pieces(lane, x, HL_ISSUE_READ);
}

bool hl_lane_write_word(struct hl_lane *own, const struct hl_xfer *x)
{
    return own != NULL ? transfer_at_once_on(own, x, false, true) : transfer_at_once(x, false, true);
}

/* The lane of all ordered operations of one key. If it does not open, lane 0 replaces it for ever. */
static uint32_t ordered_lane(uint64_t key)
{
    return hl_pool_count(&hl_pool) > 1 ? (uint32_t)(hl_mix64(key) % hl_pool_count(&hl_pool)) : 0;
}

static enum hl_fab_atomic kind_of(bool fetch, bool compare)
{
    return compare ? HL_FAB_COMPARE : fetch ? HL_FAB_FETCH : HL_FAB_ATOMIC;
}

bool hl_lane_can_atomic(enum hl_op_kind op, enum hl_basic basic, bool fetch, bool compare)
{
    enum hl_fab_atomic how = kind_of(fetch, compare);
    op = compare ? HL_OP_REPLACE : op;
    return hl_pool.head.chain_max != 0 ? hl_fab_knows_atomic(how, op, basic)
                                       : hl_fab_can_atomic(how, op, basic);
}

HL_INLINE int issue_atomic(struct hl_lane *own, const struct hl_lane_atomic *a)
{
    const struct hl_xfer *x = &a->x;
    struct hl_issue op = issue_of(x, HL_ISSUE_ATOMIC);
    op.ordered = a->ordered;
    op.atomic = a;
    op.result = a->result;
    op.lane_index = a->ordered ? ordered_lane(a->order_key) : 0;
    size_t limit = hl_fab_atomic_limit(kind_of(a->result != NULL, a->compare != NULL),
                                       a->compare != NULL ? HL_OP_REPLACE : a->op, a->basic);
    size_t size = hl_op_size(a->basic);
    op.recorded = hl_pool.head.chain_max != 0 || limit == 0;
    if (op.recorded) {
        limit = hl_chain_room() / size;
    }
    size_t pieces = (a->n + limit - 1) / limit;
    if (x->req != NULL && pieces > 0) {
        hl_req_add_parts(x->req, (uint32_t)pieces);
    }
    for (size_t left = a->n; left > 0; left -= op.len, pieces--) {
        op.len = hl_min_size(left, limit);
        int rc = issue_op(&op, own);
        if (rc != 0 && (rc != HL_LANE_AS_RECORDS || (rc = issue_records(own, &op, size)) != 0)) {
            return give_up(x->req, pieces, rc);
        }
        move_issue(&op, op.len * size);
    }
    return 0;
}

int hl_lane_atomic(const struct hl_lane_atomic *a)
{
    return issue_atomic(NULL, a);
}

int hl_lane_atomic_on(struct hl_lane *lane, const struct hl_lane_atomic *a)
{
    return lane != NULL ? issue_atomic(lane, a) : hl_lane_atomic(a);
}

size_t hl_lane_payload_max(void)
{
    return HL_WIRE_PAYLOAD_MAX(hl_fab.eager) & ~(size_t)7;
}

static HL_COLD int refuse_long_message(const struct hl_lane_message *m)
{
    return hl_err_say(
        HL_ERR_INTERN,
        "a message of %u bytes with an answer of up to %zu was to be sent: a message and an answer "
        "have at most %zu bytes each",
        m->rec->len, m->reply_cap, hl_lane_payload_max());
}

HL_INLINE int issue_message(struct hl_lane *own, const struct hl_lane_message *m)
{
    if (m->rec->len > hl_lane_payload_max() || m->reply_cap > hl_lane_payload_max()) {
        return refuse_long_message(m);
    }
    struct hl_issue op = {.what = HL_ISSUE_MESSAGE,
                          .ordered = m->ordered,
                          .peer = m->peer,
                          .error = m->error,
                          .req = m->req,
                          .message = m};
    op.lane_index = m->ordered ? ordered_lane(m->order_key) : 0;
    if (m->req != NULL) {
        hl_req_add_parts(m->req, 1);
    }
    int rc = issue_op(&op, own);
    return rc == 0 ? 0 : give_up(m->req, 1, rc);
}

int hl_lane_message(const struct hl_lane_message *m)
{
    return issue_message(NULL, m);
}

int hl_lane_message_on(struct hl_lane *lane, const struct hl_lane_message *m)
{
    return lane != NULL ? issue_message(lane, m) : hl_lane_message(m);
}
