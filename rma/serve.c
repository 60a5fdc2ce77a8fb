/* The target's side: records of windows, on the receive thread. */
#include "reach.h"

#include <string.h>

#include "dyn.h"
#include "err.h"
#include "job.h"
#include "pairs.h"
#include "prog.h"
#include "rpc.h"
#include "rx.h"

/* How a request for a lock ended: `kind` of the record HL_WIRE_GRANT. */
enum {
    GRANT_DONE, /* the asker has the lock */
    GRANT_NONE, /* the request could not be queued */
    GRANT_KEPT, /* the rank in `index` has died with it */
};

static void grant_lock(const struct hl_lock_ask *ask)
{
    hl_a32_store_relaxed(ask->holder, (uint32_t)ask->peer + 1); /* relaxed: a hint */
    /* release: passes on what the last holder did; pairs with the acquire in is_ask_over (ask.c). The asker
     * leaves the mark alone until it has the lock. */
    hl_a8_store_release(ask->mark, 1);
    if (ask->peer == hl_job.rank) {
        hl_ask_granted(ask->token, 0, 0);
        return;
    }
    if (ask->node_rank >= 0) {
        hl_prog_wake_peer(ask->node_rank);
        return;
    }
    struct hl_wire_rec rec = {.op = HL_WIRE_GRANT, .count = ask->token};
    hl_rx_send(ask->peer, &rec, NULL);
}

static void refuse_lock_ask(const struct hl_lock_ask *ask, int holder)
{
    if (ask->peer == hl_job.rank) {
        hl_ask_granted(ask->token, HL_ERR_PROC_ABORTED, holder);
        return;
    }
    struct hl_wire_rec rec = {
        .op = HL_WIRE_GRANT, .kind = GRANT_KEPT, .count = ask->token, .index = (uint32_t)holder};
    hl_rx_send(ask->peer, &rec, NULL);
}

/* The mark that `rank` of the window holds my lock. */
static hl_a8 *lock_mark(const struct hl_win *w, int rank)
{
    const struct hl_target *t = &w->targets[rank];
    return hl_target_is_far(t) ? hl_win_released(w, hl_win_ctl(w), rank)
                               : hl_win_holds(hl_target_ctl(t)) + w->rank;
}

/* Has a dead rank of the window my lock, perhaps with a release that it could not send any more? */
static bool does_keep_lock(const struct hl_win *w, int rank)
{
    /* relaxed, twice: hl_rx_is_dead has acquired what the dead rank did. */
    return hl_a8_load_relaxed(lock_mark(w, rank)) != 0 ||
           hl_a8_load_relaxed(hl_win_released(w, hl_win_ctl(w), rank)) != 0;
}

/* If a dead rank holds my lock, nobody will leave it: refuses it to all that wait. */
static void refuse_kept(struct hl_win *w)
{
    for (int i = 0; i < w->size && w->lockq.head != NULL; i++) {
        int world = hl_win_world(w, i);
        if (hl_rx_is_dead(world) && does_keep_lock(w, i)) {
            hl_lockq_refuse(&w->lockq, refuse_lock_ask, world);
        }
    }
}

void hl_win_bereave_lock(struct hl_win *w, int world)
{
    w->bereft = true;
    hl_lockq_drop_peer(&w->lockq, world);
    refuse_kept(w);
    hl_rx_due_by(hl_lockq_due(&w->lockq));
}

struct passing {
    uint64_t now_ns, next_ns;
};

static void pass_writer(struct hl_win *w, void *arg)
{
    struct passing *p = arg;
    hl_lockq_pass(&w->lockq, p->now_ns);
    uint64_t due_ns = hl_lockq_due(&w->lockq);
    p->next_ns = due_ns < p->next_ns ? due_ns : p->next_ns;
}

/* Lets readers pass writers where this is due; when it may be due again. */
static uint64_t pass_writers(uint64_t now_ns)
{
    struct passing p = {now_ns, HL_LOCK_NEVER};
    hl_win_table_each(pass_writer, &p);
    return p.next_ns;
}

static int queue_lock(struct hl_win *w, void *arg)
{
    const struct hl_rx_msg *msg = arg;
    int rank = hl_group_rank(w->comm->peers, msg->from);
    if (rank < 0) {
        return hl_err_say(HL_ERR_RMA_SYNC, "rank %d asks for the lock of a window whose group it is not in",
                          msg->from);
    }
    if (hl_rx_is_dead(msg->from)) {
        return 0;
    }
    bool far = hl_target_is_far(&w->targets[rank]);
    struct hl_lock_ask ask = {.peer = msg->from,
                              .node_rank = far ? -1 : hl_job_node_of(msg->from),
                              .token = msg->rec->count,
                              .exclusive = msg->rec->kind != 0,
                              .holder = &hl_win_ctl(w)->holder,
                              .mark = lock_mark(w, rank),
                              .grant = grant_lock};
    int rc = hl_lockq_ask(&w->lockq, &ask);
    if (HL_UNLIKELY(w->bereft)) {
        refuse_kept(w);
    }
    hl_rx_due_by(hl_lockq_due(&w->lockq));
    return rc;
}

static int serve_lock(const struct hl_rx_msg *msg)
{
    int rc = hl_win_table_with(msg->rec->aux, queue_lock, (void *)(uintptr_t)msg);
    if (rc != 0) { /* otherwise the asker would wait for ever */
        struct hl_wire_rec rec = {.op = HL_WIRE_GRANT, .kind = GRANT_NONE, .count = msg->rec->count};
        hl_rx_send(msg->from, &rec, NULL);
    }
    return 0;
}

static int leave_lock(struct hl_win *w, void *arg)
{
    const struct hl_rx_msg *msg = arg;
    bool exclusive = msg->rec->kind != 0;
    if (!hl_lockword_is_held(w->lockq.word, exclusive)) {
        return hl_err_say(HL_ERR_RMA_SYNC, "rank %d leaves a window lock that nobody holds", msg->from);
    }
    hl_a32_store_relaxed(&hl_win_ctl(w)->holder, 0); /* relaxed: a hint */
    int rank = hl_group_rank(w->comm->peers, msg->from);
    hl_a8 *released = rank >= 0 ? hl_win_released(w, hl_win_ctl(w), rank) : NULL;
    /* relaxed, both: the record came behind the addition in send_release. */
    if (released != NULL && hl_a8_load_relaxed(released) != 0) {
        hl_a8_add_relaxed(released, (uint8_t)-1);
    }
    if (rank >= 0 && (hl_target_is_far(&w->targets[rank]) || hl_rx_is_dead(msg->from))) {
        /* relaxed: only this thread writes it, or its rank is dead; other ranks clear theirs themselves. */
        hl_a8_store_relaxed(lock_mark(w, rank), 0);
    }
    hl_lockq_leave(&w->lockq, exclusive);
    hl_rx_due_by(hl_lockq_due(&w->lockq));
    return 0;
}

static int serve_unlock(const struct hl_rx_msg *msg)
{
    return hl_win_table_with(msg->rec->aux, leave_lock, (void *)(uintptr_t)msg);
}

static int serve_grant(const struct hl_rx_msg *msg)
{
    static const int codes[] = {0, HL_ERR_NO_MEM, HL_ERR_PROC_ABORTED};
    if (msg->rec->kind < HL_COUNT_OF(codes)) {
        hl_ask_granted(msg->rec->count, codes[msg->rec->kind], (int)msg->rec->index);
    }
    return 0;
}

char *hl_win_memory(const struct hl_win *w, uint64_t at, uint64_t len)
{
    if (w->dyn != NULL) {
        return hl_dyn_locate(w, at, len);
    }
    return at <= w->bytes && len <= w->bytes - at ? (char *)w->base + at : NULL;
}

char *hl_win_locate(const struct hl_win *w, const struct hl_wire_rec *rec, size_t *bytes)
{
    if (rec->basic >= HL_BASICS || rec->count == 0 || rec->count > UINT32_MAX) {
        return NULL;
    }
    *bytes = hl_op_span(rec->basic, rec->count);
    return hl_win_memory(w, rec->offset, *bytes);
}

struct hl_near_lock *hl_win_acc_lock(const struct hl_win *w, const void *there)
{
    return w->dyn != NULL ? hl_dyn_lock(w, there) : &hl_win_ctl(w)->acc;
}

static int refuse_record(const struct hl_rx_msg *msg)
{
    return hl_err_say(HL_ERR_RMA_RANGE, "record of rank %d is outside the window: offset %llu, %llu elements",
                      msg->from, (unsigned long long)msg->rec->offset, (unsigned long long)msg->rec->count);
}

static int apply_acc(struct hl_win *w, void *arg)
{
    const struct hl_rx_msg *msg = arg;
    const struct hl_wire_rec *rec = msg->rec;
    size_t bytes;
    char *there = hl_win_locate(w, rec, &bytes);
    bool operands = rec->kind != HL_OP_NO_OP;
    void *fetched = NULL;

    if (there == NULL || rec->kind >= HL_OP_KINDS || rec->len != (operands ? bytes : 0)) {
        return refuse_record(msg);
    }
    if (rec->op == HL_WIRE_GET_ACC && (fetched = hl_rx_reply_room(msg, bytes)) == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for an answer of %zu bytes", bytes);
    }
    return hl_near_acc(rec->kind, rec->basic, there, operands ? msg->payload : NULL, fetched, rec->count,
                       hl_win_acc_lock(w, there));
}

static int apply_cas(struct hl_win *w, void *arg)
{
    const struct hl_rx_msg *msg = arg;
    size_t bytes;
    char *there = hl_win_locate(w, msg->rec, &bytes);

    if (there == NULL || msg->rec->count != 1 || msg->rec->len != 2 * bytes) {
        return refuse_record(msg);
    }
    void *fetched = hl_rx_reply_room(msg, bytes);
    if (fetched == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for an answer of %zu bytes", bytes);
    }
    const char *compare = msg->payload;
    return hl_near_cas(msg->rec->basic, there, compare + bytes, compare, fetched, hl_win_acc_lock(w, there));
}

static int serve_acc(const struct hl_rx_msg *msg)
{
    return hl_win_table_with(msg->rec->aux, apply_acc, (void *)(uintptr_t)msg);
}

static int serve_cas(const struct hl_rx_msg *msg)
{
    return hl_win_table_with(msg->rec->aux, apply_cas, (void *)(uintptr_t)msg);
}

static int note_arrival(struct hl_win *w, void *arg)
{
    const struct hl_rx_msg *msg = arg;
    enum hl_side side = msg->rec->op == HL_WIRE_POST ? HL_ACCESS : HL_EXPOSURE;
    return hl_pairs_arrive(w->pairs, side, msg->from, msg->rec->count, msg->rec->kind != 0);
}

static int serve_epoch(const struct hl_rx_msg *msg)
{
    int rc = hl_win_table_with(msg->rec->aux, note_arrival, (void *)(uintptr_t)msg);
    if (rc > 0) {
        hl_prog_wake();
    }
    return rc < 0 ? rc : 0;
}

/* Serves a lock record for this rank itself, in any thread: the queue is guarded by the lock of table.c. */
static int serve_here(const struct hl_wire_rec *rec)
{
    struct hl_rx_msg msg = {.rec = rec, .from = hl_job.rank, .near = true};
    return rec->op == HL_WIRE_LOCK ? serve_lock(&msg) : serve_unlock(&msg);
}

int hl_win_send(int peer, const struct hl_wire_rec *rec)
{
    return peer == hl_job.rank ? serve_here(rec) : hl_rx_send(peer, rec, NULL);
}

void hl_win_lockq_open(struct hl_win *w)
{
    w->lockq = (struct hl_lockq){.word = &hl_win_ctl(w)->lock};
}

int hl_win_serve(void)
{
    static const struct {
        enum hl_wire_op op;
        hl_rx_fn *fn;
    } rows[] = {
        {HL_WIRE_LOCK, serve_lock},     {HL_WIRE_UNLOCK, serve_unlock},  {HL_WIRE_GRANT, serve_grant},
        {HL_WIRE_ACC, serve_acc},       {HL_WIRE_GET_ACC, serve_acc},    {HL_WIRE_CAS, serve_cas},
        {HL_WIRE_POST, serve_epoch},    {HL_WIRE_COMPLETE, serve_epoch}, {HL_WIRE_RPC, hl_rpc_serve},
        {HL_WIRE_REGION, hl_dyn_serve},
    };
    int rc = hl_rx_on_death(hl_win_bereave);
    rc = rc == 0 ? hl_rx_on_due(pass_writers) : rc;
    for (size_t i = 0; rc == 0 && i < HL_COUNT_OF(rows); i++) {
        rc = hl_rx_handle(rows[i].op, rows[i].fn);
    }
    return rc;
}
